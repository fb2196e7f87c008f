import ArgumentParser
import Strongroom

struct KeyExport: KeyCommand {
    static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Write the data key of a database with key slots.",
        discussion: help(
            """
            Writes the data key and its salt, 96 hexadecimal digits, to a new file or to standard output. With it, \
            --raw-key-file and the sqlcipher shell open the database without a slot. The database does not change.
            """,
            statuses: [.absent, .wrongKey, .damaged, .diskFull]))

    static let examples = [(line: "strongroom key export notes.db notes.key", what: "writes a file only you can read")]

    @Argument(help: "A database with key slots.", completion: .file())
    var file: String

    @Argument(help: ArgumentHelp("The file to make. Default: standard output.", valueName: "out"), completion: .file())
    var name: String?

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    func run() throws {
        if name == "-" {
            throw Failure(
                .usage, keyFile: "-", "a key file has another name; nothing was changed",
                remedy: "Without OUT, the key goes to standard output")
        }
        let slots = try slots(target())
        let digits = try slots.withDataKeyAndSalt { GivenSecret(digitsOf: $0) }
        guard let name else {
            return try digits.show(Self.self, file, [("action", .text(Self.action))], json: output.json)
        }
        try digits.write(toNew: name)
        try done(
            [("key_file", .text(name))],
            """
            \(name) has the data key. It opens the database without a slot, until: strongroom rotate --data-key
            """)
    }
}
