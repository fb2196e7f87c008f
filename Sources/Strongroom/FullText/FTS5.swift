/// The FTS5 full-text engine.
///
/// ```swift
/// try db.create(virtualTable: "document", using: FTS5()) { t in
///     t.tokenizer = .porter(wrapping: .unicode61())
///     t.column("title")
///     t.column("body")
/// }
/// ```
///
/// Source: <https://www.sqlite.org/fts5.html>.
public struct FTS5: VirtualTableModule {
    /// The treatment of accents. Source: <https://www.sqlite.org/fts5.html#unicode61_tokenizer>.
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

    /// The name of the module in SQL: `fts5`.
    public var moduleName: String { "fts5" }

    /// Returns an empty definition for the closure that creates a table.
    public func makeTableDefinition(configuration: VirtualTableConfiguration) -> FTS5TableDefinition {
        FTS5TableDefinition(configuration)
    }

    /// Returns the arguments of `CREATE VIRTUAL TABLE`.
    public func moduleArguments(for definition: FTS5TableDefinition, in db: Database) throws -> [String] {
        guard !definition.columns.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "an FTS5 table has at least one column: add it with t.column(_:)")
        }
        var arguments = definition.columns.map { $0.name.moduleArgument + ($0.isIndexed ? "" : " UNINDEXED") }
        func append(_ option: String, _ value: String?) {
            if let value { arguments.append("\(option)=\(value)") }
        }
        append("tokenize", definition.tokenizer?.moduleArgument)
        append("content", definition.content?.sqlStringLiteral)
        append("content_rowid", try contentRowID(of: definition, db)?.sqlStringLiteral)
        append("prefix", definition.prefixes?.sorted().map(String.init).joined(separator: " ").sqlStringLiteral)
        append("columnSize", definition.columnSize.map(String.init))
        append("detail", definition.detail)
        return arguments
    }

    private func contentRowID(of definition: FTS5TableDefinition, _ db: Database) throws -> String? {
        if let name = definition.contentRowID { return name }
        guard case .synchronized(let contentTable) = definition.source else { return nil }
        let name = try db.rowIDName(ofContentTable: contentTable)
        return name == "rowid" ? nil : name
    }

    /// Creates the triggers of a table that is synchronized with another one, and indexes its rows.
    public func database(_ db: Database, didCreate tableName: String, using definition: FTS5TableDefinition) throws {
        guard case .synchronized(let contentTable) = definition.source else { return }
        let columns = definition.columns.map(\.name)
        let sync = FullTextSynchronization(tableName: tableName, contentTable: contentTable, columns: columns)
        try sync.install(sync.fts5Triggers(db), db, ifNotExists: definition.configuration.ifNotExists)
    }
}

/// The columns and the options of an FTS5 table.
public final class FTS5TableDefinition {
    let configuration: VirtualTableConfiguration
    var columns: [FTS5ColumnDefinition] = []
    var source: FullTextSource?

    init(_ configuration: VirtualTableConfiguration) {
        self.configuration = configuration
    }

    /// The tokenizer; nil for `unicode61`.
    public var tokenizer: FTS5TokenizerDescriptor?

    /// The table or view that has the text, empty for an index without text; nil when the FTS table keeps the text
    /// itself.
    ///
    /// The program must keep the index up to date. ``synchronize(withTable:)`` does so.
    /// <https://www.sqlite.org/fts5.html#external_content_and_contentless_tables>
    public var content: String? {
        get { source?.name }
        set { source = newValue.map(FullTextSource.named) }
    }

    /// The name of the rowid in the content table; nil for `rowid`, or the column that ``synchronize(withTable:)``
    /// finds.
    public var contentRowID: String?

    /// The lengths of the prefixes that are indexed, in characters. <https://www.sqlite.org/fts5.html#prefix_indexes>
    public var prefixes: Set<Int>?

    /// 0 to store no sizes of texts. Ranking then computes them at each query.
    /// <https://www.sqlite.org/fts5.html#the_columnsize_option>
    public var columnSize: Int?

    /// The precision of the positions in the index: `"full"`, `"column"` or `"none"`.
    ///
    /// <https://www.sqlite.org/fts5.html#the_detail_option>
    public var detail: String?

    /// Adds a column.
    @discardableResult
    public func column(_ name: String) -> FTS5ColumnDefinition {
        let column = FTS5ColumnDefinition(name)
        columns.append(column)
        return column
    }

    /// Makes the table an index of the text in another table, whose columns it shares, and keeps it up to date with
    /// triggers.
    ///
    /// Drop the triggers, with ``Database/dropFTS5SynchronizationTriggers(forTable:)``, together with the table.
    public func synchronize(withTable tableName: String) {
        source = .synchronized(tableName)
    }
}

/// A column of an FTS5 table.
public final class FTS5ColumnDefinition {
    let name: String
    var isIndexed = true

    init(_ name: String) {
        self.name = name
    }

    /// Excludes the column from the index. Source: <https://www.sqlite.org/fts5.html#the_unindexed_column_option>.
    @discardableResult
    public func notIndexed() -> Self {
        isIndexed = false
        return self
    }
}

extension Database {
    /// Drops the triggers that keep an FTS5 table up to date. See ``FTS5TableDefinition/synchronize(withTable:)``.
    ///
    /// - parameter tableName: the name of the FTS5 table. The table need not exist any more.
    public func dropFTS5SynchronizationTriggers(forTable tableName: String) throws {
        try dropTriggers(ofTable: tableName, ["ai", "ad", "au"])
    }
}

extension String {
    /// The string as a literal of SQL.
    var sqlStringLiteral: String {
        "'" + replacing(ascii: "'", with: "''") + "'"
    }
}
