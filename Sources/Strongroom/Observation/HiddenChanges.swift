import CSQLCipher

/// The statements that change rows without a report of SQLite's update hook.
///
/// <https://www.sqlite.org/c3ref/update_hook.html>
struct HiddenChanges {
    /// The facts about one statement.
    struct OfStatement {
        /// True if the statement may change rows without an event, or if that is unknown.
        let mayExist: Bool
        fileprivate let schemaVersion: Int
    }

    /// For each table that was looked up, whether the hook reports none of its rows.
    private var tablesWithoutEvents: [String: Bool] = [:]
    private var schemaVersion = 0

    /// Discards the facts about tables and statements.
    mutating func schemaDidChange() {
        schemaVersion += 1
        tablesWithoutEvents = [:]
    }

    /// Returns the facts about the statement. Computes them again after a change of the schema.
    mutating func update(
        _ known: OfStatement?, for statement: Statement, _ kinds: [DatabaseEventKind], _ db: Database) -> OfStatement
    {
        if let known, known.schemaVersion == schemaVersion { return known }
        // Not traced: the statements are not the program's.
        let mayExist = db.untraced {
            kinds.contains { hasNoEvents($0.tableName, db) || changesRowIDs($0, db) }
                || kinds.contains(where: \.mayReplace) && db.replacesRows(statement.sql)
        }
        return OfStatement(mayExist: mayExist, schemaVersion: schemaVersion)
    }

    /// Returns true if rows get other rowids. The hook only reports the new ones.
    private func changesRowIDs(_ kind: DatabaseEventKind, _ db: Database) -> Bool {
        guard case .update(let table, let columns) = kind else { return false }
        let rowID = try? db.primaryKey(table).rowIDColumn
        return columns.contains { ["rowid", "oid", "_rowid_", rowID?.lowercased()].contains($0.lowercased()) }
    }

    /// Returns true if a table is virtual or has no rowid.
    private mutating func hasNoEvents(_ table: String, _ db: Database) -> Bool {
        if let known = tablesWithoutEvents[table] { return known }
        let hasNoEvents = try? Bool.fetchOne(db, sql: """
            SELECT EXISTS (
                SELECT 1 FROM pragma_table_list WHERE name = ? COLLATE NOCASE AND (wr OR type = 'virtual'))
            """, arguments: [table])
        tablesWithoutEvents[table] = hasNoEvents ?? true
        return hasNoEvents ?? true
    }
}

extension DatabaseEventKind {
    /// True if such a change can meet a conflict that replaces rows.
    fileprivate var mayReplace: Bool {
        if case .delete = self { false } else { true }
    }
}

extension Database {
    /// Returns true if the statement deletes rows to resolve a conflict, as `REPLACE` does: by itself, in triggers, or
    /// by the constraints of a table.
    ///
    /// SQLite's authorizer does not report conflict clauses. The compiled program shows them: it contains a `Delete` of
    /// a table that neither counts the row as changed, as a deletion does, nor belongs to an update. The opcodes are
    /// not a stable interface: `RegionObservationTests.replacements` compares them with SQLite's behavior.
    /// <https://www.sqlite.org/opcode.html#Delete>
    fileprivate func replacesRows(_ sql: String) -> Bool {
        let countsOrUpdates: CInt = 0x01 | 0x04, changesNothing: CInt = 0x40
        var explanation: SQLiteStatement?
        defer { sqlite3_finalize(explanation) }
        var code = SQLITE_OK
        _ = authorizer.observing {
            code = sqlite3_prepare_v2(sqliteConnection, "EXPLAIN " + sql, -1, &explanation, nil)
        }
        guard code == SQLITE_OK else { return true }
        code = sqlite3_step(explanation)
        while code == SQLITE_ROW {
            let isOfTable = sqlite3_column_type(explanation, 5) != SQLITE_NULL
            let flags = sqlite3_column_int(explanation, 3)
            if isOfTable, flags & (countsOrUpdates | changesNothing) == 0,
                sqlite3_column_text(explanation, 1).map({ String(cString: $0) }) == "Delete" { return true }
            code = sqlite3_step(explanation)
        }
        return code != SQLITE_DONE
    }
}
