import ArgumentParser
import Strongroom

struct Migrate: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Copy a database into another encrypted format.",
        discussion: help(
            """
            With OUT, the command makes and checks a copy in the format of SQLCipher 4, with the same key. FILE is \
            only read. The formats of SQLCipher 1 to 4 are detected; give --page-size if FILE does not have the \
            usual page size of its format.

            Without OUT, --plaintext-header changes FILE itself.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .diskFull, .interrupted]))

    static let examples = [
        (line: "strongroom migrate old.db new.db", what: "from the format of SQLCipher 1, 2 or 3 into today's"),
        (
            line: "strongroom migrate notes.db --plaintext-header on",
            what: "in place, so that iOS recognizes a database"
        ),
    ]

    enum Header: String, ExpressibleByArgument, CaseIterable { case on, off }

    @Argument(help: "An encrypted database.", completion: .file())
    var file: String

    @Argument(help: ArgumentHelp("The copy to make.", valueName: "out"), completion: .file())
    var destination: String?

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var progress: ProgressOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    @Option(
        help: ArgumentHelp(
            "Leave the first 32 bytes readable, with the salt in a file beside the database, or encrypt them.",
            valueName: "on|off"))
    var plaintextHeader: Header?

    @Option(help: ArgumentHelp("The page size of OUT in bytes.", valueName: "bytes"))
    var newPageSize: Int?

    @Flag(help: "Replace OUT if it exists.")
    var force = false

    func validate() throws {
        if let newPageSize { try FormatOptions.validate(pageSize: newPageSize, of: "--new-page-size") }
        guard destination == nil else { return }
        guard plaintextHeader != nil else {
            throw ValidationError("Give OUT, or --plaintext-header to change FILE itself.")
        }
        guard newPageSize == nil else { throw ValidationError("--new-page-size needs OUT.") }
    }

    var database: String? { file }

    private var header: PlaintextHeader? { plaintextHeader == .on ? PlaintextHeader() : nil }

    func run() throws {
        let target = try Target(file, format)
        try target.requireEncrypted()
        if let destination {
            try copy(target, to: destination)
        } else {
            let secret = try passphrase.secret(opening: target)
            try attributing(to: file, opening: secret) {
                try DatabaseFile.setPlaintextHeader(
                    header, path: target.place.path,
                    encryption: target.encryption(secret.key))
            }
            try output.done(
                Self.self, file,
                text: "\(file): plaintext header \(plaintextHeader == .on ? "on" : "off"), checked.")
        }
    }

    private func copy(_ target: Target, to destination: String) throws {
        let out = try NewFile(destination, replacing: force, sources: [target.place])
        let (original, secret) = try passphrase.unlocking(file) { secret, _ in (try target.recognized(secret), secret) }
        var settings = CipherSettings.sqlcipher4
        if let newPageSize { settings.pageSize = newPageSize }
        let old = original.encryption(try secret.key),
            new = Encryption(key: old.key, settings: settings, plaintextHeader: header)
        try out.fill(from: target.place, "migrating", progress, quiet: output.quiet, secret) { partial, progress in
            try DatabaseFile.migrate(path: target.place.path, to: partial, from: old, as: new, progress: progress)
        }
        try output.done(
            Self.self, destination, [("source", .text(file))],
            text: "\(destination): migrated and checked. \(file) is as it was.")
    }
}
