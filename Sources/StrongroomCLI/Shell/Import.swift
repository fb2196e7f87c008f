import Foundation
import Strongroom

// Rows of a file with comma-separated values.

extension ShellSession {
    /// Imports all rows or none.
    ///
    /// - parameter skipped: the number of lines to leave out at the beginning.
    func importRows(_ path: String, _ table: String, skipping skipped: Int, _ db: Database) throws {
        guard isWriting else { throw DatabaseError(resultCode: .SQLITE_READONLY) }
        var rows = try rows(in: path).drop { $0.line <= skipped }
        let display = try ProgressDisplay(
            "importing", files: [(path, 1)], ProgressOptions.parse([]), quiet: !isInteractive)
        defer { display.clear() }
        try db.inSavepoint {
            if try !db.tableExists(table), let head = rows.popFirst() {
                try at(head, of: path) {
                    let columns = head.values.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
                    try db.execute(sql: "CREATE TABLE \(table.quotedDatabaseIdentifier) (\(columns))")
                }
            }
            let columns = try db.columns(in: table).isEmpty ? [] : db.storedColumns(of: table), width = columns.count
            let names = columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
            let marks = Array(repeating: "?", count: width).joined(separator: ", ")
            let insertion = try db.makeStatement(
                sql: "INSERT INTO \(table.quotedDatabaseIdentifier) (\(names)) VALUES (\(marks))")
            for (index, row) in rows.enumerated() {
                try interruption.check()
                try requireWidth(width, row, path)
                try at(row, of: path) { try insertion.execute(arguments: StatementArguments(row.values)) }
                if index % 1000 == 0 { display.show(path, done: index, of: rows.count) }
            }
            return .commit
        }
        display.clear()
        try Console.output("\(counted(rows.count, "row")) imported")
    }

    private func rows(in path: String) throws -> ArraySlice<CSV.Row> {
        guard access(path, R_OK) == 0 else {
            throw Failure(
                errno: errno, file: path, "it cannot be read", state: "no row was imported",
                remedy: "Check its permissions")
        }
        guard let content = FileManager.default.contents(atPath: path) else {
            throw Failure(
                .other, file: path, "it cannot be read; no row was imported",
                remedy: "Give a file of comma-separated values")
        }
        let csv = CSV(content)
        if let line = csv.unterminatedQuote {
            throw Failure(
                .other, file: path, "line \(line) begins a quoted value that does not end; no row was imported",
                remedy: "Close the quote, or double it if it is part of the value")
        }
        if let line = csv.malformedRow {
            throw Failure(
                .other, file: path, "line \(line) is not UTF-8; no row was imported",
                remedy: "Convert it to UTF-8, for example with iconv")
        }
        return csv.rows[...]
    }

    private func requireWidth(_ width: Int, _ row: CSV.Row, _ path: String) throws {
        guard row.values.count != width else { return }
        let widths = "\(counted(row.values.count, "value")) for \(counted(width, "column"))"
        throw Failure(
            .other, file: path, "line \(row.line) has \(widths); no row was imported",
            remedy: "Make its rows as wide as the table")
    }

    /// Runs `body` for a row. An error names the file and the line.
    private func at(_ row: CSV.Row, of path: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DatabaseError {
            var failure = Failure(error, file: path)
            failure.happened = "line \(row.line): \(failure.happened); no row was imported"
            throw failure
        }
    }
}
