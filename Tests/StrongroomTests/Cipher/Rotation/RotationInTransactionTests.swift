import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

extension Database {
    fileprivate func noteEnd(in ends: Shared<[String]>) {
        afterNextTransaction(
            onCommit: { _ in ends.update { $0.append("commit") } },
            onRollback: { _ in ends.update { $0.append("rollback") } })
    }
}

@Suite("A change of passphrase inside of a write")
struct RotationInTransactionTests {
    private func withQueue(_ body: (DatabaseQueue, _ path: String) throws -> Void) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let queue = try DatabaseQueue(path: path, configuration: .encrypted())
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        try body(queue, path)
    }

    private func rows(_ path: String, _ passphrase: String) throws -> Int? {
        try DatabaseQueue(path: path, configuration: .encrypted(passphrase: passphrase)).read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM t")
        }
    }

    @Test("is made when it comes first, and the transaction goes on under the new key")
    func first() throws {
        try withQueue { queue, path throws in
            try queue.write { db throws in
                let date = try db.transactionDate
                try db.changePassphrase("new")
                #expect(try db.transactionDate == date)
                #expect(db.isInsideTransaction)
                try db.execute(sql: "INSERT INTO t VALUES (2)")
            }
            try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (3)") }
            try queue.close()
            #expect(try rows(path, "new") == 3)
            #expect(throws: DatabaseError.self) { try rows(path, "correct horse") }
            #expect(try stockShell(path, key: "new", "SELECT count(*) FROM t;") == ["3"])
        }
    }

    @Test("stays when the block throws, while the block's changes are rolled back")
    func thrown() throws {
        struct Failure: Error {}
        try withQueue { queue, path throws in
            #expect(throws: Failure.self) {
                try queue.write { db throws in
                    try db.changePassphrase("new")
                    try db.execute(sql: "INSERT INTO t VALUES (2)")
                    throw Failure()
                }
            }
            #expect(try rows(path, "new") == 1)
        }
    }

    @Test(
        "is refused once the transaction has read or written, and changes nothing",
        arguments: [
            "SELECT * FROM t", "INSERT INTO t VALUES (2)", "SAVEPOINT s", "CREATE TABLE u(a)",
        ])
    func late(sql: String) throws {
        try withQueue { queue, path throws in
            try queue.write { db throws in
                try db.execute(sql: sql)
                let error = #expect(throws: DatabaseError.self) { try db.changePassphrase("new") }
                #expect(error?.resultCode == .SQLITE_MISUSE)
                #expect(error?.reason == .keyUnchanged)
                try db.execute(sql: "INSERT INTO t VALUES (3)")
            }
            try queue.close()
            #expect(try rows(path, "correct horse") == (sql.hasPrefix("INSERT") ? 3 : 2))
        }
    }

    @Test("is refused in a transaction that was begun by hand, where reads may have come before")
    func manual() throws {
        try withQueue { queue, path throws in
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "BEGIN IMMEDIATE")
                #expect(throws: DatabaseError.self) { try db.changePassphrase("new") }
                try db.execute(sql: "INSERT INTO t VALUES (2); COMMIT")
            }
            try queue.close()
            #expect(try rows(path, "correct horse") == 2)
        }
    }

    @Test("that fails leaves the block its transaction, and the former key")
    func failed() throws {
        try withQueue { queue, path throws in
            try queue.write { db throws in
                let error = #expect(throws: DatabaseError.self) { try db.changePassphrase("") }
                #expect(error?.reason == .emptyKey)
                try db.execute(sql: "INSERT INTO t VALUES (2)")
            }
            try queue.close()
            #expect(try rows(path, "correct horse") == 2)
        }
    }

    @Test("notifies observers and callbacks of one transaction")
    func observers() throws {
        try withQueue { queue, _ throws in
            let recorder = TransactionRecorder(), ends = Shared<[String]>([])
            queue.add(transactionObserver: recorder, extent: .databaseLifetime)
            try queue.write { db throws in
                db.noteEnd(in: ends)
                try db.changePassphrase("new")
                #expect(ends.value == [])
                try db.execute(sql: "INSERT INTO t VALUES (2)")
            }
            #expect(recorder.take() == ["insert main.t 2", "will commit", "commit"])
            #expect(ends.value == ["commit"])
        }
    }

    @Test("after which another process is faster says that the key was changed, and the block can write nothing")
    func overtaken() throws {
        try withQueue { queue, path throws in
            let shell = Shared<RunningShell?>(nil), ends = Shared<[String]>([])
            let error = #expect(throws: DatabaseError.self) {
                try queue.write { db throws in
                    db.noteEnd(in: ends)
                    // The last call of the progress function comes when all is done but the next transaction.
                    try db.rotation.rotateKey(to: .passphrase("new")) { progress in
                        guard progress.isCompleted, shell.value == nil else { return }
                        let other = try startShell(path, key: "new")
                        try other.run("BEGIN IMMEDIATE;")
                        shell.update { $0 = other }
                    }
                }
            }
            #expect(error?.resultCode == .SQLITE_BUSY)
            #expect(error?.reason == .keyChanged)
            #expect(ends.value == ["rollback"])
            try shell.value?.run("COMMIT;")
            try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (2)") }
            try queue.close()
            #expect(try rows(path, "new") == 2)
        }
    }

    @Test("works as the first thing of a pool's write, and of its barrier")
    func pool() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let pool = try DatabasePool(path: path, configuration: .encrypted())
        try pool.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        try pool.write { try $0.changePassphrase("new") }
        pool.invalidateReadOnlyConnections()
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        try pool.barrierWriteWithoutTransaction { db in
            try db.inTransaction {
                try db.changePassphrase("newer")
                try db.execute(sql: "INSERT INTO t VALUES (2)")
                return .commit
            }
            pool.invalidateReadOnlyConnections()
        }
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 2)
        try pool.close()
        #expect(try rows(path, "newer") == 2)
    }
}
