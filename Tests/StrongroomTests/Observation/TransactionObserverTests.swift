import Dispatch
import Foundation
import Strongroom
import Testing

private struct Refusal: Error {}

@Suite("Transaction observers")
struct TransactionObserverTests {
    @Test("An insertion, an update and a deletion are notified with table and rowid, then the commit")
    func events() throws {
        try withRecordedTables { db, recorder in
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO wine (id, name) VALUES (7, 'Chinon')")
                try db.execute(sql: "UPDATE wine SET name = 'Bandol' WHERE id = 7")
                try db.execute(sql: "DELETE FROM wine WHERE id = 7")
                return .commit
            }
            #expect(
                recorder.take() == [
                    "insert main.wine 7", "update main.wine 7", "delete main.wine 7", "will commit", "commit",
                ])
        }
    }

    @Test("A statement outside of transactions is a transaction of its own")
    func autocommit() throws {
        try withRecordedTables { db, recorder in
            try db.execute(sql: "INSERT INTO wine (id) VALUES (1)")
            #expect(recorder.take() == ["insert main.wine 1", "will commit", "commit"])
        }
    }

    @Test("A rollback is notified, from each cause")
    func rollback() throws {
        try withRecordedTables { db, recorder in
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO wine (id) VALUES (1)")
                return .rollback
            }
            #expect(recorder.take() == ["insert main.wine 1", "rollback"])
            try db.execute(sql: "INSERT INTO wine (id, name) VALUES (1, 'Chinon')")
            _ = recorder.take()
            #expect(throws: DatabaseError.self) {
                try db.execute(sql: "INSERT INTO wine (id, name) VALUES (2, 'Bandol'), (3, 'Chinon')")
            }
            #expect(recorder.take().last == "rollback")
            #expect(throws: DatabaseError.self) {
                try db.inTransaction {
                    try db.execute(sql: "INSERT OR ROLLBACK INTO wine (name) VALUES ('Chinon')")
                    return .commit
                }
            }
            #expect(recorder.take() == ["rollback"])
        }
    }

    @Test("A statement outside of transactions that fails before anything was notified is not notified either")
    func failureWithoutChange() throws {
        try withRecordedTables { db, recorder in
            try db.execute(sql: "INSERT INTO wine (id, name) VALUES (1, 'Chinon')")
            _ = recorder.take()
            recorder.refusal = Refusal()
            let sql = "INSERT INTO wine (name) VALUES ('Chinon')"
            let error = #expect(throws: DatabaseError.self) { try db.execute(sql: sql) }
            #expect(error?.resultCode == .SQLITE_CONSTRAINT)
            #expect(recorder.take() == [])
        }
    }

    @Test("Changes that the program reports bear the name that the table has in the schema")
    func canonicalNames() throws {
        try withRecordedTables { db, recorder in
            recorder.observes = { $0.tableName == "wine" }
            try db.notifyChanges(in: Table("WINE"))
            #expect(recorder.take() == ["change", "will commit", "commit"])
        }
    }

    @Test("The list of temporary tables changes only where there is one")
    func temporarySchema() throws {
        try withRecordedTables { db, recorder in
            recorder.observes = { $0.tableName == "sqlite_temp_master" }
            try db.notifyChanges(in: Table("sqlite_temp_master"))
            #expect(!recorder.take().contains("change"))
            try db.execute(sql: "CREATE TEMPORARY TABLE scratch(a)")
            _ = recorder.take()
            try db.notifyChanges(in: Table("sqlite_temp_master"))
            #expect(recorder.take().contains("change"))
        }
    }

    @Test("A transaction that may only read is not notified")
    func reads() throws {
        try withEncryptedQueue { queue in
            let recorder = TransactionRecorder()
            queue.add(transactionObserver: recorder)
            _ = try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM sqlite_master") }
            #expect(recorder.take() == [])
        }
    }

    @Test("An observer that refuses the commit rolls the transaction back, and its error is thrown")
    func refusal() throws {
        try withRecordedTables { db, recorder in
            recorder.refusal = Refusal()
            #expect(throws: Refusal.self) {
                try db.inTransaction {
                    try db.execute(sql: "INSERT INTO wine (id) VALUES (1)")
                    return .commit
                }
            }
            #expect(recorder.take() == ["insert main.wine 1", "will commit", "rollback"])
            #expect(throws: Refusal.self) { try db.execute(sql: "INSERT INTO wine (id) VALUES (1)") }
            #expect(recorder.take() == ["insert main.wine 1", "will commit", "rollback"])
            recorder.refusal = nil
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM wine") == 0)
            try db.execute(sql: "INSERT INTO wine (id) VALUES (1)")
            #expect(recorder.take().last == "commit")
        }
    }

    @Test("Only the kinds that the observer observes are notified")
    func filter() throws {
        try withRecordedTables { db, recorder in
            recorder.observes = {
                if case .update("wine", let columns) = $0 { return columns.contains("score") }
                if case .delete("note") = $0 { return true }
                return false
            }
            try db.execute(sql: "INSERT INTO wine (id) VALUES (1)")
            try db.execute(sql: "UPDATE wine SET name = 'Chinon'")
            #expect(recorder.take() == ["will commit", "commit", "will commit", "commit"])
            try db.execute(sql: "UPDATE wine SET score = 1")
            #expect(recorder.take() == ["update main.wine 1", "will commit", "commit"])
            recorder.observes = { _ in false }
            try db.execute(sql: "UPDATE wine SET score = 1")
            #expect(recorder.take() == ["will commit", "commit"])
            recorder.observes = { _ in true }
            try db.execute(sql: "UPDATE wine SET score = 1")
            #expect(recorder.take() == ["update main.wine 1", "will commit", "commit"])
        }
    }

    @Test("Changes by a trigger and a foreign key are notified to their observers, and nothing else of the statement")
    func indirectChanges() throws {
        try withRecordedTables { db, recorder in
            try db.execute(
                sql: """
                    CREATE TRIGGER noted AFTER INSERT ON wine BEGIN INSERT INTO note (id, wineId) \
                    VALUES (new.id * 10, new.id); END
                    """)
            _ = recorder.take()
            recorder.observes = { $0.tableName == "note" }
            try db.execute(sql: "INSERT INTO wine (id) VALUES (1)")
            #expect(recorder.take() == ["insert main.note 10", "will commit", "commit"])
            try db.execute(sql: "DELETE FROM wine WHERE id = 1")
            #expect(recorder.take() == ["delete main.note 10", "will commit", "commit"])
        }
    }

    @Test("DELETE without WHERE is notified row by row, even when it was compiled before there were observers")
    func truncation() throws {
        try withDatabase { db in
            try db.execute(sql: "CREATE TABLE wine (id INTEGER PRIMARY KEY)")
            let insert = try db.makeStatement(sql: "INSERT INTO wine VALUES (1), (2)")
            let delete = try db.makeStatement(sql: "DELETE FROM wine")
            try insert.execute()
            try delete.execute()
            let recorder = TransactionRecorder()
            recorder.observes = { if case .delete = $0 { true } else { false } }
            db.add(transactionObserver: recorder)
            for _ in 1...2 {
                try insert.execute()
                _ = recorder.take()
                try delete.execute()
                #expect(recorder.take() == ["delete main.wine 1", "delete main.wine 2", "will commit", "commit"])
            }
            try insert.execute()
            db.remove(transactionObserver: recorder)
            try delete.execute()
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM wine") == 0)
        }
    }

    @Test("A table whose deletions are observed can be dropped")
    func dropWatchedTable() throws {
        try withRecordedTables { db, recorder in
            try db.execute(sql: "INSERT INTO note (id) VALUES (1)")
            try db.execute(sql: "DELETE FROM note")
            #expect(recorder.take().contains("delete main.note 1"))
            try db.execute(sql: "DROP TABLE note")
            #expect(try !db.tableExists("note"))
        }
    }

    @Test("A statement that runs inside of another one, by a function, has observers of its own")
    func nestedStatements() throws {
        try withRecordedTables { db, recorder in
            nonisolated(unsafe) let connection = db
            db.add(
                function: DatabaseFunction("annotate", argumentCount: 1) { values in
                    try connection.execute(sql: "INSERT INTO note (id) VALUES (?)", arguments: [values[0]])
                    return values[0]
                })
            recorder.observes = { $0.tableName == "wine" }
            try db.execute(sql: "INSERT INTO wine (id, score) SELECT annotate(5), 1 UNION ALL SELECT annotate(6), 2")
            #expect(recorder.take().filter { $0.hasPrefix("insert") } == ["insert main.wine 5", "insert main.wine 6"])
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM note") == 2)
        }
    }

    @Test("Changes in a savepoint are notified when the outermost one is released")
    func savepoints() throws {
        try withRecordedTables { db, recorder in
            try db.inTransaction {
                try db.inSavepoint {
                    try db.execute(sql: "INSERT INTO wine (id) VALUES (1)")
                    try db.inSavepoint {
                        try db.execute(sql: "INSERT INTO wine (id) VALUES (2)")
                        return .commit
                    }
                    #expect(recorder.take() == [])
                    return .commit
                }
                #expect(recorder.take() == ["insert main.wine 1", "insert main.wine 2"])
                return .commit
            }
            #expect(recorder.take() == ["will commit", "commit"])
        }
    }

    @Test("Changes in a savepoint that is rolled back are never notified")
    func rolledBackSavepoint() throws {
        try withRecordedTables { db, recorder in
            try db.inTransaction {
                try db.inSavepoint {
                    try db.execute(sql: "INSERT INTO wine (id) VALUES (1)")
                    try db.inSavepoint {
                        try db.execute(sql: "INSERT INTO wine (id) VALUES (2)")
                        return .rollback
                    }
                    return .commit
                }
                return .commit
            }
            #expect(recorder.take() == ["insert main.wine 1", "will commit", "commit"])
        }
    }

    @Test("Savepoints by SQL count like others, by the latest of a name, and a commit releases them all")
    func savepointsBySQL() throws {
        try withRecordedTables { db, recorder in
            try db.execute(
                sql: """
                    SAVEPOINT a;
                    INSERT INTO wine (id) VALUES (1);
                    SAVEPOINT "A";
                    INSERT INTO wine (id) VALUES (2);
                    ROLLBACK TO a;
                    INSERT INTO wine (id) VALUES (3);
                    SAVEPOINT b;
                    INSERT INTO wine (id) VALUES (4);
                    """)
            #expect(recorder.take() == [])
            try db.execute(sql: "COMMIT")
            #expect(
                recorder.take() == [
                    "insert main.wine 1", "insert main.wine 3", "insert main.wine 4", "will commit", "commit",
                ])
            try db.execute(sql: "SAVEPOINT a; INSERT INTO wine (id) VALUES (5); ROLLBACK TO a; RELEASE a")
            #expect(!recorder.take().contains("insert main.wine 5"))
            try db.execute(sql: "BEGIN; SAVEPOINT a; INSERT INTO wine (id) VALUES (6); ROLLBACK")
            #expect(recorder.take() == ["rollback"])
            try db.execute(sql: "INSERT INTO wine (id) VALUES (7)")
            #expect(recorder.take() == ["insert main.wine 7", "will commit", "commit"])
        }
    }

    @Test("An observer that has stopped its notifications gets them again in the next transaction")
    func stop() throws {
        try withRecordedTables { db, recorder in
            recorder.stopsAfterFirst = true
            for _ in 1...2 {
                try db.execute(sql: "INSERT OR IGNORE INTO wine (id) VALUES (1), (2)")
                try db.execute(sql: "DELETE FROM wine")
                #expect(
                    recorder.take() == [
                        "insert main.wine 1", "will commit", "commit", "delete main.wine 1", "will commit", "commit",
                    ])
            }
        }
    }

    @Test("Asking for no more changes outside of a notification is a fatal error")
    func stopOutside() async {
        await #expect(processExitsWith: .failure) {
            TransactionRecorder().stopObservingDatabaseChangesUntilNextTransaction()
        }
    }

    @Test("An observer can write when it is notified of a commit, and is notified of that as well")
    func writeAfterCommit() throws {
        final class Writer: TransactionObserver {
            var commits = 0
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseDidRollback(_ db: Database) {}
            func databaseDidCommit(_ db: Database) {
                commits += 1
                #expect(!db.isInsideTransaction)
                if commits == 1 {
                    #expect(throws: Never.self) { try db.execute(sql: "INSERT INTO wine (id) VALUES (2)") }
                }
            }
        }
        try withRecordedTables { db, _ in
            let writer = Writer()
            db.add(transactionObserver: writer)
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO wine (id) VALUES (1)")
                return .commit
            }
            #expect(writer.commits == 2)
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM wine") == 2)
        }
    }

    @Test("In a pool, an observer reads the state of the commit while other writes go on")
    func concurrentReadAfterCommit() throws {
        final class Counter: TransactionObserver {
            unowned let pool: DatabasePool
            let counted = Gate()
            let release = Gate()
            let count = Shared(0)
            init(_ pool: DatabasePool) { self.pool = pool }
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseDidRollback(_ db: Database) {}
            func databaseDidCommit(_ db: Database) {
                let (counted, release, count) = (counted, release, count)
                pool.asyncConcurrentRead { db in
                    release.pass()
                    count.update { $0 = (try? db.get().countWines()) ?? -1 }
                    counted.open()
                }
            }
        }
        let fixture = try PoolFixture()
        let counter = Counter(fixture.pool)
        fixture.pool.add(transactionObserver: counter, extent: .nextTransaction)
        try fixture.pool.write { try $0.insertWine() }
        try fixture.pool.write { try $0.insertWine() }
        counter.release.open()
        counter.counted.pass()
        #expect(counter.count.value == 1)
    }

    @Test("afterNextTransaction and observers are notified of the same commit, even if an observer writes")
    func completions() throws {
        final class Reader: TransactionObserver {
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { false }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseDidRollback(_ db: Database) {}
            func databaseDidCommit(_ db: Database) {
                #expect(throws: Never.self) {
                    try db.inTransaction {
                        _ = try Row.fetchAll(db, sql: "SELECT * FROM wine")
                        return .rollback
                    }
                }
            }
        }
        try withRecordedTables { db, _ in
            let reader = Reader()
            db.add(transactionObserver: reader)
            let ends = Shared<[String]>([])
            try db.inTransaction {
                db.afterNextTransaction(
                    onCommit: { _ in ends.update { $0.append("commit") } },
                    onRollback: { _ in ends.update { $0.append("rollback") } })
                try db.execute(sql: "INSERT INTO wine (id) VALUES (1)")
                return .commit
            }
            #expect(ends.value == ["commit"])
        }
    }
}
