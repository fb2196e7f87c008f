import ArgumentParser
import Foundation
import Strongroom

struct Keygen: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Make a random raw key, for --raw-key-file.",
        discussion: help(
            """
            The key, 64 hexadecimal digits, goes to OUT, which is readable by its owner only, or to standard output. \
            An existing file is never replaced.
            """,
            statuses: [.absent, .diskFull]))

    static let examples = [
        (line: "strongroom keygen notes.key", what: "makes a key file"),
        (line: "strongroom keygen | systemd-creds encrypt - notes.cred", what: "hands the key to another program"),
    ]

    @Argument(help: ArgumentHelp("The file to make.", valueName: "out"), completion: .file())
    var destination: String?

    @OptionGroup(title: "Output options") var output: OutputOptions

    var database: String? { nil }

    func run() throws {
        if destination == "-" {
            throw Failure(.usage, keyFile: "-", "a key file has another name; nothing was changed",
                          remedy: "Without OUT, the key goes to standard output")
        }
        let digits = try DatabaseKey.random().withUnsafeBytes { Secret(digitsOf: $0) }
        guard let destination else { return try show(digits) }
        // O_EXCL, because replacing a key loses a database.
        let descriptor = open(destination, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(errno, destination) }
        defer { close(descriptor) }
        do {
            try Console.write(digits.bytes, to: descriptor, named: destination)
            try Console.write("\n", to: descriptor)
            guard fsync(descriptor) == 0 else { throw Failure(errno: errno, keyFile: destination,
                doing: "writing the key file") }
        } catch {
            // A part of a key is useless.
            unlink(destination)
            throw error
        }
        try output.done(Self.self, destination, text: """
            \(destination): a new raw key. Keep it safe: the database opens with it, and only with it.
            """)
    }

    private static func failure(_ number: Int32, _ destination: String) -> Failure {
        let (happened, remedy) = switch number {
        case EEXIST: ("it exists already, and a key is never replaced", "Choose another name")
        case ENOENT, ENOTDIR: ("its folder does not exist", "Make the folder, or check the path")
        case EACCES, EROFS: ("its folder cannot be written", "Check the permissions of the folder, or choose another")
        default: ("it cannot be made (\(String(cString: strerror(number))))", "Check the path")
        }
        return Failure(number == ENOENT || number == ENOTDIR ? .absent : number == ENOSPC ? .diskFull : .other,
                       keyFile: destination, "\(happened); nothing was changed", remedy: remedy)
    }

    /// Prints the key in pieces: the digits never become a `String`, which can't be wiped.
    private func show(_ digits: Secret) throws {
        let head = JSON.object(OutputOptions.head(Self.self, nil, .done)).line.dropLast()
        if output.json { try Console.write(head + ",\"key\":\"", to: STDOUT_FILENO) }
        try Console.write(digits.bytes, to: STDOUT_FILENO)
        try Console.write(output.json ? "\"}\n" : "\n", to: STDOUT_FILENO)
    }
}
