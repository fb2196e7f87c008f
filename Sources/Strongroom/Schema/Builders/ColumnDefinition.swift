/// A column of a table that is created or altered.
///
/// ```swift
/// t.column("name", .text).notNull().collate(.nocase)
/// ```
///
/// Source: <https://www.sqlite.org/lang_createtable.html#column_definitions>.
public final class ColumnDefinition {
    /// The time at which a generated column is computed. <https://www.sqlite.org/gencol.html>
    public enum GeneratedColumnQualification: Sendable {
        /// At each read.
        case virtual

        /// At each write.
        case stored
    }

    /// The use of an index for the column.
    enum Indexing {
        case none
        case index
        case unique(Database.ConflictResolution?)
    }

    struct PrimaryKey {
        var conflictResolution: Database.ConflictResolution?
        var autoincrement = false
    }

    struct NotNull {
        var conflictResolution: Database.ConflictResolution?
    }

    struct Reference {
        var table: String
        var column: String?
        var rule: ForeignKeyRule
    }

    let name: String
    let type: Database.ColumnType?
    private(set) var indexing = Indexing.none
    private var primaryKey: PrimaryKey?
    private var notNull: NotNull?
    private var checks: [SQL] = []
    private var defaultValue: SQL?
    private var collation: String?
    private var references: [Reference] = []
    private var generation: (expression: SQL, qualification: GeneratedColumnQualification)?

    init(name: String, type: Database.ColumnType?) {
        self.name = name
        self.type = type
    }

    /// True if the column is its table's primary key.
    var isPrimaryKey: Bool { primaryKey != nil }

    // MARK: - Keys

    /// Makes the column the primary key. <https://www.sqlite.org/lang_createtable.html#primkeyconst>
    ///
    /// - parameters:
    ///   - conflictResolution: the resolution of conflicts. Default: nil, SQLite's own.
    ///   - autoincrement: true to never reuse rowids. <https://www.sqlite.org/autoinc.html> Default: false.
    @discardableResult
    public func primaryKey(
        onConflict conflictResolution: Database.ConflictResolution? = nil, autoincrement: Bool = false
    ) -> Self {
        primaryKey = PrimaryKey(conflictResolution: conflictResolution, autoincrement: autoincrement)
        return self
    }

    /// Refuses equal values in two rows. NULLs are different from each other.
    @discardableResult
    public func unique(onConflict conflictResolution: Database.ConflictResolution? = nil) -> Self {
        indexing = .unique(conflictResolution)
        return self
    }

    /// Creates an index on the column, named after the table and the column: `player_on_name`.
    ///
    /// A unique column already has an index.
    @discardableResult
    public func indexed() -> Self {
        if case .none = indexing { indexing = .index }
        return self
    }

    /// Makes the column refer to a row of a table. <https://www.sqlite.org/foreignkeys.html>
    ///
    /// - parameters:
    ///   - table: the name of the table.
    ///   - column: the column that is referred to. Default: the primary key of the table.
    ///   - deleteAction: the action when the row that is referred to is deleted. Default: nil, an error.
    ///   - updateAction: the action when the key that is referred to changes. Default: nil, an error.
    ///   - isDeferred: true to check the constraint at the end of the transaction. Default: false.
    @discardableResult
    public func references(
        _ table: String, column: String? = nil, onDelete deleteAction: Database.ForeignKeyAction? = nil,
        onUpdate updateAction: Database.ForeignKeyAction? = nil, deferred isDeferred: Bool = false
    ) -> Self {
        let rule = ForeignKeyRule(deleteAction: deleteAction, updateAction: updateAction, isDeferred: isDeferred)
        references.append(Reference(table: table, column: column, rule: rule))
        return self
    }

    // MARK: - Values

    /// Refuses NULL.
    @discardableResult
    public func notNull(onConflict conflictResolution: Database.ConflictResolution? = nil) -> Self {
        notNull = NotNull(conflictResolution: conflictResolution)
        return self
    }

    /// Refuses rows that don't meet the condition on this column.
    /// <https://www.sqlite.org/lang_createtable.html#ckconst>
    @discardableResult
    public func check(_ condition: (Column) -> any SQLExpressible) -> Self {
        checks.append(SQL(elements: [.expression(condition(Column(name)).sqlExpression)]))
        return self
    }

    /// Adds a `CHECK` constraint, which refuses rows that don't meet the condition.
    @discardableResult
    public func check(sql: String) -> Self {
        checks.append(SQL(sql: sql))
        return self
    }

    /// Sets the value of the column in rows that are inserted without one.
    @discardableResult
    public func defaults(to value: some DatabaseValueConvertible) -> Self {
        defaultValue = SQL(sql: value.databaseValue.sqlLiteral)
        return self
    }

    /// Sets the value of the column in rows that are inserted without one: `CURRENT_TIMESTAMP`, or an expression in
    /// parentheses.
    ///
    /// Source: <https://www.sqlite.org/lang_createtable.html#dfltval>.
    @discardableResult
    public func defaults(sql: String) -> Self {
        defaultValue = SQL(sql: sql)
        return self
    }

    /// Compares text with a collation. <https://www.sqlite.org/datatype3.html#collation>
    @discardableResult
    public func collate(_ collation: Database.CollationName) -> Self {
        self.collation = collation.rawValue
        return self
    }

    /// Compares text with a collation, which each connection to the database must have.
    @discardableResult
    public func collate(_ collation: DatabaseCollation) -> Self {
        self.collation = collation.name
        return self
    }

    /// Computes the column from others. <https://www.sqlite.org/gencol.html>
    ///
    /// - parameters:
    ///   - sql: the SQL of the expression.
    ///   - qualification: the time of the computation. Default: `.virtual`.
    @discardableResult
    public func generatedAs(
        sql: String, _ qualification: GeneratedColumnQualification = .virtual
    ) -> Self {
        generation = (SQL(sql: sql), qualification)
        return self
    }

    /// Computes the column from others.
    ///
    /// - parameters:
    ///   - expression: the expression.
    ///   - qualification: the time of the computation. Default: `.virtual`.
    @discardableResult
    public func generatedAs(
        _ expression: some SQLExpressible, _ qualification: GeneratedColumnQualification = .virtual
    ) -> Self {
        generation = (SQL(elements: [.expression(expression.sqlExpression)]), qualification)
        return self
    }

    // MARK: - SQL

    /// Returns the definition for CREATE TABLE and ALTER TABLE.
    ///
    /// - parameter isInKey: true if the column is a part of a primary key that the table declares separately. SQLite
    ///   allows NULL there, for compatibility with its early versions.
    func sql(_ db: Database, in keys: ReferencedKeys, isInKey: Bool = false) throws -> String {
        var parts = [name.quotedDatabaseIdentifier]
        if let type { parts.append(type.rawValue) }
        if let primaryKey {
            parts.append("PRIMARY KEY" + primaryKey.conflictResolution.conflictClause)
            if primaryKey.autoincrement { parts.append("AUTOINCREMENT") }
        }
        if let notNull {
            parts.append("NOT NULL" + notNull.conflictResolution.briefConflictClause)
        } else if isInKey {
            parts.append("NOT NULL")
        }
        if case .unique(let conflictResolution) = indexing {
            parts.append("UNIQUE" + conflictResolution.briefConflictClause)
        }
        for check in checks { try parts.append("CHECK (\(db.inlined(check)))") }
        if let defaultValue { try parts.append("DEFAULT \(db.inlined(defaultValue))") }
        if let collation { parts.append("COLLATE \(collation.sqlCollationName)") }
        for reference in references {
            let columns = try reference.column.map { [$0] } ?? keys.columns(of: reference.table).map(\.name)
            parts.append(reference.rule.sql(table: reference.table, columns: columns))
        }
        if let generation {
            let expression = try db.inlined(generation.expression)
            parts.append(
                "GENERATED ALWAYS AS (\(expression)) \(generation.qualification == .stored ? "STORED" : "VIRTUAL")")
        }
        return parts.joined(separator: " ")
    }
}

extension Database.ConflictResolution? {
    /// ` ON CONFLICT REPLACE`, or nothing.
    var conflictClause: String {
        map { " ON CONFLICT \($0.rawValue)" } ?? ""
    }

    /// ` ON CONFLICT REPLACE`, or nothing for nil and for SQLite's default.
    fileprivate var briefConflictClause: String {
        self == .abort ? "" : conflictClause
    }
}
