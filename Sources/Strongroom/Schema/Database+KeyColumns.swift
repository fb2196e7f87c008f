// What tells rows apart.

extension Database {
    /// False for a view that nobody knows the primary key of.
    func knowsPrimaryKey(ofTable tableName: String) throws -> Bool {
        guard let relation = try relation(tableName, in: nil), relation.isView else { return true }
        return try primaryKey(of: relation) != nil
    }

    /// Returns true if no two rows of a table can have the same values in these columns, or in some of them.
    func hasUniqueKey(within columns: [String], inTable tableName: String) throws -> Bool {
        guard let relation = try relation(tableName, in: nil) else { return false }
        let columns = Set(columns.map(\.foldedSQLName))
        if let key = try primaryKey(of: relation), !relation.isView {
            if key.columns.allSatisfy({ columns.contains($0.foldedSQLName) }) { return true }
            if key.tableHasRowID, columns.contains("rowid") { return true }
        }
        return try !relation.isView && uniqueKeys(of: relation).contains { $0.isSubset(of: columns) }
    }

    /// The columns that tell apart the rows of a table best: one if there is one, and never NULL.
    func keyOfRows(inTable tableName: String) throws -> [String] {
        let key = try primaryKey(tableName)
        if key.isRowID || !key.tableHasRowID { return key.columns }
        // A column may hide the rowid.
        let names = try rowIDNames(of: existingRelation(tableName, in: nil))
        return names.first.map { [$0] } ?? key.columns
    }

    /// The column of a primary key that has one.
    func singleKeyColumn(ofTable tableName: String) throws -> String {
        let columns = try primaryKey(tableName).columns
        guard columns.count == 1 else {
            throw DatabaseError(
                resultCode: .SQLITE_MISUSE,
                message: """
                    the primary key of table \(tableName) has several columns (\(columns.joined(separator: ", "))): \
                    give a value for each, as in ["\(columns[0])": …]
                    """)
        }
        return columns[0]
    }
}
