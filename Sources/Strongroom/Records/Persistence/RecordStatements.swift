/// The SQL that saves the records of one type on one connection, and their columns.
final class RecordStatements {
    enum Verb: Hashable {
        case insert(Database.ConflictResolution?)
        case update(Database.ConflictResolution?)
    }

    /// A column of the table, and its position among those of the record.
    typealias Column = (name: String, position: Int)

    let tableName: String

    /// Nil for a type that is not encodable.
    let idleEncoder: IdleEncoder?

    // Unchecked exclusivity: see <doc:Layers>.
    @exclusivity(unchecked) private(set) var columns: [String] = []
    @exclusivity(unchecked) private var texts: [(verb: Verb, sql: String)] = []
    @exclusivity(unchecked) private var updatedColumns: [Column]?

    /// The table's column that is another name of the rowid, once it was asked for; nil inside when there is none.
    @exclusivity(unchecked) var rowIDColumn: String??

    init(tableName: String, of type: any MutablePersistableRecord.Type) {
        self.tableName = tableName
        idleEncoder = type is any Encodable.Type ? IdleEncoder() : nil
    }

    /// Returns the SQL for a record with these columns: that of the former record if it had the same ones.
    func sql(_ verb: Verb, columns: [String], _ write: () throws -> String) rethrows -> String {
        forget(unless: columns)
        if let known = texts.first(where: { $0.verb == verb }) { return known.sql }
        let sql = try write()
        texts.append((verb, sql))
        return sql
    }

    /// Returns the columns that an update of all columns assigns.
    func updatedColumns(of columns: [String], _ find: () throws -> [Column]) rethrows -> [Column] {
        forget(unless: columns)
        if let updatedColumns { return updatedColumns }
        let found = try find()
        updatedColumns = found
        return found
    }

    private func forget(unless columns: [String]) {
        guard columns != self.columns else { return }
        self.columns = columns
        texts = []
        updatedColumns = nil
    }
}

extension Database {
    /// Returns the statements of a record type, as long as the schema is the one that they were written for.
    func recordStatements<Record: MutablePersistableRecord>(
        of type: Record.Type, tableName: String
    ) throws -> RecordStatements {
        try validateSchemaCache().derived(for: type, where: { $0.tableName == tableName }) {
            RecordStatements(tableName: tableName, of: type)
        }
    }
}

/// A record to save: its table, and its columns with their values.
///
/// It has no type parameter, because Swift would look up the type at each step.
struct RecordWriter {
    let db: Database
    let columns: SavedColumns
    let conflictPolicy: PersistenceConflictPolicy
    private let statements: RecordStatements

    var tableName: String { statements.tableName }
    var container: PersistenceContainer { columns.container }

    init<Record: MutablePersistableRecord>(_ db: Database, _ record: Record) throws {
        // The class that the record really is: it may be known by its superclass here.
        let type = type(of: record)
        let tableName = type.databaseTableName
        let statements = try db.recordStatements(of: type, tableName: tableName)
        let container = try PersistenceContainer(record, expecting: statements.columns, statements.idleEncoder)
        if container.isEmpty {
            fatalError("\(Record.self) has no column to save: set at least one in encode(to:).")
        }
        // Nothing fails from here on: a structure that is half set up would be copied.
        self.db = db
        self.columns = SavedColumns(container)
        self.conflictPolicy = Record.persistenceConflictPolicy
        self.statements = statements
    }

    // MARK: - Insert

    /// `INSERT INTO "player" ("id", "name") VALUES (?,?)`. <https://www.sqlite.org/lang_insert.html>
    func insertStatement(
        onConflict conflictResolution: Database.ConflictResolution?,
        returning selection: [any SQLSelectable]
    ) throws -> Statement {
        let conflictResolution = conflictResolution ?? conflictPolicy.conflictResolutionForInsert
        let sql = statements.sql(.insert(conflictResolution), columns: container.columns) {
            insertSQL(conflictResolution.sqlClauseOrNothing)
        }
        return try statement(sql, values: container.values, returning: selection)
    }

    func insertSQL(_ clause: String) -> String {
        let columns = container.columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
        let marks = databaseQuestionMarks(count: container.count)
        return "INSERT \(clause)INTO \(tableName.quotedDatabaseIdentifier) (\(columns)) VALUES (\(marks))"
    }

    // MARK: - Update

    /// `UPDATE "player" SET "name"=? WHERE "id"=?`; nil when the key is NULL. <https://www.sqlite.org/lang_update.html>
    ///
    /// - parameter columns: the columns to update; nil for all.
    func updateStatement(
        onConflict conflictResolution: Database.ConflictResolution?,
        columns: Set<String>?,
        returning selection: [any SQLSelectable]
    ) throws -> Statement? {
        let key = try key()
        guard !key.isNull else { return nil }
        let conflictResolution = conflictResolution ?? conflictPolicy.conflictResolutionForUpdate
        let assigned = try assignedColumns(columns, key: key)
        func sql() -> String {
            let assignments = assigned.map { $0.name.quotedDatabaseIdentifier + "=?" }.joined(separator: ", ")
            let clause = conflictResolution.sqlClauseOrNothing
            return "UPDATE \(clause)\(tableName.quotedDatabaseIdentifier) SET \(assignments) WHERE \(key.condition)"
        }
        let text =
            columns == nil
            ? statements.sql(.update(conflictResolution), columns: container.columns, sql)
            : sql()
        return try statement(
            text, values: assigned.map { container.values[$0.position] } + key.values,
            returning: selection)
    }

    /// Returns the columns to update, in the order and by the names that the table has, and where they stand in the
    /// container: the key stays, unless there is nothing else.
    private func assignedColumns(_ columns: Set<String>?, key: RecordKey) throws -> [RecordStatements.Column] {
        let all = try statements.updatedColumns(of: container.columns) {
            let keyColumns = Set(key.columns.map(\.foldedSQLName))
            return try positions(
                of: db.columns(in: tableName).map(\.name)
                    .filter { !keyColumns.contains($0.foldedSQLName) })
        }
        let wanted = columns.map { Set($0.map(\.foldedSQLName)) }
        let assigned = wanted.map { wanted in all.filter { wanted.contains($0.name.foldedSQLName) } } ?? all
        return assigned.isEmpty ? positions(of: key.columns) : assigned
    }

    private func positions(of columns: [String]) -> [RecordStatements.Column] {
        columns.compactMap { name in container.index(of: name).map { (name, $0) } }
    }

    // MARK: - Delete, exists

    /// `DELETE FROM "player" WHERE "id"=?`; nil when the key is NULL. <https://www.sqlite.org/lang_delete.html>
    func deleteStatement() throws -> Statement? {
        let key = try key()
        if key.isNull { return nil }
        return try statement(
            "DELETE FROM \(tableName.quotedDatabaseIdentifier) WHERE \(key.condition)", values: key.values)
    }

    /// `SELECT EXISTS (SELECT 1 FROM "player" WHERE "id"=?)`; nil when the key is NULL.
    func existsStatement() throws -> Statement? {
        let key = try key()
        if key.isNull { return nil }
        return try statement(
            "SELECT EXISTS (SELECT 1 FROM \(tableName.quotedDatabaseIdentifier) WHERE \(key.condition))",
            values: key.values)
    }

    // MARK: - Implementation

    /// Returns the statement of that SQL with its arguments.
    func statement(
        _ sql: String, values: [DatabaseValue], returning selection: [any SQLSelectable] = []
    ) throws -> Statement {
        if selection.isEmpty {
            let statement = try db.reusableStatement(sql: sql)
            try statement.setArguments(StatementArguments(values: values))
            return statement
        }
        return try db.reusableStatement { writer in
            writer.append(sql, arguments: StatementArguments(values: values))
            writer.append(" RETURNING ")
            try writer.withSource(SQLSource(tableName: tableName)) { writer in
                try writer.append(selection, separator: ", ") { try $0.sqlSelection.write(to: &$1) }
            }
        }
    }

    /// Returns the column that is another name of the rowid; nil when there is none, as in a view.
    func rowIDColumn() throws -> String? {
        if let known = statements.rowIDColumn { return known }
        let column = try db.primaryKey(of: db.existingRelation(tableName, in: nil))?.rowIDColumn
        statements.rowIDColumn = column
        return column
    }

    /// Returns the primary key of the record.
    func key() throws -> RecordKey {
        let columns = try db.primaryKey(tableName).columns
        return RecordKey(columns: columns, values: columns.map { container.value(of: $0) ?? .null })
    }

    /// Returns the error that no row has the record's key.
    func notFound() throws -> RecordError {
        let key = try key()
        return .recordNotFound(
            databaseTableName: tableName, key: Dictionary(zip(key.columns, key.values), uniquingKeysWith: { $1 }))
    }
}

/// The primary key of a record.
struct RecordKey {
    let columns: [String]
    let values: [DatabaseValue]

    /// True if all values of the key are NULL.
    var isNull: Bool { values.allSatisfy(\.isNull) }

    /// `"a"=? AND "b"=?`. A key with a NULL matches no row, because SQLite allows several rows with it.
    var condition: String { columns.map { $0.quotedDatabaseIdentifier + "=?" }.joined(separator: " AND ") }
}

extension Database.ConflictResolution {
    /// `OR REPLACE `, or nothing for SQLite's default.
    fileprivate var sqlClauseOrNothing: String { Optional(self).sqlClause }
}
