import Dispatch
import Foundation
import Strongroom
import Testing

@Suite("The connections of a pool", .timeLimit(.minutes(2)))
struct PoolConnectionTests {
    @Test("invalidateReadOnlyConnections replaces readers, and does not stop running reads")
    func invalidateReadOnlyConnections() throws {
        let fixture = try PoolFixture()
        let pool = fixture.pool
        let name: () throws -> String = { try pool.read { $0.description } }
        #expect(try name() == "Strongroom.DatabasePool.reader.1")
        #expect(try name() == "Strongroom.DatabasePool.reader.1")
        try pool.read { db in
            start { pool.invalidateReadOnlyConnections() }.pass()
            let count = try db.countWines()
            #expect(count == 0)
        }
        #expect(try name() == "Strongroom.DatabasePool.reader.2")
    }

    @Test("invalidateReadOnlyConnections replaces the readers of asynchronous reads as well")
    func invalidateDuringAsyncReads() async throws {
        let pool = try PoolFixture().pool
        let name: @Sendable (Database) -> String = { db in
            pool.invalidateReadOnlyConnections()
            return db.description
        }
        #expect(try await pool.read(name) == "Strongroom.DatabasePool.reader.1")
        #expect(try await pool.read(name) == "Strongroom.DatabasePool.reader.2")
        let third = await withCheckedContinuation { continuation in
            pool.asyncRead { db in continuation.resume(returning: db.map(name)) }
        }
        #expect(try third.get() == "Strongroom.DatabasePool.reader.3")
        #expect(try await pool.read { $0.description } == "Strongroom.DatabasePool.reader.4")
    }

    @Test("releaseMemory closes readers, unless they are persistent")
    func releaseMemory() async throws {
        for isPersistent in [false, true] {
            var configuration = Configuration.encrypted()
            configuration.persistentReadOnlyConnections = isPersistent
            let pool = try PoolFixture(configuration).pool
            let name: @Sendable () throws -> String = { try pool.read { $0.description } }
            let reader = "Strongroom.DatabasePool.reader."
            #expect(try name() == reader + "1")
            pool.releaseMemory()
            #expect(try name() == reader + (isPersistent ? "1" : "2"))
            pool.releaseMemoryEventually()
            if !isPersistent {
                let isReplaced = try await eventually { try name() == reader + "3" }
                #expect(isReplaced)
            }
        }
        try QueueFixture().queue.releaseMemory()
    }

    @Test("interrupt stops the running statements of all connections", arguments: WriterKind.allCases)
    func interrupt(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let codes = Shared<[ResultCode]>([])
        let reader = start {
            do { try writer.read { try $0.runForever() } } catch {
                codes.update { $0.append((error as! DatabaseError).resultCode) }
            }
        }
        // Work that has not begun is not interrupted: once is not enough.
        while !reader.opens(within: 0.002) { writer.interrupt() }
        #expect(codes.value == [.SQLITE_INTERRUPT])
        try await writer.write { try $0.insertWine() }
        _ = folder
    }

    @Test("close waits for running accesses, and refuses later ones", arguments: WriterKind.allCases)
    func close(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let isReading = Gate(), mayStop = Gate()
        let count = Shared(-1)
        let reading = start {
            count.update {
                $0 = try! writer.read { db in
                    isReading.open()
                    mayStop.pass()
                    return try db.countWines()
                }
            }
        }
        isReading.pass()
        let closing = start { try! writer.close() }
        #expect(!closing.opens(within: 0.1))
        mayStop.open()
        for thread in [reading, closing] { thread.pass() }
        #expect(count.value == 0)

        @Sendable func expectClosed(_ error: (any Error)?) {
            #expect((error as? DatabaseError)?.resultCode == .SQLITE_MISUSE)
            #expect((error as? DatabaseError)?.message == "Connection is closed")
        }
        expectClosed(await #expect(throws: (any Error).self) { try await writer.read { try $0.countWines() } })
        expectClosed(await #expect(throws: (any Error).self) { try await writer.write { try $0.insertWine() } })
        expectClosed(
            await #expect(throws: (any Error).self) {
                try await writer.barrierWriteWithoutTransaction { try $0.insertWine() }
            })
        try await onThread {
            expectClosed(#expect(throws: (any Error).self) { try writer.read { try $0.countWines() } })
            expectClosed(#expect(throws: (any Error).self) { try writer.write { try $0.insertWine() } })
            expectClosed(
                #expect(throws: (any Error).self) { try writer.barrierWriteWithoutTransaction { try $0.insertWine() } })
        }
        let result = await withCheckedContinuation { continuation in
            writer.asyncRead { db in continuation.resume(returning: db.map { _ in }) }
        }
        expectClosed(#expect(throws: (any Error).self) { try result.get() })
        // Late calls meet nothing.
        writer.interrupt()
        writer.suspend()
        writer.resume()
        try writer.close()
        #expect(!FileManager.default.fileExists(atPath: folder.path("db.sqlite-wal")))
    }
}
