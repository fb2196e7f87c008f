import Foundation
import Strongroom
import Testing

@Suite("A queue")
struct SmokeTests {
    @Test("stores and reads back rows in an encrypted file")
    func roundTrip() throws {
        try withEncryptedQueue { queue in
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score REAL)")
                try db.execute(sql: "INSERT INTO player (name, score) VALUES (?, ?)", arguments: ["Arthur", 1.5])
                try db.execute(
                    sql: "INSERT INTO player (name, score) VALUES (:name, :score)",
                    arguments: ["name": "Barbara", "score": nil])
            }
            let rows = try queue.read { try Row.fetchAll($0, sql: "SELECT * FROM player ORDER BY id") }
            #expect(rows == [["id": 1, "name": "Arthur", "score": 1.5], ["id": 2, "name": "Barbara", "score": nil]])
            let count = try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM player") }
            #expect(count == 2)
            let names = try queue.read { try String.fetchAll($0, sql: "SELECT name FROM player ORDER BY 1") }
            #expect(names == ["Arthur", "Barbara"])
            try queue.read { db in
                let cursor = try Row.fetchCursor(db, sql: "SELECT id, score FROM player")
                var ids: [Int] = []
                while let row = try cursor.next() {
                    ids.append(row["id"])
                    let score: Double? = row["score"]
                    #expect(score == 1.5 || row["id"] == 2)
                }
                #expect(ids == [1, 2])
            }
            #expect(throws: DatabaseError.self) {
                try queue.read { try $0.execute(sql: "DELETE FROM player") }
            }
        }
    }
}
