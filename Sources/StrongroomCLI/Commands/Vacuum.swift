import ArgumentParser
import Strongroom

struct Vacuum: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Rebuild a database without unused pages.",
        discussion: """
            The file is rewritten in one transaction, with its key: it needs about its own size as room beside it, and nobody else may \
            use it meanwhile.
            """)

    static let examples = [
        (line: "strongroom vacuum notes.db", what: "gives back what deleted rows took"),
    ]

    @Argument(help: "A database.", completion: .file())
    var file: String

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var output: OutputOptions

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
        try output.done(Self.self, file, [("pagesBefore", .count(before)), ("pages", .count(after))],
                        text: "\(file): vacuumed, from \(counted(before, "page")) to \(after).")
    }
}
