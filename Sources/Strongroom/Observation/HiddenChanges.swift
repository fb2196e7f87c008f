import CSQLCipher
import Foundation

/// The statements that change rows without a report of SQLite's update hook.
///
/// <https://www.sqlite.org/c3ref/update_hook.html>
///
/// A class, because its queries may end a transaction, whose observers use it.
final class HiddenChanges {
    /// The facts about one statement.
    struct OfStatement {
        /// True if the statement may change rows without an event, or if that is unknown.
        let mayExist: Bool

        /// The deletions without an event in tables that the statement updates: the rows that `UPDATE OR REPLACE`
        /// removes. They change columns that the statement doesn't set.
        let removals: [DatabaseEventKind]
        fileprivate let schemaVersion: Int
    }

    /// The facts about one table.
    private struct Table {
        /// True if the hook reports none of its rows.
        let hasNoEvents: Bool

        /// The columns that an update of others may change: generated ones, and all of a virtual table. Nil if they
        /// are unknown.
        let dependentColumns: [String]?
    }

    /// The tables that were looked up, by their folded names.
    private var tables: [String: Table] = [:]

    /// True if a table or a trigger may replace rows to resolve a conflict. Nil if it was not looked up.
    private var schemaReplaces: Bool?
    private var schemaVersion = 0

    /// Discards the facts about tables and statements.
    func schemaDidChange() {
        schemaVersion += 1
        tables = [:]
        schemaReplaces = nil
    }

    /// Returns the kinds of changes that the statement may make. An update has the columns that depend on those that it
    /// sets.
    func kinds(of statement: Statement, _ db: Database) -> [DatabaseEventKind] {
        statement.eventKinds.map { kind in
            guard case .update(let name, let columns) = kind else { return kind }
            let dependent = db.untraced { table(name, db).dependentColumns } ?? ["ROWID"]
            return dependent.isEmpty ? kind : .update(tableName: name, columnNames: columns.union(dependent))
        }
    }

    /// Returns the facts about the statement. Computes them again after a change of the schema.
    ///
    /// - parameter hasRun: true after a run. Explaining the statement would then discard its number of changed rows.
    func update(
        _ known: OfStatement?, for statement: Statement, _ kinds: [DatabaseEventKind], hasRun: Bool = false,
        _ db: Database
    ) -> OfStatement {
        if let known, known.schemaVersion == schemaVersion { return known }
        // Not traced: the statements are not the program's.
        return db.untraced {
            let mayReplace = kinds.contains(where: \.mayReplace) && replacesRows(statement, db)
            let replaced = mayReplace ? hasRun ? nil : db.tablesWithReplacedRows(statement.sql) : []
            let moved = kinds.filter { changesRowIDs($0, db) }
            let removals: [DatabaseEventKind] = kinds.compactMap { kind in
                guard case .update(let table, _) = kind, replaced?.contains(table) != false else { return nil }
                return .delete(tableName: table)
            }
            let mayExist = replaced != [] || !moved.isEmpty || kinds.contains { table($0.tableName, db).hasNoEvents }
            return OfStatement(mayExist: mayExist, removals: removals, schemaVersion: schemaVersion)
        }
    }

    /// Returns true if rows get other rowids. The hook only reports the new ones.
    private func changesRowIDs(_ kind: DatabaseEventKind, _ db: Database) -> Bool {
        guard case .update(let table, let columns) = kind else { return false }
        let rowID = try? db.primaryKey(table).rowIDColumn
        return columns.contains { ["rowid", "oid", "_rowid_", rowID?.lowercased()].contains($0.lowercased()) }
    }

    /// Returns false if neither the statement nor the schema contains the word.
    private func replacesRows(_ statement: Statement, _ db: Database) -> Bool {
        if statement.sql.range(of: "replace", options: .caseInsensitive) != nil { return true }
        if let schemaReplaces { return schemaReplaces }
        let replaces = try? db.schemaSearchOrder.contains { schema in
            try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM \(schema.sql).sqlite_master WHERE instr(lower(sql), 'replace'))")
                == true
        }
        schemaReplaces = replaces ?? true
        return replaces ?? true
    }

    private func table(_ name: String, _ db: Database) -> Table {
        if let known = tables[name.foldedSQLName] { return known }
        let table = read(name, db) ?? Table(hasNoEvents: true, dependentColumns: nil)
        tables[name.foldedSQLName] = table
        return table
    }

    /// Reads the facts about the tables with a name, which may exist in several schemas. Nil after an error.
    private func read(_ name: String, _ db: Database) -> Table? {
        let tables = try? Row.fetchAll(
            db, sql: "SELECT schema, type, wr FROM pragma_table_list WHERE name = ? COLLATE NOCASE", arguments: [name])
        guard let tables else { return nil }
        var hasNoEvents = false
        var dependentColumns: [String] = []
        for table in tables {
            let isVirtual = table["type"] == "virtual"
            if isVirtual || table["wr"] { hasNoEvents = true }
            let columns = try? Row.fetchAll(
                db, sql: "SELECT name, hidden FROM pragma_table_xinfo(?, ?)", arguments: [name, table["schema"]])
            guard let columns else { return nil }
            dependentColumns += columns.filter { isVirtual || $0["hidden"] != 0 }.map { $0["name"] }
        }
        return Table(hasNoEvents: hasNoEvents, dependentColumns: dependentColumns)
    }
}

extension DatabaseEventKind {
    /// True if such a change can meet a conflict that replaces rows.
    fileprivate var mayReplace: Bool {
        if case .delete = self { false } else { true }
    }
}

extension Database {
    /// Returns the tables in which the statement deletes rows to resolve a conflict, as `REPLACE` does: by itself, in
    /// triggers, or by the constraints of a table. Nil if they are unknown.
    ///
    /// SQLite's authorizer does not report conflict clauses. The compiled program shows them: it contains a `Delete` of
    /// a table that neither counts the row as changed, as a deletion does, nor belongs to an update. The opcodes are
    /// not a stable interface: `RegionObservationTests.replacements` compares them with SQLite's behavior.
    /// <https://www.sqlite.org/opcode.html#Delete>
    fileprivate func tablesWithReplacedRows(_ sql: String) -> Set<String>? {
        // Its end is that of a change without rows: the statement would not see the former number.
        if sql.range(of: "changes", options: .caseInsensitive) != nil { return nil }
        let countsOrUpdates: Int64 = 0x01 | 0x04, changesNothing: Int64 = 0x40
        var explanation: SQLiteStatement?
        defer { RawStatement.finalize(explanation) }
        var code = SQLITE_OK
        _ = authorizer.observing {
            code = raw.prepare("EXPLAIN " + sql, &explanation)
        }
        guard code == SQLITE_OK, let explanation else { return nil }
        var tables: Set<String> = []
        code = RawStatement(explanation).step()
        while code == SQLITE_ROW {
            let table = StatementColumn(explanation, 5)
            let flags = StatementColumn(explanation, 3).int64
            if !table.isNull, flags & (countsOrUpdates | changesNothing) == 0,
                StatementColumn(explanation, 1).withText(.text, { String(decoding: $0, as: UTF8.self) }) == "Delete"
            {
                tables.insert(table.withText(table.kind) { String(decoding: $0, as: UTF8.self) })
            }
            code = RawStatement(explanation).step()
        }
        return code == SQLITE_DONE ? tables : nil
    }
}
