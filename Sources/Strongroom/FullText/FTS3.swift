/// The FTS3 full-text engine: for databases that have such tables. New ones are better off with ``FTS5``.
///
/// ```swift
/// try db.create(virtualTable: "document", using: FTS3()) { t in
///     t.tokenizer = .porter
///     t.column("body")
/// }
/// ```
///
/// Source: <https://www.sqlite.org/fts3.html>.
public struct FTS3: VirtualTableModule {
    /// What becomes of accents. <https://www.sqlite.org/fts3.html#tokenizer>
    public enum Diacritics: Sendable {
        /// Accents count.
        case keep

        /// Accents don't count, but for those of a few characters that older versions of SQLite left alone.
        case removeLegacy

        /// Accents don't count.
        case remove
    }

    public init() {}

    public var moduleName: String { "fts3" }

    public func makeTableDefinition(configuration: VirtualTableConfiguration) -> FTS3TableDefinition {
        FTS3TableDefinition()
    }

    public func moduleArguments(for definition: FTS3TableDefinition, in db: Database) -> [String] {
        definition.columns.map(\.moduleArgument) + [definition.tokenizer?.moduleArgument].compactMap { $0 }
    }

    public func database(_ db: Database, didCreate tableName: String, using definition: FTS3TableDefinition) {}

    /// The tokens of a text, as `tokenizer` makes them.
    ///
    /// Source: <https://www.sqlite.org/fts3.html#querying_tokenizers>.
    public static func tokenize(
        _ string: String, withTokenizer tokenizer: FTS3TokenizerDescriptor = .simple) throws -> [String]
    {
        try Database.inMemory { db in
            let arguments = ([tokenizer.name] + tokenizer.arguments).map(\.quotedDatabaseIdentifier)
            try db.execute(sql: "CREATE VIRTUAL TABLE tokens USING fts3tokenize(\(arguments.joined(separator: ", ")))")
            return try String.fetchAll(db, sql: "SELECT token FROM tokens WHERE input = ?", arguments: [string])
        }
    }
}

/// What an FTS3 table is made of.
public final class FTS3TableDefinition {
    var columns: [String] = []

    /// How text is cut into tokens; nil for ``FTS3TokenizerDescriptor/simple``.
    public var tokenizer: FTS3TokenizerDescriptor?

    /// Adds a column. A table without any gets one that is called `content`.
    public func column(_ name: String) {
        columns.append(name)
    }
}
