/// A valid search pattern for FTS3 and FTS4 tables.
///
/// ```swift
/// let pattern = FTS3Pattern(matchingAllTokensIn: "Moby Dick")
/// let documents = try Document.matching(pattern).fetchAll(db)
/// ```
///
/// Source: <https://www.sqlite.org/fts3.html#full_text_index_queries>.
public struct FTS3Pattern: Sendable {
    /// The pattern in SQLite's syntax.
    public let rawPattern: String

    private init?(trusted rawPattern: String?) {
        guard let rawPattern else { return nil }
        self.rawPattern = rawPattern
    }

    /// Creates a pattern from SQLite's own syntax.
    ///
    /// - throws: SQLite's error if the pattern is malformed.
    public init(rawPattern: String) throws {
        try Database.inMemory { db in
            try db.execute(sql: "CREATE VIRTUAL TABLE document USING fts4()")
            try db.validate(pattern: rawPattern, table: "document")
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
}

extension FTS3Pattern: DatabaseValueConvertible {
    /// The raw pattern, as text.
    public var databaseValue: DatabaseValue { rawPattern.databaseValue }

    /// Returns a pattern from a string in SQLite's syntax.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> FTS3Pattern? {
        String.fromDatabaseValue(dbValue).flatMap { try? FTS3Pattern(rawPattern: $0) }
    }
}

extension Database {
    /// Has SQLite parse a pattern, and throws its error if it is malformed.
    func validate(pattern: String, table: String) throws {
        let name = table.quotedDatabaseIdentifier
        do {
            _ = try Row.fetchOne(self, sql: "SELECT rowid FROM \(name) WHERE \(name) MATCH ?", arguments: [pattern])
        } catch let error as DatabaseError {
            // The statement is ours, and means nothing to the caller.
            throw error.executing(nil)
        }
    }
}
