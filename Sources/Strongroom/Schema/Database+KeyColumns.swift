// The columns that identify rows.

extension Database {
    /// Returns false for a view without a known primary key.
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

    /// Returns the columns that identify the rows of a table best: a single column if possible, and never NULL.
    func keyOfRows(inTable tableName: String) throws -> [String] {
        let key = try primaryKey(tableName)
        if key.isRowID || !key.tableHasRowID { return key.columns }
        // A column can hide the rowid.
        let names = try rowIDNames(of: existingRelation(tableName, in: nil))
        return names.first.map { [$0] } ?? key.columns
    }

    /// Returns the column of a primary key with one column.
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
