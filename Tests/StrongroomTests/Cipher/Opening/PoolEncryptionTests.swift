import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("The encryption of a pool")
struct PoolEncryptionTests {
    private func withPool<T>(
        _ configuration: Configuration = .encrypted(), _ body: (DatabasePool, String) throws -> T
    ) throws -> T {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
            for _ in 0..<500 { try db.execute(sql: "INSERT INTO t(b) VALUES (randomblob(1000))") }
        }
        let result = try body(pool, path)
        try? pool.close()
        return result
    }

    private func count(_ db: Database) throws -> Int? { try Int.fetchOne(db, sql: "SELECT count(*) FROM t") }

    private func derivations(_ pool: DatabasePool) throws -> Int {
        try #require(pool.configuration.keyring).derivationCount
    }

    /// Reads on as many connections as the pool has, at the same time.
    private func readOnAll(_ pool: DatabasePool) -> [Int?] {
        let inside = DispatchSemaphore(value: 0), leave = DispatchSemaphore(value: 0), done = DispatchGroup()
        let counts = Collected<Int?>()
        for _ in 0..<5 {
            done.enter()
            Thread.detachNewThread {
                let count: Int? = try? pool.read { db in
                    inside.signal()
                    leave.wait()
                    return try Int.fetchOne(db, sql: "SELECT count(*) FROM t")
                }
                // A read that fails is waited for, too.
                if count == nil { inside.signal() }
                counts.append(count)
                done.leave()
            }
        }
        for _ in 0..<5 { inside.wait() }
        for _ in 0..<5 { leave.signal() }
        done.wait()
        return counts.values
    }

    @Test("costs one derivation: five readers, a snapshot and readers opened later", arguments: [true, false])
    func oneDerivation(declared: Bool) throws {
        var configuration = Configuration.encrypted()
        if declared {
            configuration = Configuration()
            configuration.encryption = Encryption(
                key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000))
        }
        try withPool(configuration) { pool, _ in
            #expect(readOnAll(pool) == [500, 500, 500, 500, 500])
            let snapshot = try pool.makeSnapshot()
            #expect(try snapshot.read(count) == 500)
            pool.invalidateReadOnlyConnections()
            #expect(readOnAll(pool) == [500, 500, 500, 500, 500])
            #expect(try derivations(pool) == 1)
            #expect(try pool.checkIntegrity().isIntact)
            #expect(try derivations(pool) == 1)
        }
    }

    @Test("changes its key, and all its connections go on")
    func rotation() throws {
        try withPool { pool, path in
            #expect(readOnAll(pool) == [500, 500, 500, 500, 500])
            try pool.rotateKey(to: .passphrase("new"))
            #expect(readOnAll(pool) == [500, 500, 500, 500, 500])
            try pool.write { try $0.execute(sql: "INSERT INTO t(b) VALUES (1)") }
            #expect(readOnAll(pool) == [501, 501, 501, 501, 501])
            #expect(try derivations(pool) == 1)
            #expect(try pool.checkIntegrity().isIntact)
            #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: .encrypted()) }
            #expect(try DatabaseQueue(path: path, configuration: .encrypted(passphrase: "new")).read(count) == 501)
        }
    }

    @Test("changes its key while the task is suspended")
    func asyncRotation() async throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let pool = try DatabasePool(path: path, configuration: .encrypted())
        try await pool.write { try $0.execute(sql: "CREATE TABLE t(a)") }
        try await pool.rotateKey(to: .passphrase("new"))
        #expect(try await pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 0)
        #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: .encrypted()) }
        _ = try DatabaseQueue(path: path, configuration: .encrypted(passphrase: "new"))
    }

    @Test("changes its key behind a type eraser")
    func erased() throws {
        try withPool { pool, _ in
            #expect(readOnAll(pool).count == 5)
            try AnyDatabaseWriter(pool).rotateKey(to: .passphrase("new"))
            #expect(readOnAll(pool) == [500, 500, 500, 500, 500])
        }
    }

    @Test("lets a snapshot finish on the pages of the old key")
    func snapshot() throws {
        try withPool { pool, path in
            let snapshot = try pool.makeSnapshot()
            try pool.rotateKey(to: .passphrase("new"))
            try pool.write { try $0.execute(sql: "INSERT INTO t(b) VALUES (1)") }
            #expect(try snapshot.read(count) == 500)
            #expect(readOnAll(pool) == [501, 501, 501, 501, 501])
            // The salt of the file is still the old one: no connection derives for it.
            #expect(try derivations(pool) == 1)
            #expect(try DatabaseFile.inspect(path: path).isRotationPending)
            let again = #expect(throws: DatabaseError.self) { try pool.rotateKey(to: .passphrase("newer")) }
            #expect(again?.resultCode == .SQLITE_BUSY)
            #expect(again?.reason == .checkpointPending)
            try snapshot.close()
            try pool.rotateKey(to: .passphrase("newer"))
            #expect(try !DatabaseFile.inspect(path: path).isRotationPending)
            #expect(readOnAll(pool) == [501, 501, 501, 501, 501])
        }
    }

    @Test("survives a rotation that is stopped")
    func stopped() throws {
        struct Stopped: Error {}
        try withPool { pool, path in
            #expect(throws: Stopped.self) { try pool.rotateKey(to: .passphrase("new")) { _ in throw Stopped() } }
            #expect(readOnAll(pool) == [500, 500, 500, 500, 500])
            try pool.write { try $0.execute(sql: "INSERT INTO t(b) VALUES (1)") }
            #expect(try DatabaseQueue(path: path, configuration: .encrypted()).read(count) == 501)
        }
    }

    @Test("goes into a copy with another key, or none", arguments: [true, false])
    func vacuumInto(clear: Bool) throws {
        try withPool { pool, path in
            let encryption =
                clear ? nil : Encryption(key: .passphrase("other"), settings: CipherSettings(kdfIterations: 1000))
            try pool.vacuum(into: path + ".copy", encryption: encryption)
            var configuration = Configuration()
            configuration.encryption = encryption
            #expect(try DatabaseQueue(path: path + ".copy", configuration: configuration).read(count) == 500)
            try FileManager.default.removeItem(atPath: path + ".copy")
        }
    }

    @Test("goes into a vacuumed copy with the same key")
    func vacuumIntoSameKey() throws {
        try withPool { pool, path in
            try pool.vacuum(into: path + ".copy")
            #expect(try DatabaseQueue(path: path + ".copy", configuration: .encrypted()).read(count) == 500)
            #expect(try stockShell(path + ".copy", "SELECT count(*) FROM t;") == ["500"])
        }
    }

    @Test("goes into a backup with the same or another key")
    func backup() throws {
        try withPool { pool, path in
            for passphrase in ["correct horse", "other"] {
                let target = try DatabaseQueue(
                    path: path + "." + passphrase, configuration: .encrypted(passphrase: passphrase))
                try pool.backup(to: target)
                try target.close()
                #expect(try stockShell(path + "." + passphrase, key: passphrase, "SELECT count(*) FROM t;") == ["500"])
            }
        }
    }

}

final class Collected<Element: Sendable>: @unchecked Sendable {
    private let lock = NSLock()
    private var elements: [Element] = []
    var values: [Element] { lock.withLock { elements } }
    func append(_ element: Element) { lock.withLock { elements.append(element) } }
}
