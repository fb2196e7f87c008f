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
    private static func words(_ sql: String) -> [String] {
        let bytes = Array(sql.utf8)
        return bytes.withUnsafeBufferPointer { bytes in
            var words: [String] = [], end = -1
            for token in SQLTokens(bytes).prefix(24) {
                let text = String(decoding: bytes[token.range], as: UTF8.self)
                let isQuoted = token.kind == .quoted && text.count > 1
                if isQuoted, end == token.range.lowerBound, let last = words.last {
                    // A doubled quote inside of a name is read as two tokens.
                    words[words.count - 1] = last + text.dropLast()
                } else {
                    words.append(isQuoted ? String(text.dropFirst().dropLast()) : text)
                }
                end = isQuoted ? token.range.upperBound : -1
            }
            return words
        }
    }
}
