/// The columns and constraints of a table that is created.
///
/// ```swift
/// try db.create(table: "player") { t in
///     t.autoIncrementedPrimaryKey("id")
///     t.column("name", .text).notNull()
///     t.belongsTo("team", onDelete: .cascade)
/// }
/// ```
///
/// Source: <https://www.sqlite.org/lang_createtable.html>.
public final class TableDefinition {
    enum Element {
        case column(ColumnDefinition)
        case foreignKey(ForeignKeyDefinition)
        case literal(SQL)
    }

    struct PrimaryKey {
        var columns: [String]
        var conflictResolution: Database.ConflictResolution?
    }

    struct ForeignKeyClause {
        var columns: [String]
        var table: String
        var destinationColumns: [String]?
        var rule: ForeignKeyRule
    }

    let name: String
    let options: TableOptions
    private(set) var elements: [Element] = []
    private(set) var primaryKey: PrimaryKey?
    private(set) var uniqueKeys: [PrimaryKey] = []
    private(set) var foreignKeys: [ForeignKeyClause] = []
    private(set) var checks: [SQL] = []
    private(set) var constraints: [SQL] = []

    /// The positions of the columns that the body of `primaryKey(onConflict:body:)` has defined.
    private(set) var keyElements: Range<Int>?
    private(set) var keyConflictResolution: Database.ConflictResolution?

    init(name: String, options: TableOptions) {
        self.name = name
        self.options = options
    }

    // MARK: - Columns

    /// Adds a column.
    ///
    /// - parameters:
    ///   - name: the name of the column.
    ///   - type: the declared type. Default: nil, for a column that stores values of any type unconverted.
    @discardableResult
    public func column(_ name: String, _ type: Database.ColumnType? = nil) -> ColumnDefinition {
        let column = ColumnDefinition(name: name, type: type)
        elements.append(.column(column))
        return column
    }

    /// Adds a column that is defined in SQL, as in CREATE TABLE.
    public func column(sql: String) {
        elements.append(.literal(SQL(sql: sql)))
    }

    /// Adds a column that is defined in SQL. Interpolated values become literals.
    public func column(literal: SQL) {
        elements.append(.literal(literal))
    }

    /// Adds columns that refer to the primary key of another table, and an index on them.
    ///
    /// With a table `team` or `teams` whose key is `id`, `belongsTo("team")` defines the column `teamId`.
    ///
    /// - parameters:
    ///   - name: the name of the reference.
    ///   - table: the name of the other table. Default: nil, for the table with the name of the reference, or with its
    ///     plural.
    ///   - deleteAction: the action when the row that is referred to is deleted. Default: nil, an error.
    ///   - updateAction: the action when the key that is referred to changes. Default: nil, an error.
    ///   - isDeferred: true to check the constraint at the end of the transaction. Default: false.
    ///   - indexed: true to create an index. Default: true.
    @discardableResult
    public func belongsTo(
        _ name: String, inTable table: String? = nil, onDelete deleteAction: Database.ForeignKeyAction? = nil,
        onUpdate updateAction: Database.ForeignKeyAction? = nil, deferred isDeferred: Bool = false,
        indexed: Bool = true
    )
        -> ForeignKeyDefinition
    {
        let rule = ForeignKeyRule(deleteAction: deleteAction, updateAction: updateAction, isDeferred: isDeferred)
        let definition = ForeignKeyDefinition(name: name, table: table, rule: rule, isIndexed: indexed)
        elements.append(.foreignKey(definition))
        return definition
    }

    // MARK: - Keys

    /// Adds the column `id INTEGER PRIMARY KEY AUTOINCREMENT`: the rowid, which is never reused.
    ///
    /// Source: <https://www.sqlite.org/autoinc.html>.
    @discardableResult
    public func autoIncrementedPrimaryKey(
        _ name: String, onConflict conflictResolution: Database.ConflictResolution? = nil
    ) -> ColumnDefinition {
        column(name, .integer).primaryKey(onConflict: conflictResolution, autoincrement: true)
    }

    /// Adds a column that is the primary key and not null.
    @discardableResult
    public func primaryKey(
        _ name: String, _ type: Database.ColumnType, onConflict conflictResolution: Database.ConflictResolution? = nil
    )
        -> ColumnDefinition
    {
        let column = column(name, type).primaryKey(onConflict: conflictResolution)
        // INTEGER PRIMARY KEY is the rowid, where NULL requests a new one.
        return type == .integer ? column : column.notNull()
    }

    /// Makes columns the primary key. They can be NULL: see ``primaryKey(onConflict:body:)``.
    public func primaryKey(_ columns: [String], onConflict conflictResolution: Database.ConflictResolution? = nil) {
        requireNoPrimaryKey()
        primaryKey = PrimaryKey(columns: columns, conflictResolution: conflictResolution)
    }

    /// Makes the columns that `body` adds the primary key, and not null.
    ///
    /// ```swift
    /// t.primaryKey {
    ///     t.belongsTo("team")
    ///     t.column("number", .integer)
    /// }
    /// ```
    public func primaryKey(
        onConflict conflictResolution: Database.ConflictResolution? = nil, body: () throws -> Void
    ) rethrows {
        requireNoPrimaryKey()
        let start = elements.count
        try body()
        keyElements = start..<elements.count
        keyConflictResolution = conflictResolution
    }

    private func requireNoPrimaryKey() {
        if primaryKey != nil || keyElements != nil {
            fatalError("The table \(name) has a primary key already: define it once, with all its columns.")
        }
    }

    /// Refuses two rows with the same values in all of these columns.
    public func uniqueKey(_ columns: [String], onConflict conflictResolution: Database.ConflictResolution? = nil) {
        uniqueKeys.append(PrimaryKey(columns: columns, conflictResolution: conflictResolution))
    }

    /// Makes columns refer to a row of a table. <https://www.sqlite.org/foreignkeys.html>
    ///
    /// - parameters:
    ///   - columns: the columns of this table.
    ///   - table: the name of the other table.
    ///   - destinationColumns: the columns of the other table. Default: nil, for its primary key.
    ///   - deleteAction: the action when the row that is referred to is deleted. Default: nil, an error.
    ///   - updateAction: the action when the key that is referred to changes. Default: nil, an error.
    ///   - isDeferred: true to check the constraint at the end of the transaction. Default: false.
    public func foreignKey(
        _ columns: [String], references table: String, columns destinationColumns: [String]? = nil,
        onDelete deleteAction: Database.ForeignKeyAction? = nil,
        onUpdate updateAction: Database.ForeignKeyAction? = nil,
        deferred isDeferred: Bool = false
    ) {
        let rule = ForeignKeyRule(deleteAction: deleteAction, updateAction: updateAction, isDeferred: isDeferred)
        foreignKeys.append(
            ForeignKeyClause(columns: columns, table: table, destinationColumns: destinationColumns, rule: rule))
    }

    // MARK: - Other constraints

    /// Adds a `CHECK` constraint, which refuses rows that don't meet the condition.
    /// <https://www.sqlite.org/lang_createtable.html#ckconst>
    public func check(_ condition: some SQLSpecificExpressible) {
        checks.append(SQL(elements: [.expression(condition.sqlExpression)]))
    }

    @available(
        *, deprecated, message: "A condition is an expression, such as Column(\"score\") > 0, or SQL: check(sql:)."
    )
    /// Adds a `CHECK` constraint. Deprecated, because it accepts values that are not conditions.
    public func check(_ condition: some SQLExpressible) {
        checks.append(SQL(elements: [.expression(condition.sqlExpression)]))
    }

    /// Adds a `CHECK` constraint, which refuses rows that don't meet the condition.
    public func check(sql: String) {
        checks.append(SQL(sql: sql))
    }

    /// Adds a constraint that is defined in SQL.
    public func constraint(sql: String) {
        constraints.append(SQL(sql: sql))
    }

    /// Adds a constraint that is defined in SQL. Interpolated values become literals.
    public func constraint(literal: SQL) {
        constraints.append(literal)
    }
}
