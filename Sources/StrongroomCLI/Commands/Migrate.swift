import ArgumentParser
import Strongroom

struct Migrate: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Give a database another encrypted format, as a copy or in its place.",
        discussion: help(
            """
            With OUT, the command makes and checks a copy in the format of SQLCipher 4, with the same key. FILE is \
            only read. The formats of SQLCipher 1 to 4 are detected; give --page-size if FILE does not have the \
            usual page size of its format.

            With --in-place, the checked copy takes the place of FILE, with its name, owner and mode, and with the \
            rows of a log that was left. FILE must not be in use, and its disk needs room for one copy. A kill at any \
            moment leaves the former database or the migrated one, as a whole; run the command again then.

            With --plaintext-header alone, only the header of FILE changes, in place.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .diskFull, .interrupted]))

    static let examples = [
        (line: "strongroom migrate old.db new.db", what: "from the format of SQLCipher 1, 2 or 3 into today's"),
        (line: "strongroom migrate old.db --in-place", what: "the same, under the same name"),
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

    @Option(help: ArgumentHelp("The new page size in bytes. Default: 4096.", valueName: "bytes"))
    var newPageSize: Int?

    @Flag(help: "Change FILE itself, and make no OUT.")
    var inPlace = false

    @Flag(help: "Replace OUT if it exists.")
    var force = false

    func validate() throws {
        if let newPageSize { try FormatOptions.validate(pageSize: newPageSize, of: "--new-page-size") }
        guard destination == nil || !inPlace else { throw ValidationError("Give OUT or --in-place, not both.") }
        guard !force || destination != nil else { throw ValidationError("--force needs OUT.") }
        guard destination == nil, !inPlace else { return }
        guard plaintextHeader != nil else {
            throw ValidationError("Give OUT, or --in-place or --plaintext-header to change FILE itself.")
        }
        guard newPageSize == nil else { throw ValidationError("--new-page-size needs OUT or --in-place.") }
    }

    var database: String? { file }

    private var header: PlaintextHeader? { plaintextHeader == .on ? PlaintextHeader() : nil }

    func run() throws {
        let target = try Target(file, format)
        try target.requireEncrypted()
        if let destination {
            try copy(target, to: destination)
        } else if inPlace {
            try migrateInPlace(target)
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
        let (old, new, secret) = try encryptions(target)
        try out.fill(from: target.place, "migrating", progress, quiet: output.quiet, secret) { partial, progress in
            try DatabaseFile.migrate(path: target.place.path, to: partial, from: old, as: new, progress: progress)
        }
        let log = (target.inspection.walSize ?? 0) > 0 ? target.place.path(of: .log) : nil
        let warning = log.map {
            """
             The rows in its log \($0) are in \(destination), too. To put \(destination) in the place of \(file), use \
            strongroom restore, or next time --in-place: under another database, that log would be applied to it.
            """
        }
        try output.done(
            Self.self, destination, [("source", .text(file)), ("log", .optional(log))],
            text: "\(destination): migrated and checked. \(file) is as it was.\(warning ?? "")")
    }

    /// Returns the encryption that the database has, and the one that it is to have.
    private func encryptions(_ target: Target) throws -> (old: Encryption, new: Encryption, GivenSecret) {
        let (original, secret) = try passphrase.unlocking(file) { secret, _ in (try target.recognized(secret), secret) }
        var settings = CipherSettings.sqlcipher4
        if let newPageSize { settings.pageSize = newPageSize }
        let old = original.encryption(try secret.key)
        return (old, Encryption(key: old.key, settings: settings, plaintextHeader: header), secret)
    }

    private func migrateInPlace(_ target: Target) throws {
        try target.place.requireUnused()
        let (old, new, secret) = try encryptions(target)
        let hasHeader = target.inspection.kind == .plaintextHeader
        guard old.settings != new.settings || hasHeader != (header != nil) else {
            return try output.done(
                Self.self, file, [("changed", .bool(false))], text: "\(file): it has that format already.")
        }
        let display = ProgressDisplay("migrating", files: [(file, 1)], progress, quiet: output.quiet)
        defer { display.clear() }
        try Interruption.deferred { interruption in
            try attributing(to: file, opening: secret) {
                try DatabaseFile.migrateInPlace(path: target.place.path, from: old, as: new) { done in
                    try interruption.check()
                    display.show(file, done)
                }
            }
        }
        try output.done(
            Self.self, file, [("changed", .bool(true))], text: "\(file): migrated in its place, and checked.")
    }
}
