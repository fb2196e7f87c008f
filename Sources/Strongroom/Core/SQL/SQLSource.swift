/// A table that a query reads, under its own name or an alias.
struct SQLSource: Sendable {
    var tableName: String
    var aliases: [TableAliasBase] = []

    /// The name of the alias. Nil without one.
    var name: String? { aliases.last { $0.name != nil }?.name }
}

/// A table and the qualifier of its columns in one query. No qualifier is necessary for a single table.
struct NamedTable {
    let source: SQLSource
    let name: String?

    init(_ source: SQLSource) {
        self.init(source, name: source.name)
    }

    init(_ source: SQLSource, name: String?) {
        self.source = source
        self.name = name
    }

    func write(to writer: inout SQLWriter) {
        writer.append(source.tableName.quotedDatabaseIdentifier)
        guard let name, name != source.tableName else { return }
        writer.append(" " + name.quotedDatabaseIdentifier)
    }
}
