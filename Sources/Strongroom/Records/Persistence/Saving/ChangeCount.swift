/// Counts the rows of a table that a statement changes.
///
/// For a view, SQLite counts the rows that its `INSTEAD OF` triggers change.
///
/// Source: <https://www.sqlite.org/c3ref/changes.html>.
struct ChangeCount {
    private let db: Database
    private let tableName: String
    private let totalBefore: Int

    /// Create it before the statement runs.
    init(_ db: Database, inTable tableName: String) {
        self.db = db
        self.tableName = tableName
        totalBefore = db.totalChangesCount
    }

    /// Returns the number of rows that the latest statement changed.
    func ofLatestStatement() throws -> Int {
        let count = db.changesCount
        if count > 0 || db.totalChangesCount == totalBefore { return count }
        // Virtual tables may have written deferred rows.
        return try db.relation(tableName, in: nil)?.isView == true ? db.totalChangesCount - totalBefore : 0
    }
}
