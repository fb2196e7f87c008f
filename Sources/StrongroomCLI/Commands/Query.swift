import ArgumentParser
import Foundation
import Strongroom

struct Query: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Run SQL on a database.",
        discussion: help(
            """
            Without SQL as an argument, the SQL is read from standard input, where no other user can see it. All \
            statements see one state of the database.

            Nothing is written unless --write is given. Then all statements are one transaction, which takes effect as \
            a whole or not at all. BEGIN, COMMIT and ROLLBACK are refused. VACUUM and changes of the journal mode must \
            be the only statement.

            --restrict runs SQL of others: queries only, of tables that --tables allows, with harmless functions, and \
            within limits of rows, time, memory and the size of values. The rows before the limit of rows are printed.

            Blobs are printed as hexadecimal digits. The first 200 rows determine the widths of a table's columns.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .diskFull, .interrupted]))

    static let examples = [
        (line: "strongroom query notes.db 'SELECT count(*) FROM note'", what: "one number"),
        (
            line: "strongroom query notes.db 'SELECT * FROM note WHERE id = :id' --bind id=7",
            what: "with a value that is not part of the SQL"
        ),
        (
            line: "strongroom query notes.db --output csv < report.sql > report.csv",
            what: "SQL from a file, rows for a spreadsheet"
        ),
        (
            line: "strongroom query notes.db --tables note,tag:id,tag:name --max-rows 100 < theirs.sql",
            what: "SQL of others, which reads two tables and one of them in part"
        ),
        (line: "strongroom query notes.db --write 'DELETE FROM note WHERE id = 7'", what: "changes the database"),
    ]

    @Argument(help: "A database.", completion: .file())
    var file: String

    @Argument(help: "SQL statements.")
    var sql: String?

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Restriction options") var restriction: RestrictionOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    @Option(
        name: .customLong("output"),
        help: ArgumentHelp(
            "The form of the rows: table, csv, json, one array, or jsonl, one object a line. --json means jsonl.",
            valueName: "form"))
    var form = RowForm.table

    @Option(
        help: ArgumentHelp(
            """
            Bind a value to :name, @name or $name, or by number to ?. It is a number if it is written as one, such as \
            7 or 0.5; 007, 0x7, nan and inf are text. Repeat the option for each parameter.
            """, valueName: "name=value"))
    var bind: [String] = []

    @Flag(help: "Let the SQL change the database.")
    var write = false

    var database: String? { file }
    var isReading: Bool { !write }

    func validate() throws {
        guard sql != nil || (try? passphrase.source.isStandardInput) != true else {
            throw ValidationError("Standard input holds the key: give the SQL as an argument.")
        }
        if write, restriction.isGiven { throw ValidationError("Restricted SQL only reads: leave out --write.") }
    }

    func run() throws {
        let runner = SQLRunner(form: output.json ? .jsonl : form, bindings: try Bindings(bind))
        let target = try Target(file, format)
        try target.requireDatabase()
        let secret = target.isClear ? nil : try passphrase.secret(opening: target)
        let sql = try self.sql ?? Self.standardInput()
        do {
            try write ? change(sql, target, secret, runner) : read(sql, target, secret, runner)
        } catch var failure as Failure where failure.status == .other && failure.remedy == nil {
            // All or nothing.
            failure.happened += "; nothing was changed"
            failure.remedy = "Check the SQL"
            throw failure
        }
    }

    private func change(_ sql: String, _ target: Target, _ secret: GivenSecret?, _ runner: SQLRunner) throws {
        try target.writing(secret) { queue in
            if case .alone(let word) = StatementKind(sql) {
                try queue.inDatabase { try runAlone(word, sql, $0, runner) }
            } else {
                try queue.write { try runner.run(sql, $0, check: refuse) }
            }
        }
    }

    private static func standardInput() throws -> String {
        if isatty(STDIN_FILENO) == 1 {
            Console.message("Reading SQL from the terminal; Ctrl-D ends it. For a conversation: strongroom shell FILE")
        }
        let bytes = try Interruption.deferred { try $0.readAll(STDIN_FILENO) }
        guard let sql = String(validatingUTF8Bytes: bytes) else {
            throw Failure(
                .other, "standard input is not UTF-8; nothing was changed",
                remedy: "Convert the SQL to UTF-8, for example with iconv")
        }
        return sql
    }

    private func read(_ sql: String, _ target: Target, _ secret: GivenSecret?, _ runner: SQLRunner) throws {
        do {
            try target.reading(secret) { db in
                try db.reading {
                    try restriction.applied(to: db, of: file) { try runner.run(sql, db, check: refuse) }
                }
            }
        } catch let failure as Failure where failure.isOfWriting {
            throw Failure(
                .other, file: file, "this SQL writes; nothing was changed",
                remedy: "Give --write if that is what you want")
        }
    }

    /// Refuses statements that would end the common transaction.
    private func refuse(_ statement: Statement) throws {
        switch StatementKind(statement.sql) {
        case .transaction(let word):
            throw Failure(
                .other, file: file,
                "\(word) is refused, because all statements are one transaction; nothing was changed",
                remedy: "Leave it out; SAVEPOINT is there for a part that may fail")
        case .alone(let word) where write:
            throw Failure(
                .other, file: file, "\(word) can't be part of a transaction; nothing was changed",
                remedy: "Run it by itself")
        default: break
        }
    }

    private func runAlone(_ word: String, _ sql: String, _ db: Database, _ runner: SQLRunner) throws {
        var count = 0
        let statements = try db.allStatements(sql: sql)
        while try statements.next() != nil { count += 1 }
        guard count == 1 else {
            throw Failure(
                .other, file: file, "\(word) can't be part of a transaction; nothing was changed",
                remedy: "Run it by itself")
        }
        try runner.run(sql, db)
    }
}
