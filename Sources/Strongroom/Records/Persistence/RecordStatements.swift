/// The insertion of a record. It serves the next one that has the same columns in the same order.
///
/// It has no references, because counting them takes half of the time that an insertion takes beyond C's.
private struct RecordInsertion {
    let conflictResolution: Database.ConflictResolution
    let place: StatementCache.Place
}

/// The SQL that saves the records of one type on one connection, and their columns.
@usableFromInline
final class RecordStatements {
    enum Verb: Hashable {
        case insert(Database.ConflictResolution?)
        case update(Database.ConflictResolution?)
    }

    /// A column of the table, and its position among those of the record.
    typealias Column = (name: String, position: Int)

    let type: any MutablePersistableRecord.Type
    let tableName: String

    // Unchecked exclusivity: see <doc:Layers>.
    @exclusivity(unchecked) private var columns: [String] = []
    @exclusivity(unchecked) private var texts: [(verb: Verb, sql: String)] = []
    @exclusivity(unchecked) private var updatedColumns: [Column]?

    /// The columns of the latest record, whose memory the next one uses unless the program has kept it.
    @exclusivity(unchecked) private var spare: SavedColumns?
    @exclusivity(unchecked) private var encoder: RecordEncoder?

    @exclusivity(unchecked) private var insertion: RecordInsertion?

    /// The table's column that is another name of the rowid, once it was asked for; nil inside when there is none.
    @exclusivity(unchecked) var rowIDColumn: String??

    init(tableName: String, of type: any MutablePersistableRecord.Type) {
        self.tableName = tableName
        self.type = type
    }

    deinit {
        encoder?.forgetContainer()
    }

    // MARK: - Columns

    /// Returns an empty container that expects the columns of the latest record.
    @usableFromInline
    func container() -> PersistenceContainer {
        let saved = isKnownUniquelyReferenced(&spare) ? spare.take()! : newColumns()
        saved.reset()
        swap(&saved.encoder, &encoder)
        return PersistenceContainer(saved)
    }

    /// Returns memory for a record while the program, or the insertion of another record, uses that of the latest one.
    private func newColumns() -> SavedColumns {
        spare.map { SavedColumns(expectingColumnsOf: $0) } ?? SavedColumns()
    }

    /// Returns the columns in a container that a record has filled, and expects them again.
    func columns(in container: consuming PersistenceContainer) -> SavedColumns {
        let saved = container.takeColumns()
        swap(&saved.encoder, &encoder)
        if !saved.isComplete { saved.forgetUnusedNames() }
        if saved.count == 0 { fatalError("\(type) has no column to save: set at least one in encode(to:).") }
        spare = saved
        return saved
    }

    // MARK: - Insertions

    /// Inserts the record that has filled a container.
    @usableFromInline
    func insert(
        _ container: consuming PersistenceContainer, _ conflictResolution: Database.ConflictResolution, _ db: Database
    ) throws -> InsertionSuccess {
        let saved = columns(in: container)
        if let insertion, insertion.place == saved.insertion, insertion.conflictResolution == conflictResolution,
            let statement = db.reusableStatement(at: insertion.place)
        {
            try run(statement, saved)
        } else {
            try insertAnew(saved, conflictResolution, db)
        }
        return InsertionSuccess(rowID: db.lastInsertedRowID, inserted: saved)
    }

    private func insertAnew(
        _ saved: SavedColumns, _ conflictResolution: Database.ConflictResolution, _ db: Database
    ) throws {
        let writer = RecordWriter(db, saved, self, PersistenceConflictPolicy(insert: conflictResolution))
        let sql = writer.insertSQL(onConflict: nil)
        // Fetched before the insertion, so that the insertion is the latest statement in a trace.
        saved.rowIDColumn = try writer.rowIDColumn()
        try run(db.reusableStatement(sql: sql), saved)
        // The columns are still those: nothing changes them while they are shared.
        insertion = db.place(ofStatement: sql).map {
            RecordInsertion(conflictResolution: conflictResolution, place: $0)
        }
        saved.insertion = insertion?.place
    }

    private func run(_ statement: Statement, _ saved: SavedColumns) throws {
        defer { if statement.forgetLargeArguments() { spare = nil } }
        try statement.run(lending: saved.bound)
    }

    // MARK: - SQL

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
        guard !columns.elementsEqual(self.columns, by: { $0.isSame(as: $1) || $0.hasBytes(of: $1) }) else { return }
        self.columns = columns
        texts = []
        updatedColumns = nil
    }
}

extension Database {
    /// Returns the statements of a record type, as long as the schema is the one that they were written for.
    @usableFromInline
    func recordStatements(
        of type: any MutablePersistableRecord.Type, tableName: String
    ) throws -> RecordStatements {
        requireAccess()
        let transaction = transactions.endings
        if let known = withPart(SchemaCache.self, { $0.latest(RecordStatements.self, for: type, in: transaction) }),
            known.tableName.isSame(as: tableName)
        {
            return known
        }
        return try validateSchemaCache().derived(for: type, where: { $0.tableName.hasBytes(of: tableName) }) {
            RecordStatements(tableName: tableName, of: type)
        }
    }
}

/// A record to save: its table, and its columns with their values.
///
/// It has no type parameter, because Swift would look up the type at each step.
struct RecordWriter {
    let db: Database
    let saved: SavedColumns
    let conflictPolicy: PersistenceConflictPolicy
    private let statements: RecordStatements

    var tableName: String { statements.tableName }

    init<Record: MutablePersistableRecord>(_ db: Database, _ record: Record) throws {
        // The class that the record really is: it may be known by its superclass here.
        let type = type(of: record)
        let statements = try db.recordStatements(of: type, tableName: type.databaseTableName)
        var container = statements.container()
        try record.encode(to: &container)
        self.init(db, statements.columns(in: consume container), statements, Record.persistenceConflictPolicy)
    }

    init(
        _ db: Database, _ saved: SavedColumns, _ statements: RecordStatements,
        _ conflictPolicy: PersistenceConflictPolicy
    ) {
        self.db = db
        self.saved = saved
        self.conflictPolicy = conflictPolicy
        self.statements = statements
    }

    // MARK: - Insert

    /// `INSERT INTO "player" ("id", "name") VALUES (?,?)`. <https://www.sqlite.org/lang_insert.html>
    func insertStatement(
        onConflict conflictResolution: Database.ConflictResolution?,
        returning selection: [any SQLSelectable]
    ) throws -> Statement {
        try statement(insertSQL(onConflict: conflictResolution), values: Array(saved.bound), returning: selection)
    }

    func insertSQL(onConflict conflictResolution: Database.ConflictResolution?) -> String {
        let conflictResolution = conflictResolution ?? conflictPolicy.conflictResolutionForInsert
        return statements.sql(.insert(conflictResolution), columns: saved.columns) {
            insertSQL(conflictResolution.sqlClauseOrNothing)
        }
    }

    func insertSQL(_ clause: String) -> String {
        let columns = saved.columns.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
        let marks = databaseQuestionMarks(count: saved.count)
        return "INSERT \(clause)INTO \(tableName.quotedDatabaseIdentifier) (\(columns)) VALUES (\(marks))"
    }

    /// Inserts by `insert`, and returns the result.
    func insert(_ insert: () throws -> Void) throws -> InsertionSuccess {
        // Fetched before the insertion, so that the insertion is the latest statement in a trace.
        saved.rowIDColumn = try rowIDColumn()
        try insert()
        return InsertionSuccess(rowID: db.lastInsertedRowID, inserted: saved)
    }

    /// Returns the result of an upsert.
    func success(rowID: Int64) throws -> InsertionSuccess {
        saved.rowIDColumn = try rowIDColumn()
        return InsertionSuccess(rowID: rowID, inserted: saved)
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
            ? statements.sql(.update(conflictResolution), columns: saved.columns, sql)
            : sql()
        return try statement(
            text, values: assigned.map { saved.value(at: $0.position) } + key.values,
            returning: selection)
    }

    /// Returns the columns to update, in the order and by the names that the table has, and where they stand in the
    /// container: the key stays, unless there is nothing else.
    private func assignedColumns(_ columns: Set<String>?, key: RecordKey) throws -> [RecordStatements.Column] {
        let all = try statements.updatedColumns(of: saved.columns) {
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
        columns.compactMap { name in saved.index(of: name).map { (name, $0) } }
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
        return RecordKey(
            columns: columns,
            values: columns.map { column in saved.index(of: column).map { saved.value(at: $0) } ?? .null })
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
