import ArgumentParser
import Strongroom

struct Encrypt: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Make an encrypted copy of an unencrypted SQLite database.",
        discussion: help(
            """
            PLAIN is only read. OUT appears when it is complete and was opened and compared, and is readable by its \
            owner only. PLAIN stays unencrypted: remove it when OUT is in use.
            """,
            statuses: [.absent, .busy, .damaged, .diskFull, .interrupted]))

    static let examples = [
        (line: "strongroom encrypt plain.db notes.db", what: "asks for a passphrase, twice"),
        (
            line: "strongroom encrypt --page-size 8192 plain.db notes.db --passphrase-file key",
            what: "with larger pages"
        ),
        (line: "strongroom encrypt --slots plain.db notes.db", what: "with key slots, for several passphrases"),
    ]

    @Argument(help: ArgumentHelp("An unencrypted SQLite database.", valueName: "plain"), completion: .file())
    var source: String

    @Argument(help: ArgumentHelp("The encrypted database to make.", valueName: "out"), completion: .file())
    var destination: String

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions

    @Option(help: ArgumentHelp("The page size of OUT in bytes. Default: 4096.", valueName: "bytes"))
    var pageSize: Int?

    @Flag(help: "Leave the first 32 bytes of OUT readable. The salt goes to OUT-salt.")
    var plaintextHeader = false

    @Flag(help: "Create key slots: OUT can have several passphrases, and changing one writes no page.")
    var slots = false

    @OptionGroup(title: "Slot options") var slot: SlotOptions
    @OptionGroup(title: "Output options") var progress: ProgressOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    @Flag(help: "Replace OUT if it exists.")
    var force = false

    var database: String? { destination }

    func validate() throws {
        if let pageSize { try FormatOptions.validate(pageSize: pageSize, of: "--page-size") }
        try slot.validate(besides: slots)
    }

    func run() throws {
        let target = try Target(source)
        try target.requireClear()
        let out = try NewFile(destination, replacing: force, sources: [target.place])
        let secret = try passphrase.new(for: destination)
        var encryption = Encryption(key: try secret.key)
        if let pageSize { encryption.settings.pageSize = pageSize }
        if plaintextHeader { encryption.plaintextHeader = PlaintextHeader() }
        if slots { encryption.keySlots.creating = try slot.slot(passphrase.source, secret, of: destination) }
        try out.fill(from: target.place, "encrypting", progress, quiet: output.quiet) { partial, progress in
            try DatabaseFile.encrypt(path: target.place.path, to: partial, encryption: encryption, progress: progress)
        }
        try output.done(
            Self.self, destination, [("source", .text(source))],
            text: "\(destination): encrypted and checked. \(source) is still clear text.")
    }
}
