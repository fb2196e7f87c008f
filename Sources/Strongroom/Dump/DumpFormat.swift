/// A format that prints the rows of statements.
///
/// Each statement of a dump is printed by a copy of the format, so that what one of them changes concerns no other.
public protocol DumpFormat {
    /// Writes the current row of the statement.
    mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) throws

    /// Writes the end of the output. Also called if there was no row.
    mutating func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream)
}

extension DatabaseValue {
    /// Returns the value as plain text. Bytes of blobs that are not UTF-8 are replaced by U+FFFD.
    func plainText(nullValue: String) -> String {
        switch storage {
        case .null: nullValue
        case .int64(let value): value.description
        case .double(let value): value.description
        case .string(let value): value
        case .blob(let value): String(decoding: value, as: UTF8.self)
        }
    }
}

extension Statement {
    /// The names of the columns that dumps show, from left to right.
    var shownNames: [String] { shownColumns.map { columnNames[$0] } }

    /// The values of these columns in the current row.
    var shownValues: [DatabaseValue] {
        requireAccess()
        return shownColumns.map { DatabaseValue(sqliteStatement: sqliteStatement, index: CInt($0)) }
    }

    /// All but those that only say which row an associated row belongs to.
    private var shownColumns: [Int] { columnNames.indices.filter { !columnNames[$0].hasPrefix("grdb_") } }
}

/// Rows as lines of separated texts, the first one below the names of the columns when there is a header.
struct SeparatedLines {
    let separator: String
    private var isFirst = true

    init(separator: String) {
        self.separator = separator
    }

    mutating func write(_ texts: [String], header: @autoclosure () -> [String]?, to stream: inout DumpStream) {
        if isFirst, let names = header() { writeLine(names, to: &stream) }
        isFirst = false
        writeLine(texts, to: &stream)
    }

    private func writeLine(_ texts: [String], to stream: inout DumpStream) {
        stream.write(texts.joined(separator: separator) + "\n")
    }
}
