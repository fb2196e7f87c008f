import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("The health of a database")
struct HealthTests {
    @Test("is ready, suspended while it is suspended, and closed at the end")
    func life() throws {
        let pool = try PoolFixture().pool
        #expect(pool.health == .ready && AnyDatabaseWriter(pool).health == .ready)
        pool.suspend()
        #expect(pool.health == .suspended && pool.health.canRead && !pool.health.canWrite)
        pool.resume()
        #expect(pool.health == .ready)
        try pool.close()
        #expect(pool.health == .closed && !pool.health.canRead)
    }

    @Test("is read-only with such a configuration")
    func readOnly() throws {
        let fixture = try PoolFixture()
        var configuration = Configuration.encrypted()
        configuration.readonly = true
        let reader = try DatabasePool(path: fixture.path, configuration: configuration)
        #expect(reader.health == .readOnly)
    }

    @Test("is shutting down while accesses end")
    func shuttingDown() async throws {
        let pool = try PoolFixture().pool
        let reader = try await HeldAccess { hold in try pool.read { _ in hold() } }
        let shutdown = Task { try await pool.shutDown() }
        #expect(try await eventually { pool.health == .shuttingDown })
        try await reader.end()
        _ = try await shutdown.value
        #expect(pool.health == .closed)
    }

    @Test("is a full disk after a write that failed for it, until a commit")
    func fullDisk() throws {
        let pool = try PoolFixture().pool
        try pool.writeWithoutTransaction { db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count")!
            try db.execute(sql: "PRAGMA max_page_count = \(pages)")
        }
        let fillsDisk = {
            let error = #expect(throws: DatabaseError.self) {
                try pool.write { try $0.execute(sql: "INSERT INTO wine (name) VALUES (zeroblob(100000))") }
            }
            #expect(error?.resultCode == .SQLITE_FULL)
            let health = pool.health
            return health == .diskFull && health.canRead
        }
        // The state also ends when other processes free room of the same disk.
        #expect((0..<20).contains { _ in fillsDisk() })
        try pool.write { try $0.insertWine() }
        #expect(pool.health == .ready)
    }
}
