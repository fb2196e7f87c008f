import Foundation
import Strongroom
import Testing

@Suite("A savepoint")
struct SavepointTests {
    private struct Refusal: Error {}

    private func withTable<T>(_ body: (Database) throws -> T) throws -> T {
        try withEncryptedQueue { queue throws in
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "CREATE TABLE t (a UNIQUE)")
                return try body(db)
            }
        }
    }

    private func insert(_ value: Int, _ db: Database) throws {
        try db.execute(sql: "INSERT INTO t VALUES (?)", arguments: [value])
    }

    @Test("A savepoint undoes its own changes only, at any depth")
    func nested() throws {
        try withTable { db throws in
            try db.inTransaction {
                try insert(1, db)
                try db.inSavepoint {
                    try insert(2, db)
                    try db.inSavepoint {
                        try insert(3, db)
                        try db.inSavepoint {
                            try insert(4, db)
                            return .commit
                        }
                        return .rollback
                    }
                    #expect(throws: Refusal.self) {
                        try db.inSavepoint {
                            try insert(5, db)
                            throw Refusal()
                        }
                    }
                    return .commit
                }
                #expect(db.isInsideTransaction)
                return .commit
            }
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM t") == [1, 2])
        }
    }

    @Test("A savepoint is a transaction where none is open")
    func alone() throws {
        try withTable { db throws in
            try db.inSavepoint {
                #expect(db.isInsideTransaction)
                try insert(1, db)
                return .rollback
            }
            #expect(!db.isInsideTransaction)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM t") == 0)
        }
    }

    @Test("A savepoint of a transaction that SQLite rolled back takes the transaction with it")
    func aborted() throws {
        try withTable { db throws in
            let failure = try #require(throws: DatabaseError.self) {
                try db.inTransaction {
                    try insert(1, db)
                    try db.inSavepoint {
                        try? db.execute(sql: "INSERT OR ROLLBACK INTO t VALUES (1)")
                        return .commit
                    }
                    return .commit
                }
            }
            #expect(failure.resultCode == .SQLITE_ABORT)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM t") == 0)
        }
    }
}
