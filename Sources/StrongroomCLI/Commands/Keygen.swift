import ArgumentParser
import Foundation
import Strongroom

struct Keygen: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Make a random raw key, for --raw-key-file.",
        discussion: "The 64 hexadecimal digits go to OUT, readable by its owner only and never replaced, or to standard output.")

    @Argument(help: ArgumentHelp("The file to make.", valueName: "out"), completion: .file())
    var destination: String?

    @OptionGroup var output: OutputOptions

    func run() throws {
        let digits = try DatabaseKey.random().withUnsafeBytes { bytes in
            bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        }
        guard let destination else {
            if output.json {
                output.done(Self.self, nil, [("key", .text(digits))], text: "")
            } else {
                Console.output(digits)
            }
            return
        }
        // O_EXCL: a key that is replaced is a database that is lost.
        let descriptor = open(destination, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(errno: errno, file: destination, doing: "making the key file") }
        defer { close(descriptor) }
        let text = Array((digits + "\n").utf8)
        guard Foundation.write(descriptor, text, text.count) == text.count, fsync(descriptor) == 0 else {
            throw Failure(errno: errno, file: destination, doing: "writing the key file")
        }
        output.done(Self.self, destination, text: "\(destination): a new raw key. Whoever has it opens the database; without it nobody does.")
    }
}
