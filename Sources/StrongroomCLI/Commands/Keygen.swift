import ArgumentParser
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
            throw Failure(
                .usage, keyFile: "-", "a key file has another name; nothing was changed",
                remedy: "Without OUT, the key goes to standard output")
        }
        let digits = try DatabaseKey.random().withUnsafeBytes { GivenSecret(digitsOf: $0) }
        guard let destination else { return try digits.show(Self.self, nil, json: output.json) }
        try digits.write(toNew: destination)
        try output.done(
            Self.self, destination,
            text: """
                \(destination): a new raw key. Keep it safe: the database opens with it, and only with it.
                """)
    }
}
