/// The treatment of columns without an assignment in an upsert.
public struct UpsertUpdateStrategy: OptionSet, Sendable {
    /// The flags as an integer.
    public let rawValue: Int

    /// Creates a set of flags from an integer.
    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// All columns but the primary key and the conflicting ones are overwritten.
    public static let allColumns = UpsertUpdateStrategy([])

    /// The columns keep their values.
    public static let noColumnUnlessSpecified = UpsertUpdateStrategy(rawValue: 1 << 0)
}

/// The update of an upsert. Source: <https://www.sqlite.org/lang_upsert.html>.
struct Upsert {
    var conflictTarget: [String] = []
    var strategy = UpsertUpdateStrategy.allColumns
    var assignments: [ColumnAssignment] = []

    init() {}

    init(_ conflictTarget: [String], _ strategy: UpsertUpdateStrategy, _ assignments: [ColumnAssignment]) {
        self.conflictTarget = conflictTarget
        self.strategy = strategy
        self.assignments = assignments
    }

    /// Returns the assignments, given the columns of the record and of its primary key. There is at least one, because
    /// a row that is not updated is not returned either.
    func completeAssignments(columns: [String], key: [String]) -> [ColumnAssignment] {
        var complete = assignments.filter { $0.value != nil }
        if !strategy.contains(.noColumnUnlessSpecified) {
            let excluded = TableAliasBase(aliasName: "excluded")
            let settled = Set((assignments.map(\.columnName) + key + conflictTarget).map(\.foldedSQLName))
            complete += columns.filter { !settled.contains($0.foldedSQLName) }.map { Column($0).set(to: excluded[$0]) }
        }
        if complete.isEmpty {
            let column = Column(key.first { $0 != Column.rowID.name } ?? columns[0])
            complete = [column.set(to: column)]
        }
        return complete
    }
}

extension RecordWriter {
    /// `INSERT … ON CONFLICT … DO UPDATE … RETURNING …`
    func upsertStatement(_ upsert: Upsert, returning selection: [any SQLSelectable]) throws -> Statement {
        let policy = conflictPolicy.conflictResolutionForInsert
        let key = try db.primaryKey(tableName)
        let assignments = upsert.completeAssignments(columns: saved.columns, key: key.columns)
        return try db.reusableStatement { writer in
            // The policy applies to other constraints only; on the conflict target it would prevent the upsert.
            let sql = insertSQL(policy == .ignore || policy == .replace ? "" : Optional(policy).sqlClause)
            writer.append(sql, arguments: StatementArguments(values: Array(saved.bound)))
            writer.append(" ON CONFLICT")
            if !upsert.conflictTarget.isEmpty {
                writer.append("(" + upsert.conflictTarget.map(\.quotedDatabaseIdentifier).joined(separator: ", ") + ")")
            }
            writer.append(" DO UPDATE SET ")
            try writer.withSource(SQLSource(tableName: tableName)) { writer in
                try writer.append(assignments, separator: ", ") { try $0.write(to: &$1) }
                let selection = selection + (key.tableHasRowID ? [Column.rowID] : [])
                guard !selection.isEmpty else { return }
                writer.append(" RETURNING ")
                try writer.append(selection, separator: ", ") { try $0.sqlSelection.write(to: &$1) }
            }
        }
    }
}

extension MutablePersistableRecord {
    mutating func upsertCore(_ db: Database) throws {
        try upsert(db, Upsert(), returning: []) { _ in }
    }

    mutating func upsertCore<T: FetchableRecord & TableRecord>(
        _ db: Database, as type: T.Type, _ upsert: Upsert
    ) throws -> T {
        try self.upsert(db, upsert, returning: type.databaseSelection) { row in
            guard let row else { throw NoRow() }
            return try T(row: row)
        }
    }

    private mutating func upsert<T>(
        _ db: Database,
        _ upsert: Upsert,
        returning selection: [any SQLSelectable],
        _ fetch: (Row?) throws -> T
    ) throws -> T {
        var value: T?
        try saveWithCallbacks(db) { record in
            try record.insertWithCallbacks(db) { record in
                let writer = try RecordWriter(db, record)
                let statement = try writer.upsertStatement(upsert, returning: selection)
                let cursor = try Row.fetchCursor(statement)
                let row = try cursor.next()
                // The last column is the row id, which SQLite does not remember of an update.
                let hasRowID = try db.primaryKey(writer.tableName).tableHasRowID
                let rowID: Int64 = if hasRowID, let row { row[row.count - 1] } else { 0 }
                value = try fetch(row)
                try cursor.run.complete()
                return try writer.success(rowID: rowID)
            }
        }
        return value!
    }
}
