import Strongroom
import Testing

private struct Wine: Codable, PersistableRecord {
    let name: String
}

@Suite("Statements that SQLite compiles again")
struct RecompiledStatementTests {
    @Test(
        "A commit is notified as one, also by a statement that SQLite compiles again",
        arguments: ["another connection", "VACUUM", "a record"])
    func recompilation(cause: String) throws {
        let fixture = try QueueFixture(), recorder = TransactionRecorder(), ends = Shared<[String]>([])
        let changes = Shared(0)
        let cancellable = try DatabaseRegionObservation(tracking: Table("wine")).start(in: fixture.queue) { _ in
            changes.update { $0 += 1 }
        }
        try fixture.queue.writeWithoutTransaction { db in
            let sql = "INSERT INTO wine (name) VALUES ('Chinon')"
            let insert = {
                cause == "a record" ? try Wine(name: "Chinon").insert(db) : try db.cachedStatement(sql: sql).execute()
            }
            try insert()
            db.add(transactionObserver: recorder)
            if cause == "VACUUM" {
                try db.execute(sql: "VACUUM")
            } else {
                let other = try DatabaseQueue(path: fixture.queue.path, configuration: fixture.queue.configuration)
                try other.write { try $0.execute(sql: "CREATE TABLE note (a)") }
                try other.close()
            }
            _ = recorder.take()
            db.afterNextTransaction(
                onCommit: { _ in ends.update { $0.append("commit") } },
                onRollback: { _ in ends.update { $0.append("rollback") } })
            try insert()
            #expect(recorder.take() == ["insert main.wine 2", "will commit", "commit"])
            #expect(ends.value == ["commit"])
            #expect(try db.countWines() == 2)
        }
        #expect(changes.value >= 2)
        cancellable.cancel()
    }
}
