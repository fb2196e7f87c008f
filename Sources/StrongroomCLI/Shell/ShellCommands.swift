import Foundation
import Strongroom

// Lines that begin with a dot.

extension ShellSession {
    static let help = """
        .dump [TABLE]        the database as SQL
        .help                this list
        .import FILE TABLE   rows of a CSV file; its first line names the columns of a new table (with --write)
        .mode FORM           how rows are written: table, csv or jsonl
        .quit                the end; so does Ctrl-D
        .schema [TABLE]      the statements that made the tables
        .tables              the names of tables and views
        """

    mutating func run(_ line: String, _ db: Database) throws {
        let words = line.split(separator: " ").map(String.init)
        switch (words[0], words.dropFirst().map { $0 }) {
        case (".quit", []), (".exit", []): isOver = true
        case (".help", []): try Console.output(Self.help)
        case (".tables", []): try show(Self.namesOfTables, [], db)
        case (".schema", let tables) where tables.count < 2: try show(Self.schema, tables, db)
        case (".dump", let tables) where tables.count < 2:
            try seeing(db) { try SQLDump(db).write(tables.first) { try Console.output($0) } }
        case (".mode", let forms) where forms.count == 1: try setForm(forms[0])
        case (".import", let names) where names.count == 2: try importRows(names[0], names[1], db)
        default:
            throw Failure(.usage, "\(line) is not understood; nothing was changed", remedy: ".help lists what there is")
        }
    }

    private static let namesOfTables = """
        SELECT name FROM sqlite_master
        WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY name
        """

    private static let schema = """
        SELECT sql || ';' FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
        AND (?1 IS NULL OR lower(tbl_name) = lower(?1)) ORDER BY tbl_name, type DESC, name
        """

    private func show(_ sql: String, _ names: [String], _ db: Database) throws {
        let arguments = sql.contains("?1") ? StatementArguments([names.first]) : StatementArguments()
        let lines = try seeing(db) { try String.fetchAll(db, sql: sql, arguments: arguments) }
        if !lines.isEmpty { try Console.output(lines.joined(separator: "\n")) }
    }

    private mutating func setForm(_ name: String) throws {
        guard let new = RowForm(rawValue: name) else {
            throw Failure(
                .usage, "there is no form \(name); nothing was changed",
                remedy: "The forms are table, csv and jsonl")
        }
        form = new
    }

    private func importRows(_ path: String, _ table: String, _ db: Database) throws {
        guard isWriting else { throw DatabaseError(resultCode: .SQLITE_READONLY) }
        guard access(path, R_OK) == 0 else {
            throw Failure(errno: errno, file: path, "it cannot be read", remedy: "Check its permissions")
        }
        guard let content = FileManager.default.contents(atPath: path) else {
            throw Failure(
                .other, file: path, "it cannot be read; nothing was changed",
                remedy: "Give a file of comma-separated values")
        }
        var rows = CSV(content).rows[...]
        try db.inSavepoint {
            if try !db.tableExists(table), let head = rows.popFirst() {
                try db.execute(sql: "CREATE TABLE \(quoted(table)) (\(head.map(quoted).joined(separator: ", ")))")
            }
            let width = try db.columns(in: table).count
            let marks = Array(repeating: "?", count: width).joined(separator: ", ")
            let insertion = try db.makeStatement(sql: "INSERT INTO \(quoted(table)) VALUES (\(marks))")
            for (index, row) in rows.enumerated() {
                guard row.count == width else {
                    let widths = "\(counted(row.count, "value")) for \(counted(width, "column"))"
                    throw Failure(
                        .other, file: path, "row \(index + 1) has \(widths); nothing was changed",
                        remedy: "Make its rows as wide as the table")
                }
                try insertion.execute(arguments: StatementArguments(row))
            }
            return .commit
        }
        try Console.output("\(counted(rows.count, "row")) imported")
    }
}

func quoted(_ name: String) -> String { "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\"" }
