import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Objects that a program keeps although it should not.
private final class Kept: @unchecked Sendable {
    var database: Database?
    var statement: Statement?
    var cursor: RowCursor?
    var row: Row?
}

/// Objects that a program uses to its very end.
nonisolated(unsafe) private var survivor: (folder: TemporaryFolder, pool: DatabasePool)?

@Suite("A connection's life")
struct LifetimeTests {
    @Test("A closed queue refuses accesses")
    func closed() throws {
        try withEncryptedQueue { queue throws in
            try queue.close()
            try queue.close()
            let failure = try #require(throws: DatabaseError.self) {
                try queue.read { try Int.fetchOne($0, sql: "SELECT 1") }
            }
            #expect(failure.resultCode == .SQLITE_MISUSE)
        }
    }

    @Test("A closed connection is in no transaction")
    func closedTransaction() throws {
        try withEncryptedQueue { queue throws in
            try queue.close()
            #expect(queue.inDatabase { $0.isInsideTransaction } == false)
        }
    }

    @Test("Closing fails while a statement is alive, and the queue goes on")
    func busyClose() throws {
        try withEncryptedQueue { queue throws in
            let kept = Kept()
            try queue.inDatabase { kept.statement = try $0.makeStatement(sql: "SELECT 1") }
            let failure = try #require(throws: DatabaseError.self) { try queue.close() }
            #expect(failure.resultCode == .SQLITE_BUSY)
            #expect(try queue.read { _ in try Int.fetchOne(kept.statement!) } == 1)
            kept.statement = nil
            try queue.close()
        }
    }

    @Test("A statement that is released outside of any access is finalized at closing")
    func orphan() throws {
        try withEncryptedQueue { queue throws in
            let kept = Kept()
            for _ in 1...20 {
                try queue.inDatabase { kept.statement = try $0.makeStatement(sql: "SELECT 1") }
                kept.statement = nil
            }
            try queue.close()
        }
    }

    @Test("A statement that outlives its queue is freed with no harm")
    func outlives() throws {
        let kept = Kept()
        let folder = try TemporaryFolder()
        do {
            let queue = try DatabaseQueue(path: folder.path("db"), configuration: .encrypted())
            try queue.inDatabase { db throws in
                try db.execute(sql: "CREATE TABLE t (a)")
                kept.statement = try db.makeStatement(sql: "SELECT * FROM t")
            }
        }
        kept.statement = nil
        // The connection is gone with its last statement: the file is free.
        let queue = try DatabaseQueue(path: folder.path("db"), configuration: .encrypted())
        try queue.inDatabase { try $0.inTransaction(.exclusive) { .commit } }
        try queue.close()
    }

    @Test("An interruption that comes late meets nothing")
    func lateInterrupt() async throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path("db"), configuration: .encrypted())
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for _ in 1...10_000 { queue.interrupt() } }
            group.addTask { try? queue.close() }
        }
        queue.interrupt()
        #expect(throws: DatabaseError.self) { try queue.read { try Int.fetchOne($0, sql: "SELECT 1") } }
    }

    @Test("An interruption stops the running statement, and no later one")
    func interrupt() throws {
        try withEncryptedQueue { queue throws in
            let started = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                started.wait()
                queue.interrupt()
            }
            try queue.inDatabase { db throws in
                db.add(
                    function: DatabaseFunction("started", argumentCount: 0) { _ in
                        started.signal()
                        return 1
                    })
                let failure = try #require(throws: DatabaseError.self) {
                    _ = try Int.fetchOne(
                        db,
                        sql: """
                            WITH RECURSIVE n (i) AS (SELECT started() UNION ALL SELECT i + 1 FROM n) SELECT max(i) \
                            FROM n
                            """)
                }
                #expect(failure.resultCode == .SQLITE_INTERRUPT)
                #expect(failure.isInterruptionError)
                #expect(try Int.fetchOne(db, sql: "SELECT 1") == 1)
            }
        }
    }

    @Test(
        "A database works until the process ends, after other exit handlers",
        .enabled(if: SQLCipherVersion.running < .rebuilt, "SQLCipher from 4.7 on has been cleaned up by then, too"))
    func programEnd() async {
        await #expect(processExitsWith: .success) {
            // Such functions run in reverse order: whatever registers its own from here on is cleaned up before this
            // one runs.
            atexit {
                let count = try? survivor?.pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM t") }
                survivor = nil
                if count != 0 { _exit(EXIT_FAILURE) }
            }
            let folder = try TemporaryFolder()
            let pool = try DatabasePool(path: folder.path("db.sqlite"), configuration: .encrypted())
            try await pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            survivor = (folder, pool)
            Foundation.exit(EXIT_SUCCESS)
        }
    }

    @Test("A database may be released until the process ends")
    func releaseAtEnd() async {
        await #expect(processExitsWith: .success) {
            // It runs after the functions that are registered later, SQLCipher's among them.
            atexit { survivor = nil }
            let folder = try TemporaryFolder()
            let pool = try DatabasePool(path: folder.path("db.sqlite"), configuration: .encrypted())
            try await pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
            survivor = (folder, pool)
            Foundation.exit(EXIT_SUCCESS)
        }
    }

    @Test("A database used after its access stops the program")
    func databaseAfterAccess() async {
        await #expect(processExitsWith: .failure) {
            let queue = try DatabaseQueue()
            let database = queue.inDatabase { $0 }
            try database.execute(sql: "SELECT 1")
        }
    }

    @Test("A database used on another thread stops the program with a message")
    func databaseOnAnotherThread() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let queue = try DatabaseQueue()
            try queue.inDatabase { db throws in
                let kept = Kept()
                kept.database = db
                let done = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    _ = kept.database!.changesCount
                    done.signal()
                }
                done.wait()
            }
        }
        let words = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(words.contains("was used outside of its database access, or on another thread"))
    }

    @Test("A statement used after its access stops the program")
    func statementAfterAccess() async {
        await #expect(processExitsWith: .failure) {
            let queue = try DatabaseQueue()
            let statement = try queue.inDatabase { try $0.makeStatement(sql: "SELECT 1") }
            try statement.execute()
        }
    }

    @Test("A cursor used after its access stops the program")
    func cursorAfterAccess() async {
        await #expect(processExitsWith: .failure) {
            let queue = try DatabaseQueue()
            let kept = Kept()
            try queue.inDatabase { kept.cursor = try Row.fetchCursor($0, sql: "SELECT 1 UNION SELECT 2") }
            // The run has ended with its access: what is left to do is to say so.
            _ = try kept.cursor!.next()
        }
    }

    @Test("A row of a cursor used after its access stops the program")
    func rowAfterAccess() async {
        await #expect(processExitsWith: .failure) {
            let queue = try DatabaseQueue()
            let kept = Kept()
            try queue.inDatabase { db throws in
                let cursor = try Row.fetchCursor(db, sql: "SELECT 1 AS a")
                kept.row = try cursor.next()
            }
            let _: Int = kept.row!["a"]
        }
    }

    @Test("An access within an access of the same queue stops the program")
    func reentrancy() async {
        await #expect(processExitsWith: .failure) {
            let queue = try DatabaseQueue()
            try queue.inDatabase { _ in try queue.read { _ in } }
        }
    }
}
