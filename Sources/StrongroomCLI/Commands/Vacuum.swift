import ArgumentParser
import Strongroom

struct Vacuum: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Rebuild a database without unused pages.",
        discussion: help(
            """
            The command rewrites the file in one transaction, with its key. It needs free space of about the size of \
            the file, and no other program may use the file meanwhile.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .diskFull, .interrupted]))

    static let examples = [
        (line: "strongroom vacuum notes.db", what: "releases the space of deleted rows")
    ]

    @Argument(help: "A database.", completion: .file())
    var file: String

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    var database: String? { file }

    func run() throws {
        let target = try Target(file, format)
        try target.requireDatabase()
        let secret = target.isClear ? nil : try passphrase.secret(opening: target)
        let before = try target.writing(secret) { queue in
            let pages = try queue.inDatabase { try Int.fetchOne($0, sql: "PRAGMA page_count") ?? 0 }
            try queue.vacuum()
            return pages
        }
        let after = try target.details(secret).pageCount
        try output.done(
            Self.self, file, [("pages_before", .count(before)), ("pages", .count(after))],
            text: "\(file): vacuumed, from \(counted(before, "page")) to \(after).")
    }
}
