import ArgumentParser
import Foundation
import Strongroom

struct Query: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Run SQL on a database.",
        discussion: """
            Without SQL, it is read from standard input, where no other user sees it. All statements see the database at one \
            moment. Nothing is written unless --write is given; then all statements are one transaction: they take effect \
            together after the last one, or none does. Statements that begin or end a transaction, and VACUUM, are refused. \
            Blobs are shown as hexadecimal digits; a table's columns are as wide as its first 200 rows ask for.
            """)

    @Argument(help: "A database.", completion: .file())
    var file: String

    @Argument(help: "SQL statements.")
    var sql: String?

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var output: OutputOptions

    @Option(name: .customLong("output"),
            help: ArgumentHelp("How rows are written: table, csv, or jsonl, one object a line. --json means jsonl.", valueName: "form"))
    var form = RowForm.table

    @Flag(help: "Let the SQL change the database.")
    var write = false

    func run() throws {
        let target = try Target(file, format)
        try target.requireDatabase()
        let key = target.isClear ? nil : try passphrase.current(of: file).key
        let sql = self.sql ?? String(decoding: FileHandle.standardInput.readDataToEndOfFile(), as: UTF8.self)
        let queue = try target.open(key, readonly: !write)
        do {
            let form = output.json ? RowForm.jsonl : form
            if write {
                try queue.write { try run(sql, $0, form) }
            } else {
                try queue.read { try run(sql, $0, form) }
            }
            try queue.close()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_READONLY && !write {
            throw Failure(.other, file: file, "this SQL writes; nothing was changed", remedy: "Give --write if that is what you want")
        } catch let error as DatabaseError {
            throw Failure(error, file: file)
        }
    }

    /// All statements take effect together: none may end the transaction that they share.
    private func refuseTransaction(_ sql: String) throws {
        let words = Self.words(sql)
        guard let first = words.first, ["BEGIN", "COMMIT", "END", "ROLLBACK"].contains(first), !words.contains("TO") else { return }
        throw Failure(.other, file: file, "\(first) is refused, because all statements are one transaction; nothing was changed",
                      remedy: "Leave it away; SAVEPOINT is there for a part that may fail")
    }

    /// The words of a statement in capitals, without comments; enough to know those that have nothing else.
    private static func words(_ sql: String) -> [Substring] {
        let pattern = #"--[^\n]*|/\*[\s\S]*?\*/"#
        let bare = sql.replacingOccurrences(of: pattern, with: " ", options: .regularExpression).uppercased()
        return bare.split { !$0.isLetter }.prefix(4).map { $0 }
    }

    private func run(_ sql: String, _ db: Database, _ form: RowForm) throws {
        let statements = try db.allStatements(sql: sql)
        while let statement = try statements.next() {
            try refuseTransaction(statement.sql)
            guard statement.columnCount > 0 else {
                try statement.execute()
                continue
            }
            var writer = try RowWriter(form, columns: statement.columnNames)
            let rows = try Row.fetchCursor(statement)
            while let row = try rows.next() { try writer.add(row.databaseValues.map(\.storage)) }
            try writer.end()
        }
    }
}
