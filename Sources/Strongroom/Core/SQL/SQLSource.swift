/// A table that a query reads, under its own name or another.
struct SQLSource: Sendable {
    var tableName: String
    var aliases: [TableAliasBase] = []

    /// The name that an alias gives.
    var name: String? { aliases.last { $0.name != nil }?.name }
}

/// A table and what calls its columns in one query: nothing where there is no other table to tell it from.
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
