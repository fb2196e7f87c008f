/// The actions of a foreign key, and the time of its check.
struct ForeignKeyRule {
    var deleteAction: Database.ForeignKeyAction?
    var updateAction: Database.ForeignKeyAction?
    var isDeferred = false

    func sql(table: String, columns: [String]) -> String {
        var sql = "REFERENCES \(table.quotedDatabaseIdentifier)(\(Database.list(columns)))"
        if let deleteAction { sql += " ON DELETE \(deleteAction.rawValue)" }
        if let updateAction { sql += " ON UPDATE \(updateAction.rawValue)" }
        if isDeferred { sql += " DEFERRABLE INITIALLY DEFERRED" }
        return sql
    }
}

/// The columns that refer to the primary key of another table.
///
/// See ``TableDefinition/belongsTo(_:inTable:onDelete:onUpdate:deferred:indexed:)``.
public final class ForeignKeyDefinition {
    let name: String
    let table: String?
    let rule: ForeignKeyRule
    let isIndexed: Bool
    private(set) var notNull: ColumnDefinition.NotNull?
    private(set) var isUnique = false

    init(name: String, table: String?, rule: ForeignKeyRule, isIndexed: Bool) {
        self.name = name
        self.table = table
        self.rule = rule
        self.isIndexed = isIndexed
    }

    /// Refuses rows without a reference.
    @discardableResult
    public func notNull(onConflict conflictResolution: Database.ConflictResolution? = nil) -> Self {
        notNull = ColumnDefinition.NotNull(conflictResolution: conflictResolution)
        return self
    }

    /// Refuses two rows that refer to the same row.
    @discardableResult
    public func unique() -> Self {
        isUnique = true
        return self
    }

    /// Returns the columns of this table, with the columns of the other table that they refer to.
    func resolved(in keys: ReferencedKeys) throws -> ResolvedForeignKey {
        let table = try keys.spelling(of: table ?? keys.tableName(for: name))
        let destination = try keys.columns(of: table)
        let columns = destination.map { column in
            // A rowid without a column is named id.
            let suffix = column.isHiddenRowID ? "id" : column.name
            return ColumnDefinition(name: name + suffix.prefix(1).uppercased() + suffix.dropFirst(), type: column.type)
        }
        if let notNull { columns.forEach { $0.notNull(onConflict: notNull.conflictResolution) } }
        if columns.count == 1 {
            columns[0].references(
                table, column: destination[0].name, onDelete: rule.deleteAction, onUpdate: rule.updateAction,
                deferred: rule.isDeferred)
            if isUnique { columns[0].unique() } else if isIndexed { columns[0].indexed() }
        }
        return ResolvedForeignKey(
            definition: self, columns: columns, table: table, destination: destination.map(\.name))
    }
}

/// A foreign key with its resolved destination.
struct ResolvedForeignKey {
    let definition: ForeignKeyDefinition
    let columns: [ColumnDefinition]
    let table: String
    let destination: [String]

    /// True if the key has several columns, so that a separate constraint and index are necessary.
    var standsApart: Bool { columns.count > 1 }

    var constraint: String {
        "FOREIGN KEY (\(Database.list(columns.map(\.name)))) \(definition.rule.sql(table: table, columns: destination))"
    }
}

/// A column of a primary key.
struct KeyColumn {
    var name: String
    var type: Database.ColumnType?
    var isHiddenRowID = false
}

/// The primary keys that foreign keys refer to, including that of the table that is being created.
struct ReferencedKeys {
    let db: Database
    let tableName: String

    /// The key of the table that is being created. Nil if the table exists.
    var ownKey: [KeyColumn]?

    private static let hiddenRowID = KeyColumn(name: "rowid", type: .integer, isHiddenRowID: true)

    /// Returns the key of a table.
    ///
    /// - throws: `SQLITE_ERROR` if there is no such table.
    func columns(of table: String) throws -> [KeyColumn] {
        if let ownKey, isOwn(table) { return ownKey.isEmpty ? [Self.hiddenRowID] : ownKey }
        let key = try db.primaryKey(table)
        if key.isHidden { return [Self.hiddenRowID] }
        let types = try db.columns(in: table)
        return key.columns.map { name in
            let type = types.first { $0.name.foldedSQLName == name.foldedSQLName }?.type ?? ""
            return KeyColumn(name: name, type: type.isEmpty ? nil : Database.ColumnType(rawValue: type))
        }
    }

    /// Returns the name of a table as it is declared.
    func spelling(of table: String) -> String {
        isOwn(table) ? tableName : table
    }

    private func isOwn(_ table: String) -> Bool {
        table.foldedSQLName == tableName.foldedSQLName
    }

    /// Returns the table that a foreign key is named after: the one with that name, or with its plural.
    ///
    /// - throws: `SQLITE_ERROR` if there is none.
    func tableName(for name: String) throws -> String {
        for candidate in [name, Inflections.default.pluralize(name)] {
            if try isOwn(candidate) || db.tableExists(candidate) { return candidate }
        }
        throw db.noSuchTable(name)
    }
}
