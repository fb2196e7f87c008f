/// The statement that creates an object of the schema.
///
/// A file in clear text may contain any SQL there. SQLite compiles only the first statement, and runs nothing that it
/// finds in a schema: here, too, nothing runs that reads rows, names another database or follows the statement.
struct SchemaStatement {
    let sql: String

    /// Nil if the SQL doesn't create the object of the entry, in the form in which SQLite stores it.
    init?(_ entry: SchemaEntry) {
        guard let sql = entry.sql else { return nil }
        var words = SchemaStatement.words(sql).makeIterator()
        guard words.next()?.lowercased() == "create", var kind = words.next()?.lowercased() else { return nil }
        if kind == "unique", entry.kind == .index { kind = words.next()?.lowercased() ?? "" }
        if kind == "virtual", entry.isVirtual { kind = words.next()?.lowercased() ?? "" }
        guard kind == entry.kind.rawValue, words.next()?.foldedSQLName.hasBytes(of: entry.name.foldedSQLName) == true,
            let following = words.next(), following != "."
        else { return nil }
        // `CREATE TABLE … AS SELECT` would run a query.
        if entry.kind == .table, !entry.isVirtual, following != "(" { return nil }
        self.sql = sql
    }

    /// Runs the statement. Throws if another one follows.
    func run(_ database: Database) throws {
        try database.makeStatement(sql: sql).execute()
    }

    /// Returns the first tokens of the SQL, names without their quotes.
    static func words(_ sql: String) -> [String] {
        let bytes = Array(sql.utf8)
        return bytes.withUnsafeBufferPointer { bytes in
            var words: [String] = [], end = -1
            for token in SQLTokens(bytes).prefix(24) {
                let range = token.range, isQuoted = token.kind == .quoted && range.count > 1
                func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
                if isQuoted, end == range.lowerBound, let last = words.last {
                    // A doubled quote inside of a name is read as two tokens.
                    words[words.count - 1] = last + text(range.lowerBound..<range.upperBound - 1)
                } else {
                    words.append(text(isQuoted ? range.lowerBound + 1..<range.upperBound - 1 : range))
                }
                end = isQuoted ? range.upperBound : -1
            }
            return words
        }
    }
}
