import ArgumentParser
import Strongroom

struct Create: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Make a new, empty encrypted database.",
        discussion: "FILE is readable by its owner only.")

    static let examples = [
        (line: "strongroom create notes.db", what: "asks for a passphrase, twice"),
        (line: "strongroom create notes.db --slots", what: "with a passphrase that can be changed at once"),
        (line: "strongroom keygen key && strongroom create notes.db --raw-key-file key",
         what: "with a random key instead"),
    ]

    @Argument(help: "The database to make.", completion: .file())
    var file: String

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Leave the first 32 bytes readable; the salt goes to FILE-salt, or is that of --salt-file.")
    var plaintextHeader = false

    @Flag(help: "Give the database key slots: its passphrase can be changed at once, and there can be several.")
    var slots = false

    @OptionGroup var slot: SlotOptions

    @Flag(help: "Replace FILE if it exists.")
    var force = false

    var database: String? { file }

    func validate() throws {
        guard plaintextHeader || format.saltFile == nil else {
            throw ValidationError("--salt-file goes with --plaintext-header: other databases make their own salt.")
        }
        guard slots || !slot.isGiven else { throw ValidationError("--label, --derivation and --cost go with --slots.") }
        guard format.keyHint == nil else { throw ValidationError("--key-hint goes with a database that exists.") }
    }

    func run() throws {
        let out = try NewFile(file, replacing: force)
        let header = plaintextHeader ? try format.header() ?? PlaintextHeader() : nil
        var configuration = Configuration()
        configuration.encryption = Encryption(key: try passphrase.new(for: file).key, settings: format.settings,
                                              plaintextHeader: header)
        if slots { configuration.encryption?.keySlots.creating = slot.slot(try passphrase.source) }
        try Interruption.deferred { interruption in
            try out.make { partial in
                try attributing(to: file) {
                    let queue = try DatabaseQueue(path: partial, configuration: configuration)
                    // The first write makes the file; this one says nothing.
                    try queue.inDatabase { try $0.execute(sql: "PRAGMA user_version = 0") }
                    try queue.close()
                    // As its user will open it: from the files alone.
                    try DatabaseQueue(path: partial, configuration: configuration).close()
                }
                try interruption.check()
            }
        }
        try output.done(Self.self, file, text: "\(file): created\(slots ? ", with a key slot" : "").")
    }
}
