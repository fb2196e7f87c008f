import Strongroom

/// Records all events.
final class TransactionRecorder: TransactionObserver {
    var log: [String] = []
    var observes: (DatabaseEventKind) -> Bool = { _ in true }
    var refusal: (any Error)?
    var stopsAfterFirst = false

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { observes(eventKind) }

    func databaseDidChange() { log.append("change") }

    func databaseDidChange(with event: DatabaseEvent) {
        log.append("\(event.kind) \(event.databaseName).\(event.tableName) \(event.rowID)")
        if stopsAfterFirst { stopObservingDatabaseChangesUntilNextTransaction() }
    }

    func databaseWillCommit() throws {
        log.append("will commit")
        if let refusal { throw refusal }
    }

    func databaseDidCommit(_ db: Database) { log.append("commit") }
    func databaseDidRollback(_ db: Database) { log.append("rollback") }

    /// The events since the last call.
    func take() -> [String] {
        defer { log = [] }
        return log
    }
}

/// Runs `body` on a connection whose transactions are recorded.
func withRecordedTables(_ body: (Database, TransactionRecorder) throws -> Void) throws {
    try withDatabase { db in
        try db.execute(
            sql: """
                CREATE TABLE wine (id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER);
                CREATE TABLE note (id INTEGER PRIMARY KEY, wineId INTEGER REFERENCES wine ON DELETE CASCADE);
                """)
        let recorder = TransactionRecorder()
        db.add(transactionObserver: recorder)
        try body(db, recorder)
    }
}
