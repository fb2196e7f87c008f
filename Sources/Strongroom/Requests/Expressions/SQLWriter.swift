/// Collects the text and the arguments of a statement.
struct SQLWriter {
    /// The connection that the SQL is for: names and keys depend on its schema.
    let db: Database

    private(set) var sql = ""
    private(set) var arguments = StatementArguments()

    /// The tables that are open to expressions here, the innermost last.
    private var scopes: [Scope] = []

    /// What stands before the names of columns; nothing in a query that reads one table and gives it no other name.
    private var qualifier: String?

    private struct Scope {
        let source: SQLSource
        let qualifier: String?
    }

    init(_ db: Database) {
        self.db = db
    }

    mutating func append(_ text: String) {
        sql += text
    }

    /// A value becomes an argument, never text. NULL is no secret, and SQLite plans better when it sees it.
    mutating func append(_ value: DatabaseValue) {
        if value.isNull {
            sql += "NULL"
        } else {
            sql += "?"
            arguments.values.append(value)
        }
    }

    /// An expression in a literal: the SQL around it, and so the statement, stays the same when a value becomes nil.
    mutating func append(interpolated expression: SQLExpression) throws {
        guard expression.isNull else { return try expression.write(to: &self) }
        append("?", arguments: [nil])
    }

    mutating func append(_ text: String, arguments: StatementArguments) {
        sql += text
        if !arguments.isEmpty { self.arguments += arguments }
    }

    mutating func append(column name: String) {
        if let qualifier {
            sql += qualifier
            sql += "."
        }
        sql += name.quotedDatabaseIdentifier
    }

    /// All columns of the innermost table.
    mutating func appendAllColumns() {
        sql += qualifier.map { $0 + ".*" } ?? "*"
    }

    mutating func append<Element>(
        _ elements: [Element], separator: String, _ write: (Element, inout SQLWriter) throws -> Void) rethrows
    {
        for (index, element) in elements.enumerated() {
            if index > 0 { sql += separator }
            try write(element, &self)
        }
    }

    // MARK: - Tables

    /// Writes what can name the columns of `source`.
    mutating func withSource<T>(_ source: SQLSource, _ write: (inout SQLWriter) throws -> T) rethrows -> T {
        let outer = qualifier
        qualifier = source.alias?.name?.quotedDatabaseIdentifier
        scopes.append(Scope(source: source, qualifier: qualifier))
        defer {
            scopes.removeLast()
            qualifier = outer
        }
        return try write(&self)
    }

    /// The table that the innermost query reads.
    var innermostSource: SQLSource? { scopes.last?.source }

    /// Writes an expression whose columns are those of the aliased table.
    mutating func qualified(by alias: TableAliasBase, _ write: (inout SQLWriter) throws -> Void) throws {
        let outer = qualifier
        qualifier = try qualifier(of: alias)
        defer { qualifier = outer }
        try write(&self)
    }

    private func qualifier(of alias: TableAliasBase) throws -> String? {
        if let position = scopes.lastIndex(where: { $0.source.alias == alias }) {
            let scope = scopes[position]
            if scope.qualifier != nil || position == scopes.count - 1 { return scope.qualifier }
            let name = scope.source.tableName
            guard !scopes[(position + 1)...].contains(where: { $0.source.answers(to: name) }) else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: "ambiguous table alias: a subquery reads \(name), too. Name the alias: TableAlias(name: …)")
            }
            return name.quotedDatabaseIdentifier
        }
        guard let name = alias.name else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: "unknown table alias: use it with aliased(_:) in the same request, or name it: TableAlias(name: …)")
        }
        return name.quotedDatabaseIdentifier
    }

    /// Whether an aliased row is there: its key is not NULL.
    mutating func appendExistence(of alias: TableAliasBase) throws {
        guard let source = scopes.last(where: { $0.source.alias == alias })?.source else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE, message: "unknown table alias: use it with aliased(_:) in the same request")
        }
        let key = try db.primaryKey(source.tableName).columns[0]
        try qualified(by: alias) { $0.append(column: key) }
        sql += " IS NOT NULL"
    }
}
