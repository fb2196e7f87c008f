extension Database {
    /// Sets the journal mode that the configuration asks for.
    ///
    /// - throws: `SQLITE_BUSY` when another connection prevents the change to WAL for as long as the configuration
    ///   waits.
    func setUpJournal(requiresWAL: Bool) throws {
        try untraced { try applyJournalMode(requiresWAL: requiresWAL) }
    }

    private func applyJournalMode(requiresWAL: Bool) throws {
        var needsWAL = requiresWAL
        switch configuration.journalMode {
        case .default: break
        case .wal: needsWAL = true
        }
        if configuration.persistentWAL, !configuration.readonly { try log.makePersistent() }
        if needsWAL, !configuration.readonly {
            let mode =
                try repeatingWhileBusy { try String.fetchOne(self, sql: "PRAGMA main.journal_mode = WAL") } ?? ""
            guard mode == "wal" else {
                throw DatabaseError(message: "\(path) can't have a write-ahead log: its journal mode is \(mode)")
            }
            // Survives crashes of the program. A crash of the system may lose commits since the last checkpoint, and
            // never corrupts.
            try execute(sql: "PRAGMA synchronous = NORMAL")
            // The first read creates the log and its index. A program that only reads may not be able to.
            try takeSnapshot()
        }
    }
}
