/// The FTS3 full-text engine, for databases that have such tables. Prefer ``FTS5`` for new ones.
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
    /// The treatment of accents. Source: <https://www.sqlite.org/fts3.html#tokenizer>.
    public enum Diacritics: Sendable {
        /// Accents are significant.
        case keep

        /// Accents are ignored, except for a few characters that older versions of SQLite do not handle.
        case removeLegacy

        /// Accents are ignored.
        case remove
    }

    /// Creates the module.
    public init() {}

    /// The name of the module in SQL: `fts3`.
    public var moduleName: String { "fts3" }

    /// Returns an empty definition for the closure that creates a table.
    public func makeTableDefinition(configuration: VirtualTableConfiguration) -> FTS3TableDefinition {
        FTS3TableDefinition()
    }

    /// Returns the arguments of `CREATE VIRTUAL TABLE`.
    public func moduleArguments(for definition: FTS3TableDefinition, in db: Database) -> [String] {
        definition.columns.map(\.moduleArgument) + [definition.tokenizer?.moduleArgument].compactMap { $0 }
    }

    /// Does nothing: the table is complete.
    public func database(_ db: Database, didCreate tableName: String, using definition: FTS3TableDefinition) {}

    /// Returns the tokens of a text, as a tokenizer splits it.
    ///
    /// Source: <https://www.sqlite.org/fts3.html#querying_tokenizers>.
    public static func tokenize(
        _ string: String, withTokenizer tokenizer: FTS3TokenizerDescriptor = .simple
    ) throws -> [String] {
        try Database.inMemory { db in
            let arguments = ([tokenizer.name] + tokenizer.arguments).map(\.quotedDatabaseIdentifier)
            try db.execute(sql: "CREATE VIRTUAL TABLE tokens USING fts3tokenize(\(arguments.joined(separator: ", ")))")
            return try String.fetchAll(db, sql: "SELECT token FROM tokens WHERE input = ?", arguments: [string])
        }
    }
}

/// The columns and the tokenizer of an FTS3 table.
public final class FTS3TableDefinition {
    var columns: [String] = []

    /// The tokenizer; nil for ``FTS3TokenizerDescriptor/simple``.
    public var tokenizer: FTS3TokenizerDescriptor?

    /// Adds a column. A table without columns gets one named `content`.
    public func column(_ name: String) {
        columns.append(name)
    }
}
