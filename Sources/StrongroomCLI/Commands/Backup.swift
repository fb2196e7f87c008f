import ArgumentParser
import Strongroom

struct Backup: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Make an encrypted copy of an encrypted database.",
        discussion: help(
            """
            The copy opens as the original does: it has the same key, page size, cipher settings and plaintext header. \
            If FILE has a salt file, the copy has one of its own.

            FILE may be in use, and is only read. The copy contains what was committed when it began. OUT appears when \
            it is complete and was opened and checked.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .diskFull, .interrupted]))

    static let examples = [
        (line: "strongroom backup notes.db /srv/backup/notes.db", what: "copies a database in use"),
        (
            line: "strongroom backup --progress json notes.db copy.db --passphrase-file key",
            what: "reports its progress to programs"
        ),
    ]

    @Argument(help: "An encrypted database.", completion: .file())
    var file: String

    @Argument(help: ArgumentHelp("The copy to make.", valueName: "out"), completion: .file())
    var destination: String

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var progress: ProgressOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    @Flag(help: "Replace OUT if it exists.")
    var force = false

    var database: String? { file }

    func run() throws {
        let target = try Target(file, format)
        try target.requireEncrypted()
        let out = try NewFile(destination, replacing: force, sources: [target.place])
        let secret = try passphrase.secret(opening: target)
        let original = try target.encryption(secret.key)
        var copy = original
        let size = try target.details(secret).plaintextHeaderSize
        if size > 0, copy.plaintextHeader == nil { copy.plaintextHeader = PlaintextHeader(size: size) }
        try out.fill(from: target.place, "copying", progress, quiet: output.quiet, secret) { partial, progress in
            try DatabaseFile.migrate(path: target.place.path, to: partial, from: original, as: copy, progress: progress)
        }
        try output.done(Self.self, destination, [("source", .text(file))], text: "\(destination): copied and checked.")
    }
}
