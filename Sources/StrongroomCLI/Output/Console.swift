import Foundation

/// Output of the program: data on standard output, messages on standard error.
enum Console {
    /// Writes data to standard output. Fails if the data can't be written, for example to a full disk.
    static func output(_ text: String) throws {
        try write(text + "\n", to: STDOUT_FILENO)
    }

    static func message(_ text: String) {
        // A failure to write a message can't be reported.
        try? write(text + "\n", to: STDERR_FILENO)
    }

    static func warning(_ text: String) {
        message("strongroom: warning: \(text)")
    }

    static func write(_ text: String, to descriptor: Int32) throws {
        var text = text
        try text.withUTF8 { try write(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    static func write(
        _ bytes: UnsafeRawBufferPointer, to descriptor: Int32,
        named name: String = "standard output"
    ) throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 {
                // The reader has closed the pipe, as `head` does: a failure, but not one to report.
                if errno == EPIPE { throw ReportedError(status: .other) }
                guard errno == EINTR else {
                    throw Failure(
                        errno: errno, file: name, "it cannot be written", state: "the output is incomplete",
                        remedy: "Check its destination")
                }
                continue
            }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
    }
}
