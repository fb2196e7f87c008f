import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A database service")
struct DatabaseServiceTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func service(
        limit: TimeInterval = 10, opening: @escaping @Sendable () throws -> Void = {}
    ) -> DatabaseService<DatabasePool> {
        DatabaseService(shutdownLimit: limit) { [folder] in
            try opening()
            return try DatabasePool(path: folder.path("db.sqlite"), configuration: .encrypted())
        }
    }

    /// Returns when `stop` has a value.
    private func run<Base>(_ service: DatabaseService<Base>, until stop: Awaited<Void>) -> Task<Void, any Error> {
        Task { try await service.run(until: { try await stop.value() }) }
    }

    @Test("opens its database when it runs, and shuts it down when it is stopped")
    func life() async throws {
        let service = service(), stop = Awaited<Void>()
        #expect(service.health == nil)
        let running = run(service, until: stop)
        let pool = try await service.database
        try await pool.write { try $0.execute(sql: "CREATE TABLE wine (name)") }
        #expect(service.health == .ready)
        stop.put(.success(()))
        try await running.value
        #expect(service.health == .closed)
    }

    @Test("shuts down a database that it was given")
    func given() async throws {
        let pool = try PoolFixture().pool
        let service = DatabaseService(pool), stop = Awaited<Void>()
        stop.put(.success(()))
        try await run(service, until: stop).value
        #expect(pool.health == .closed)
    }

    @Test("that is stopped while it opens ends with the opening, and says so to those that wait")
    func stoppedWhileOpening() async throws {
        let opens = Gate(), mayOpen = Gate(), stop = Awaited<Void>()
        let service = service {
            opens.open()
            mayOpen.pass()
        }
        let running = run(service, until: stop)
        let waiting = Task { try await service.database }
        try await passes(opens)
        stop.put(.success(()))
        let error = await #expect(throws: DatabaseError.self) { _ = try await waiting.value }
        #expect(error?.reason == .stoppedWhileOpening && error?.recoverySuggestion?.contains("Start") == true)
        mayOpen.open()
        try await running.value
        // Closed again: no connection keeps the log.
        #expect(try !folder.names().contains { $0.hasSuffix("-wal") })
    }

    @Test("does not wait for an opening beyond its limit, and closes what is opened later")
    func hangingOpening() async throws {
        let opens = Gate(), mayOpen = Gate(), stop = Awaited<Void>()
        let service = service(limit: 0.05) {
            opens.open()
            mayOpen.pass()
        }
        let running = run(service, until: stop)
        try await passes(opens)
        stop.put(.success(()))
        let error = await #expect(throws: DatabaseError.self) { try await running.value }
        #expect(error?.reason == .stoppedWhileOpening)
        mayOpen.open()
        #expect(
            try await eventually {
                let names = (try? folder.names()) ?? []
                return names.contains("db.sqlite") && !names.contains { $0.hasSuffix("-wal") }
            })
    }

    @Test("whose opening fails ends with its error, without a stop")
    func failing() async throws {
        let service = service { throw DatabaseError(resultCode: .SQLITE_CANTOPEN) }
        let running = run(service, until: Awaited<Void>())
        let error = await #expect(throws: DatabaseError.self) { try await running.value }
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
        await #expect(throws: DatabaseError.self) { _ = try await service.database }
    }

    @Test("of a cancelled task interrupts accesses, and closes")
    func cancelled() async throws {
        let service = service(limit: 3600)
        let running = run(service, until: Awaited<Void>())
        let pool = try await service.database
        let isInside = Gate()
        let reader = Task {
            try await pool.read { db in
                isInside.open()
                try db.runForever()
            }
        }
        try await passes(isInside)
        running.cancel()
        try await running.value
        await #expect(throws: (any Error).self) { try await reader.value }
        #expect(service.health == .closed)
    }

    @Test("runs once")
    func once() async throws {
        let service = service(), stop = Awaited<Void>()
        stop.put(.success(()))
        try await run(service, until: stop).value
        await #expect(throws: DatabaseError.self) { try await run(service, until: stop).value }
    }
}
