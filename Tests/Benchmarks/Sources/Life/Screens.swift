import Workload

// The queries of the application's screens.

extension Notes {
    /// The notebooks with the number of their notes, and the latest notes.
    func firstScreen() async throws -> Int64 {
        let (notebooks, notes) = try await pool.read { db in
            (try NotebookLine.all.fetchAll(db), try NoteLine.latest.limit(Day.screenSize).fetchAll(db))
        }
        return Int64(notebooks.count + notes.count)
    }

    func list() async throws -> Int64 {
        let lines = try await pool.read { try NoteLine.latest.limit(Day.listSize).fetchAll($0) }
        return lines.reduce(0) { $0 + Int64($1.tagCount) }
    }

    /// One fetch for each letter typed.
    func search() async throws -> Int64 {
        var count = 0
        for length in 1...Day.typed.count {
            let pattern = FTS5Pattern(matchingAllPrefixesIn: String(Day.typed.prefix(length)))
            count += try await pool.read { db in
                try Note.fetchAll(
                    db,
                    sql: """
                        SELECT note.* FROM note JOIN noteText ON noteText.rowid = note.id
                        WHERE noteText MATCH ? ORDER BY rank LIMIT ?
                        """, arguments: [pattern, Day.screenSize])
            }.count
        }
        return Int64(count)
    }
}
