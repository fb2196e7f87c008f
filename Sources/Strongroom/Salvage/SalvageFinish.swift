/// The end of a salvage: what stands in the schema beside tables.
struct SalvageFinish {
    let writer: SalvageWriter
    let report: SalvageReport

    private var target: Database { writer.target }

    private var entries: [SchemaEntry] { writer.plan.entries }

    /// Creates indexes, virtual tables, views and triggers, in the transaction of the rows. Returns the report, in
    /// which nothing is missing from what was built again.
    func createTheRest() throws -> SalvageReport {
        for entry in entries where entry.kind == .index && entry.sql != nil { try create(entry) }
        var rebuilt: Set<String> = []
        for entry in entries where entry.isVirtual { rebuilt.formUnion(try createVirtual(entry)) }
        for entry in entries where entry.kind == .view { try create(entry) }
        for entry in entries where entry.kind == .trigger { try create(entry) }
        var report = report
        for (index, table) in report.tables.enumerated() where rebuilt.contains(table.name.foldedSQLName) {
            report.tables[index] = SalvageReport.Table(name: table.name)
            report.tables[index].saved =
                try Int.fetchOne(target, sql: "SELECT count(*) FROM main.\(table.name.quotedDatabaseIdentifier)") ?? 0
        }
        return report
    }

    private func create(_ entry: SchemaEntry) throws {
        do {
            try writer.create(entry)
        } catch let error as DatabaseError where error.isOfSchema {
            let isViolated = error.resultCode == .SQLITE_CONSTRAINT
            writer.note(entry, isViolated ? .violated : .notCreated, error)
        }
    }

    // MARK: - Virtual tables

    /// The tables whose rows a table that is built again has.
    private static let kept = ["content", "config"]
    private static let shadows: [String: [String]] = [
        "fts5": ["data", "idx", "content", "docsize", "config"],
        "fts4": ["content", "segments", "segdir", "docsize", "stat"], "fts3": ["content", "segments", "segdir"],
    ]

    /// Creates a virtual table. Returns the names of its own tables that were built again, in small letters.
    private func createVirtual(_ entry: SchemaEntry) throws -> [String] {
        let prefix = entry.name.foldedSQLName + "_"
        let parts = report.tables.filter { $0.name.foldedSQLName.hasPrefix(prefix) }
        let known = SalvageFinish.shadows[entry.module ?? ""]
        let own = known.map { known in
            parts.filter { known.contains(String($0.name.foldedSQLName.dropFirst(prefix.count))) }
        }
        guard let known, let own else {
            if parts.allSatisfy(\.isComplete), report.isSchemaComplete {
                try register(entry)
            } else {
                note(entry, .notCreated, "a part of its content is missing; its tables have the rest")
            }
            return []
        }
        let names = entries.filter { $0.kind == .table }.map { $0.name.foldedSQLName }
        let isWhole =
            own.allSatisfy(\.isComplete)
            && (report.isSchemaComplete || known.allSatisfy { names.contains(prefix + $0) })
        if isWhole {
            try register(entry)
            return []
        }
        do {
            try target.inSavepoint {
                try rebuild(entry, known)
                return .commit
            }
            note(entry, .rebuilt, "its index was built again from its content")
            return known.filter { !SalvageFinish.kept.contains($0) }.map { prefix + $0 }
        } catch let error as DatabaseError where error.isOfSchema {
            writer.note(entry, .notCreated, error)
            return []
        }
    }

    private func note(_ entry: SchemaEntry, _ kind: SalvageReport.Problem.Kind, _ message: String) {
        writer.note(SalvageReport.Problem(name: entry.name, kind: kind, message: message))
    }

    /// Adds a virtual table whose own tables are there: creating it would create them again.
    private func register(_ entry: SchemaEntry) throws {
        try target.execute(sql: "PRAGMA writable_schema = ON")
        try target.execute(
            sql: "INSERT INTO sqlite_master(type, name, tbl_name, rootpage, sql) VALUES ('table', ?, ?, 0, ?)",
            arguments: [entry.name, entry.table, entry.sql])
        try target.execute(sql: "PRAGMA writable_schema = OFF")
    }

    /// Creates a full-text table anew, with the content and the settings that were saved.
    private func rebuild(_ entry: SchemaEntry, _ shadows: [String]) throws {
        for shadow in shadows where try target.tableExists("\(entry.name)_\(shadow)") {
            let table = "\(entry.name)_\(shadow)".quotedDatabaseIdentifier
            if SalvageFinish.kept.contains(shadow) {
                try target.execute(sql: "CREATE TABLE salvage_of_\(shadow) AS SELECT * FROM main.\(table)")
            }
            try target.execute(sql: "DROP TABLE main.\(table)")
        }
        try writer.create(entry)
        for shadow in SalvageFinish.kept where try target.tableExists("salvage_of_\(shadow)") {
            let table = "\(entry.name)_\(shadow)", condition = shadow == "config" ? "WHERE k <> 'version'" : ""
            if try target.tableExists(table) {
                try target.execute(
                    sql: """
                        INSERT OR REPLACE INTO main.\(table.quotedDatabaseIdentifier)
                        SELECT * FROM main.salvage_of_\(shadow) \(condition)
                        """)
            }
            try target.execute(sql: "DROP TABLE main.salvage_of_\(shadow)")
        }
        let name = entry.name.quotedDatabaseIdentifier
        try target.execute(sql: "INSERT INTO main.\(name)(\(name)) VALUES ('rebuild')")
    }

    // MARK: - The order of the schema

    /// Gives the rows of the schema the numbers that they had, and with them their order.
    func order() throws {
        guard Set(entries.map(\.rowID)).count == entries.count, let last = entries.map(\.rowID).max(),
            let first = entries.map(\.rowID).min(), first > 0, last < 1 << 40
        else { return }
        try target.execute(sql: "PRAGMA writable_schema = ON")
        try target.inTransaction(.immediate) {
            try target.execute(sql: "UPDATE sqlite_master SET rowid = rowid + ?", arguments: [last + 1 << 41])
            for entry in entries {
                try target.execute(
                    sql: "UPDATE sqlite_master SET rowid = ? WHERE type = ? AND name = ?",
                    arguments: [entry.rowID, entry.kind.rawValue, entry.name])
            }
            // New rows follow.
            try target.execute(
                sql: """
                    UPDATE sqlite_master SET rowid = rowid - ? WHERE rowid > ?
                    """, arguments: [(last + 1 << 41) - last, last])
            return .commit
        }
        try target.execute(sql: "PRAGMA writable_schema = OFF")
    }
}
