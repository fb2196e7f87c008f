import ArgumentParser
import Strongroom

struct Keygen: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Make a random raw key, for --raw-key-file.",
        discussion: "The 64 hexadecimal digits go to OUT, readable by its owner only and never replaced, or to standard output.")

    static let examples = [
        (line: "strongroom keygen notes.key", what: "makes a key file"),
        (line: "strongroom keygen | systemd-creds encrypt - notes.cred", what: "hands the key to another program"),
    ]

    @Argument(help: ArgumentHelp("The file to make.", valueName: "out"), completion: .file())
    var destination: String?

    @OptionGroup var output: OutputOptions

    var database: String? { nil }

    func run() throws {
        if destination == "-" {
            throw Failure(.usage, keyFile: "-", "a key file has another name; nothing was changed",
                          remedy: "Without OUT, the key goes to standard output")
        }
        let digits = try DatabaseKey.random().withUnsafeBytes { Secret(digitsOf: $0) }
        guard let destination else { return try digits.show(Self.self, nil, json: output.json) }
        try digits.write(toNew: destination)
        try output.done(Self.self, destination, text: """
            \(destination): a new raw key. Whoever has it opens the database; without it nobody does.
            """)
    }
}
