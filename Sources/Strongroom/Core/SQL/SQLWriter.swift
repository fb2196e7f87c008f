/// The connection that SQL is written for, as far as values and expressions need it. `Database` alone adopts it.
protocol SQLDestination: AnyObject {
    /// The maximum number of arguments of a statement.
    var maximumStatementArgumentCount: Int { get }
}

/// A writer of the text and the arguments of a statement.
struct SQLWriter {
    /// The connection of the SQL. Names and keys depend on its schema.
    let destination: any SQLDestination

    private(set) var sql = ""
    private(set) var arguments = StatementArguments()

    /// The tables that expressions can use here, innermost last.
    private var scopes: [Scope] = []

    /// The table of columns without an alias.
    private var current: Scope?

    /// The number of surrounding queries, including this one.
    private var depth = 0

    /// The tables that queries read, once for each query.
    private(set) var tablesRead: [String] = []

    /// The SQL that the program has written, which may read other tables.
    private(set) var literals: [String] = []

    private struct Scope {
        let source: SQLSource
        let name: String?
        let depth: Int

        /// The qualifier of column names. Nil in a query that reads one table under its own name.
        let qualifier: String?

        init(_ source: SQLSource, name: String?, depth: Int) {
            self.source = source
            self.name = name
            self.depth = depth
            qualifier = name?.quotedDatabaseIdentifier
        }

        /// The name that qualifies the columns in SQL.
        var visibleName: String { (name ?? source.tableName).foldedSQLName }
    }

    init(destination: any SQLDestination) {
        self.destination = destination
    }

    mutating func append(_ text: String) {
        sql += text
    }

    /// Appends a value as an argument. NULL is written as text: it is not a secret, and improves SQLite's plan.
    mutating func append(_ value: DatabaseValue) {
        if value.isNull {
            sql += "NULL"
        } else {
            sql += "?"
            arguments.values.append(value)
        }
    }

    /// Appends SQL of the program, with its arguments.
    mutating func append(literal text: String, arguments: StatementArguments) {
        literals.append(text)
        append(text, arguments: arguments)
    }

    mutating func append(_ text: String, arguments: StatementArguments) {
        sql += text
        if !arguments.isEmpty { self.arguments += arguments }
    }

    mutating func append(column name: String) {
        if let qualifier = current?.qualifier {
            sql += qualifier
            sql += "."
        }
        sql += name.quotedDatabaseIdentifier
    }

    /// Appends the hidden column of a full-text table, which needs no qualifier if the table has no alias.
    mutating func append(wholeRowOf tableName: String) {
        let name = tableName.quotedDatabaseIdentifier
        if let qualifier = current?.qualifier, qualifier != name { sql += qualifier + "." }
        sql += name
    }

    /// Appends all columns of the innermost table.
    mutating func appendAllColumns() {
        sql += current?.qualifier.map { $0 + ".*" } ?? "*"
    }

    mutating func append<Element>(
        _ elements: [Element], separator: String, _ write: (Element, inout SQLWriter) throws -> Void
    ) rethrows {
        for (index, element) in elements.enumerated() {
            if index > 0 { sql += separator }
            try write(element, &self)
        }
    }

    // MARK: - Tables

    /// Writes SQL that can use the columns of `source`.
    mutating func withSource<T>(_ source: SQLSource, _ write: (inout SQLWriter) throws -> T) rethrows -> T {
        try withTables([NamedTable(source)], write)
    }

    /// Writes SQL that can use the columns of these tables. Those of the first one need no alias.
    mutating func withTables<T>(_ tables: [NamedTable], _ write: (inout SQLWriter) throws -> T) rethrows -> T {
        let outer = current
        depth += 1
        for table in tables { note(readOf: table.source.tableName) }
        scopes += tables.map { Scope($0.source, name: $0.name, depth: depth) }
        current = scopes[scopes.count - tables.count]
        defer {
            scopes.removeLast(tables.count)
            depth -= 1
            current = outer
        }
        return try write(&self)
    }

    mutating func note(readOf tableName: String) {
        tablesRead.append(tableName)
    }

    /// Writes a query that is SQL text: columns without an alias are those of the tables in it.
    mutating func withUnknownTables(_ write: (inout SQLWriter) throws -> Void) rethrows {
        let outer = current
        current = nil
        depth += 1
        defer {
            depth -= 1
            current = outer
        }
        try write(&self)
    }

    /// The table whose columns need no alias.
    var innermostSource: SQLSource? { current?.source }

    /// Writes an expression whose columns are those of one of the tables.
    mutating func within(_ table: NamedTable, _ write: (inout SQLWriter) throws -> Void) rethrows {
        let outer = current
        current = Scope(table.source, name: table.name, depth: depth)
        defer { current = outer }
        try write(&self)
    }

    /// Writes an expression whose columns are those of the aliased table.
    mutating func qualified(by alias: TableAliasBase, _ write: (inout SQLWriter) throws -> Void) throws {
        let outer = current
        current = try scope(of: alias)
        defer { current = outer }
        try write(&self)
    }

    private func scope(of alias: TableAliasBase) throws -> Scope {
        guard let scope = scopes.last(where: { $0.source.aliases.contains(alias) }) else {
            guard let name = alias.name else {
                throw DatabaseError(
                    resultCode: .SQLITE_MISUSE,
                    message: """
                        unknown table alias: use it with aliased(_:) in the same request, \
                        or name it: TableAlias(name: …)
                        """)
            }
            let source = alias.tableName.map { SQLSource(tableName: $0) } ?? current?.source
            return Scope(source ?? SQLSource(tableName: name), name: name, depth: depth)
        }
        if scope.depth == depth || scope.name != nil && scope.source.name != nil { return scope }
        guard !scopes.contains(where: { $0.depth > scope.depth && $0.visibleName == scope.visibleName }) else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: """
                    ambiguous table alias: a subquery reads \(scope.source.tableName), too. \
                    Name the alias: TableAlias(name: …)
                    """)
        }
        return Scope(scope.source, name: scope.name ?? scope.source.tableName, depth: depth)
    }

    /// Returns the table of an alias. Nil if there is none here.
    func source(of alias: TableAliasBase) -> SQLSource? {
        scopes.last { $0.source.aliases.contains(alias) }?.source
    }
}
