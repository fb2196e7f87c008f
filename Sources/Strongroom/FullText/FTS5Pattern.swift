/// A valid search pattern for FTS5 tables.
///
/// ```swift
/// let pattern = FTS5Pattern(matchingAllPrefixesIn: "mob dic")
/// let documents = try Document.matching(pattern).order(Column.rank).fetchAll(db)
/// ```
///
/// Source: <https://www.sqlite.org/fts5.html#full_text_query_syntax>.
public struct FTS5Pattern: Sendable {
    /// The pattern in SQLite's syntax.
    public let rawPattern: String

    private init?(trusted rawPattern: String?) {
        guard let rawPattern else { return nil }
        self.rawPattern = rawPattern
    }

    /// Creates a pattern from SQLite's own syntax.
    ///
    /// - parameters:
    ///   - rawPattern: the pattern in SQLite's syntax.
    ///   - allowedColumns: the columns that the pattern may name. See
    ///     ``Database/makeFTS5Pattern(rawPattern:forTable:)``.
    /// - throws: SQLite's error if the pattern is malformed.
    public init(rawPattern: String, allowedColumns: [String] = []) throws {
        // No table is without columns, and no pattern names this one by chance.
        let columns = allowedColumns.isEmpty ? ["strongroom_no_column"] : allowedColumns
        try Database.inMemory { db in
            let definition = columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
            let table = "strongroom_pattern"
            try db.execute(sql: "CREATE VIRTUAL TABLE \(table) USING fts5(\(definition))")
            try db.validate(pattern: rawPattern, table: table)
        }
        self.rawPattern = rawPattern
    }

    /// Creates a pattern that matches documents with any of the words; nil if the text has no word.
    public init?(matchingAnyTokenIn string: String) {
        self.init(trusted: string.anyTokenPattern)
    }

    /// Creates a pattern that matches documents with all of the words; nil if the text has no word.
    public init?(matchingAllTokensIn string: String) {
        self.init(trusted: string.allTokensPattern)
    }

    /// Creates a pattern that matches documents with, for each word, a word that begins with it; nil if the text has no
    /// word.
    public init?(matchingAllPrefixesIn string: String) {
        self.init(trusted: string.allPrefixesPattern)
    }

    /// Creates a pattern that matches documents with the words in sequence; nil if the text has no word.
    public init?(matchingPhrase string: String) {
        self.init(trusted: string.phrasePattern)
    }

    /// Creates a pattern that matches documents that begin with the words in sequence; nil if the text has no word.
    public init?(matchingPrefixPhrase string: String) {
        self.init(trusted: string.phrasePattern.map { "^" + $0 })
    }
}

extension FTS5Pattern: DatabaseValueConvertible {
    /// The raw pattern, as text.
    public var databaseValue: DatabaseValue { rawPattern.databaseValue }

    /// Returns a pattern from a string in SQLite's syntax that names no column.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> FTS5Pattern? {
        String.fromDatabaseValue(dbValue).flatMap { try? FTS5Pattern(rawPattern: $0) }
    }
}

extension Database {
    /// Returns a pattern from SQLite's own syntax, which may name the columns of an FTS5 table.
    ///
    /// - throws: SQLite's error if the pattern is malformed.
    public func makeFTS5Pattern(rawPattern: String, forTable table: String) throws -> FTS5Pattern {
        try FTS5Pattern(rawPattern: rawPattern, allowedColumns: columns(in: table).map(\.name))
    }
}
