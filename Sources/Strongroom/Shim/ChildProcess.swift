import CStrongroom
import Foundation

/// Programs that are run for a secret: `strongroom_processes.h`.
enum ChildProcess {
    /// Runs a program to its end. Writes `input` to its standard input, and reads its standard output into `output`. If
    /// the first argument has no slash, the program is looked up in `PATH`.
    ///
    /// - returns: zero or an errno: `ETIMEDOUT` if the program did not end in time and was killed, `EMSGSIZE` for more
    ///   input than fits in a pipe, `EINVAL` for an empty `output`; the number of bytes that it wrote, of which
    ///   `output` has none if they exceed it; the status of `waitpid`.
    static func run(
        _ arguments: [String], input: UnsafeRawBufferPointer, output: UnsafeMutableRawBufferPointer, milliseconds: CInt
    ) -> (error: CInt, count: Int, status: CInt) {
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var count = 0, status: CInt = 0
        let error = strongroom_run(
            &words, input.baseAddress, input.count, output.baseAddress, output.count, &count, milliseconds, &status)
        return (error, count, status)
    }
}
