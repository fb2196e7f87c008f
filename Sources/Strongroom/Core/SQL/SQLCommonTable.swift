/// A named query in a statement. <https://www.sqlite.org/lang_with.html>
struct SQLCommonTable: Sendable {
    let name: String
    let columns: [String]?
    let isRecursive: Bool
    let query: SQLSubquery

    /// Writes `name(columns) AS (query)`.
    func write(to writer: inout SQLWriter) throws {
        writer.append(name.quotedDatabaseIdentifier)
        if let columns, !columns.isEmpty {
            writer.append("(\(columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")))")
        }
        writer.append(" AS ")
        try query.writeInParentheses(to: &writer)
    }
}
