/// The FTS4 full-text engine.
///
/// ```swift
/// try db.create(virtualTable: "document", using: FTS4()) { t in
///     t.tokenizer = .unicode61()
///     t.column("title")
///     t.column("body")
/// }
/// ```
///
/// Source: <https://www.sqlite.org/fts3.html>.
public struct FTS4: VirtualTableModule {
    /// Creates the module.
    public init() {}

    /// The name of the module in SQL: `fts4`.
    public var moduleName: String { "fts4" }

    /// Returns an empty definition for the closure that creates a table.
    public func makeTableDefinition(configuration: VirtualTableConfiguration) -> FTS4TableDefinition {
        FTS4TableDefinition(configuration)
    }

    /// Returns the arguments of `CREATE VIRTUAL TABLE`.
    public func moduleArguments(for definition: FTS4TableDefinition, in db: Database) -> [String] {
        var arguments: [String] = []
        for column in definition.columns {
            let name = column.name.moduleArgument
            switch column.role {
            case .indexed: arguments.append(name)
            case .notIndexed: arguments += [name, "notindexed=\(name)"]
            case .languageID: arguments.append("languageid=\(column.name.quotedDatabaseIdentifier)")
            }
        }
        if let tokenizer = definition.tokenizer { arguments.append(tokenizer.moduleArgument) }
        func append(_ option: String, _ value: String?) {
            if let value { arguments.append("\(option)=\(value.quotedDatabaseIdentifier)") }
        }
        append("content", definition.content)
        append("compress", definition.compress)
        append("uncompress", definition.uncompress)
        append("matchinfo", definition.matchinfo)
        append("prefix", definition.prefixes?.sorted().map(String.init).joined(separator: ","))
        return arguments
    }

    /// Creates the triggers of a table that is synchronized with another one, and indexes its rows.
    public func database(_ db: Database, didCreate tableName: String, using definition: FTS4TableDefinition) throws {
        guard case .synchronized(let contentTable) = definition.source else { return }
        let columns = definition.columns.map(\.name)
        let sync = FullTextSynchronization(tableName: tableName, contentTable: contentTable, columns: columns)
        try sync.install(sync.fts4Triggers(db), db, ifNotExists: definition.configuration.ifNotExists)
    }
}

/// The columns and the options of an FTS4 table.
public final class FTS4TableDefinition {
    let configuration: VirtualTableConfiguration
    var columns: [FTS4ColumnDefinition] = []
    var source: FullTextSource?

    init(_ configuration: VirtualTableConfiguration) {
        self.configuration = configuration
    }

    /// The tokenizer; nil for ``FTS3TokenizerDescriptor/simple``.
    public var tokenizer: FTS3TokenizerDescriptor?

    /// The table or view that has the text, empty for an index without text; nil when the FTS table keeps the text
    /// itself.
    ///
    /// The program must keep the index up to date. ``synchronize(withTable:)`` does so.
    /// <https://www.sqlite.org/fts3.html#_external_content_fts4_tables_>
    public var content: String? {
        get { source?.name }
        set { source = newValue.map(FullTextSource.named) }
    }

    /// The SQL function that packs text before it is stored.
    /// <https://www.sqlite.org/fts3.html#the_compress_and_uncompress_options>
    public var compress: String?

    /// The SQL function that undoes ``compress``.
    public var uncompress: String?

    /// `"fts3"` to store less, with fewer results of `matchinfo()`.
    /// <https://www.sqlite.org/fts3.html#the_matchinfo_option>
    public var matchinfo: String?

    /// The lengths of the prefixes that are indexed, in bytes. <https://www.sqlite.org/fts3.html#the_prefix_option>
    public var prefixes: Set<Int>?

    /// Adds a column. A table without columns gets one named `content`.
    @discardableResult
    public func column(_ name: String) -> FTS4ColumnDefinition {
        let column = FTS4ColumnDefinition(name)
        columns.append(column)
        return column
    }

    /// Makes the table an index of the text in another table, whose columns it shares, and keeps it up to date with
    /// triggers.
    ///
    /// Drop the triggers, with ``Database/dropFTS4SynchronizationTriggers(forTable:)``, together with the table.
    public func synchronize(withTable tableName: String) {
        source = .synchronized(tableName)
    }
}

/// A column of an FTS4 table.
public final class FTS4ColumnDefinition {
    enum Role {
        case indexed
        case notIndexed
        case languageID
    }

    let name: String
    var role = Role.indexed

    init(_ name: String) {
        self.name = name
    }

    /// Excludes the column from the index. Source: <https://www.sqlite.org/fts3.html#the_notindexed_option>.
    @discardableResult
    public func notIndexed() -> Self {
        role = .notIndexed
        return self
    }

    /// Makes this the column with the language of the row.
    /// <https://www.sqlite.org/fts3.html#the_languageid_option>
    @discardableResult
    public func asLanguageId() -> Self {
        role = .languageID
        return self
    }
}

extension Database {
    /// Drops the triggers that keep an FTS4 table up to date. See ``FTS4TableDefinition/synchronize(withTable:)``.
    ///
    /// - parameter tableName: the name of the FTS4 table. The table need not exist any more.
    public func dropFTS4SynchronizationTriggers(forTable tableName: String) throws {
        try dropTriggers(ofTable: tableName, ["bu", "bd", "au", "ai"])
    }
}
