import ArgumentParser
import Strongroom

struct Create: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Make a new, empty encrypted database.",
        discussion: help(
            "FILE is readable by its owner only.",
            statuses: [.absent, .diskFull, .interrupted]))

    static let examples = [
        (line: "strongroom create notes.db", what: "asks for a passphrase, twice"),
        (line: "strongroom create notes.db --slots", what: "with key slots, for several passphrases"),
        (
            line: "strongroom keygen key && strongroom create notes.db --raw-key-file key",
            what: "with a random key instead"
        ),
    ]

    @Argument(help: "The database to make.", completion: .file())
    var file: String

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Slot options") var slot: SlotOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    @Flag(help: "Leave the first 32 bytes readable. The salt goes to FILE-salt, or is that of --salt-file.")
    var plaintextHeader = false

    @Flag(help: "Create key slots: the database can have several passphrases, and changing one writes no page.")
    var slots = false

    @Flag(help: "Replace FILE if it exists.")
    var force = false

    var database: String? { file }

    func validate() throws {
        guard plaintextHeader || format.saltFile == nil else {
            throw ValidationError("--salt-file goes with --plaintext-header: other databases make their own salt.")
        }
        try slot.validate(besides: slots)
        guard format.keyHint == nil else { throw ValidationError("--key-hint goes with a database that exists.") }
    }

    func run() throws {
        let out = try NewFile(file, replacing: force)
        let header = plaintextHeader ? try format.header() ?? PlaintextHeader() : nil
        var configuration = Configuration()
        let secret = try passphrase.new(for: file)
        configuration.encryption = Encryption(
            key: try secret.key, settings: format.settings, plaintextHeader: header)
        if slots {
            configuration.encryption?.keySlots.creating = try slot.slot(passphrase.source, secret, of: file)
        }
        try Interruption.deferred { interruption in
            try out.make { partial in
                try attributing(to: file) {
                    let queue = try DatabaseQueue(path: partial, configuration: configuration)
                    // The first write creates the file; this one changes nothing.
                    try queue.inDatabase { try $0.execute(sql: "PRAGMA user_version = 0") }
                    try queue.close()
                    // Opened again from the files alone, as its user will open it.
                    try DatabaseQueue(path: partial, configuration: configuration).close()
                }
                try interruption.check()
            }
        }
        try output.done(Self.self, file, text: "\(file): created\(slots ? ", with a key slot" : "").")
    }
}
