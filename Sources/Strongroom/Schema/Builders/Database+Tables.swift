extension Database {
    // MARK: - Tables

    /// Creates a table with the columns that `body` defines.
    ///
    /// Source: <https://www.sqlite.org/lang_createtable.html>.
    ///
    /// - throws: the error that `body` throws; `SQLITE_ERROR` if the table exists and the options don't contain
    ///   `.ifNotExists`.
    public func create(table name: String, options: TableOptions = [], body: (TableDefinition) throws -> Void) throws {
        let definition = TableDefinition(name: name, options: options)
        try body(definition)
        for statement in try definition.statements(self) { try execute(sql: statement) }
    }

    /// Creates a table, with its options as arguments.
    @_disfavoredOverload
    public func create(
        table name: String, temporary: Bool = false, ifNotExists: Bool = false, withoutRowID: Bool = false,
        body: (TableDefinition) throws -> Void
    ) throws {
        let named: TableOptions = [
            withoutRowID ? .withoutRowID : [], ifNotExists ? .ifNotExists : [], temporary ? .temporary : [],
        ]
        try create(table: name, options: named, body: body)
    }

    /// Changes a table as `body` defines.
    ///
    /// Source: <https://www.sqlite.org/lang_altertable.html>.
    public func alter(table name: String, body: (TableAlteration) -> Void) throws {
        let alteration = TableAlteration(name: name)
        body(alteration)
        try alteration.run(self)
    }

    /// Renames a table, and all references to it in the schema.
    public func rename(table name: String, to newName: String) throws {
        try execute(sql: "ALTER TABLE \(name.quotedDatabaseIdentifier) RENAME TO \(newName.quotedDatabaseIdentifier)")
    }

    /// Removes a table and its rows. <https://www.sqlite.org/lang_droptable.html>
    public func drop(table name: String) throws {
        try execute(sql: "DROP TABLE \(name.quotedDatabaseIdentifier)")
    }

    // MARK: - Indexes

    /// Creates an index on columns.
    ///
    /// Source: <https://www.sqlite.org/lang_createindex.html>.
    ///
    /// - parameters:
    ///   - name: the name of the index.
    ///   - table: the name of the table.
    ///   - columns: the columns, in the order of the index.
    ///   - options: the options of the index. Default: none.
    ///   - condition: the condition that indexed rows meet. Default: nil, for all rows.
    ///     <https://www.sqlite.org/partialindex.html>
    public func create(
        index name: String, on table: String, columns: [String], options: IndexOptions = [],
        condition: (any SQLExpressible)? = nil
    ) throws {
        try create(index: name, on: table, items: columns.map(\.quotedDatabaseIdentifier), options, condition)
    }

    /// Creates an index on columns, with its options as arguments.
    @_disfavoredOverload
    public func create(
        index name: String, on table: String, columns: [String], unique: Bool = false, ifNotExists: Bool = false,
        condition: (any SQLExpressible)? = nil
    ) throws {
        let named: IndexOptions = [unique ? .unique : [], ifNotExists ? .ifNotExists : []]
        try create(index: name, on: table, columns: columns, options: named, condition: condition)
    }

    /// Creates an index on expressions. <https://www.sqlite.org/expridx.html>
    public func create(
        index name: String, on table: String, expressions: [any SQLExpressible], options: IndexOptions = [],
        condition: (any SQLExpressible)? = nil
    ) throws {
        let items = try expressions.map { try inlined($0.sqlExpression) }
        try create(index: name, on: table, items: items, options, condition)
    }

    /// Creates an index on columns, named after the table and the columns: `index_player_on_name_score`.
    public func create(
        indexOn table: String, columns: [String], options: IndexOptions = [],
        condition: (any SQLExpressible)? = nil
    ) throws {
        let name = IndexDefinition.defaultName(on: table, columns: columns)
        try create(index: name, on: table, columns: columns, options: options, condition: condition)
    }

    private func create(
        index name: String, on table: String, items: [String], _ options: IndexOptions,
        _ condition: (any SQLExpressible)?
    ) throws {
        let condition = try condition.map { try inlined($0.sqlExpression) }
        let definition = IndexDefinition(name: name, table: table, options: options, items: items, condition: condition)
        try execute(sql: definition.sql)
    }

    /// Removes an index. <https://www.sqlite.org/lang_dropindex.html>
    public func drop(index name: String) throws {
        try execute(sql: "DROP INDEX \(name.quotedDatabaseIdentifier)")
    }

    /// Removes the index on exactly these columns, whatever its name. Does nothing if there is none, or more than one.
    ///
    /// - throws: `SQLITE_ERROR` if there is no such table, and for the index of a constraint, which can't be removed.
    public func drop(indexOn table: String, columns: [String]) throws {
        let wanted = columns.map(\.foldedSQLName)
        let found = try indexes(on: table).filter { $0.columns.map(\.foldedSQLName) == wanted }
        if found.count == 1 { try drop(index: found[0].name) }
    }

    // MARK: - Views

    /// Creates a view of the rows of a request.
    ///
    /// Source: <https://www.sqlite.org/lang_createview.html>.
    ///
    /// - parameters:
    ///   - name: the name of the view.
    ///   - options: the options of the view. Default: none.
    ///   - columns: the names of the view's columns. Default: nil, those of the request.
    ///   - request: the request.
    public func create(
        view name: String, options: ViewOptions = [], columns: [String]? = nil, as request: any SQLSubqueryable
    ) throws {
        try create(
            view: name, options: options, columns: columns, asLiteral: SQL(elements: [.subquery(request.sqlSubquery)]))
    }

    /// Creates a view of the rows of a query in SQL. Interpolated values become literals.
    public func create(
        view name: String, options: ViewOptions = [], columns: [String]? = nil, asLiteral sqlLiteral: SQL
    ) throws {
        var sql = "CREATE "
        if options.contains(.temporary) { sql += "TEMPORARY " }
        sql += "VIEW "
        if options.contains(.ifNotExists) { sql += "IF NOT EXISTS " }
        sql += name.quotedDatabaseIdentifier
        if let columns { sql += " (\(Self.list(columns)))" }
        try execute(sql: "\(sql) AS \(inlined(sqlLiteral))")
    }

    /// Removes a view. <https://www.sqlite.org/lang_dropview.html>
    public func drop(view name: String) throws {
        try execute(sql: "DROP VIEW \(name.quotedDatabaseIdentifier)")
    }
}
