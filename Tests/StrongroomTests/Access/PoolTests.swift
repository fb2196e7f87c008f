import Dispatch
import Foundation
import Strongroom
import Testing

/// Of the current queue, for nil. Dispatch's Swift interface has no name for it.
@_silgen_name("dispatch_queue_get_label")
private func labelOfQueue(_ queue: UnsafeRawPointer?) -> UnsafePointer<CChar>

@Suite("A pool", .timeLimit(.minutes(2)))
struct PoolTests {
    @Test("reads while it writes")
    func readsDuringWrites() throws {
        let fixture = try PoolFixture()
        let pool = fixture.pool
        try pool.write { db in
            try db.insertWine()
            let count = Shared(-1)
            start { count.update { $0 = try! pool.read { try $0.countWines() } } }.pass()
            #expect(count.value == 0)
        }
    }

    @Test("reads on several connections at once, and never on more than the configuration allows")
    func maximumReaderCount() throws {
        var configuration = Configuration.encrypted()
        configuration.maximumReaderCount = 3
        let fixture = try PoolFixture(configuration)
        let connections = Shared(Set<ObjectIdentifier>())
        let inside = DispatchSemaphore(value: 0)
        let mayLeave = Gate()
        let readers = (0..<3).map { _ in
            start {
                try! fixture.pool.read { db in
                    connections.update { _ = $0.insert(ObjectIdentifier(db)) }
                    inside.signal()
                    mayLeave.pass()
                }
            }
        }
        for _ in 0..<3 { #expect(inside.wait(timeout: .now() + 20) == .success) }
        #expect(connections.value.count == 3)
        let fourthIsIn = Gate()
        let fourth = start { try! fixture.pool.read { _ in fourthIsIn.open() } }
        #expect(!fourthIsIn.opens(within: 0.2))
        mayLeave.open()
        fourth.pass()
        for reader in readers { reader.pass() }
    }

    @Test("keeps its file in WAL mode")
    func walMode() throws {
        let fixture = try PoolFixture()
        #expect(try fixture.pool.unsafeReentrantWrite { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        #expect(throws: DatabaseError.self) { try DatabasePool(path: ":memory:") }
        var configuration = Configuration.encrypted()
        configuration.journalMode = .wal
        let queue = try QueueFixture(configuration).queue
        #expect(try queue.unsafeRead { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        let plain = try QueueFixture().queue
        #expect(try plain.unsafeRead { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "delete")
    }

    @Test("names its connections after its label and their roles, and the dispatch queues likewise")
    func labels() throws {
        func currentQueue() -> String { String(cString: labelOfQueue(nil)) }
        var configuration = Configuration.encrypted()
        configuration.label = "cellar"
        let fixture = try PoolFixture(configuration)
        try fixture.pool.write { db in
            #expect(db.description == "cellar.writer")
            #expect(currentQueue() == "cellar.writer")
        }
        try fixture.pool.read { db in
            #expect(db.description == "cellar.reader.1")
            #expect(currentQueue() == "cellar.reader.1")
        }
        try fixture.pool.makeSnapshot().read { #expect($0.description == "cellar.snapshot.1") }
        try QueueFixture(configuration).queue.read { #expect($0.description == "cellar") }
        try PoolFixture().pool.write { #expect($0.description == "Strongroom.DatabasePool.writer") }
        try PoolFixture().pool.read { #expect($0.description == "Strongroom.DatabasePool.reader.1") }
        try QueueFixture().queue.read { #expect($0.description == "Strongroom.DatabaseQueue") }
    }

    @Test("runs its connections on the target queues of the configuration")
    func targetQueues() throws {
        let key = DispatchSpecificKey<String>()
        let all = DispatchQueue(label: "all"), writes = DispatchQueue(label: "writes")
        all.setSpecific(key: key, value: "all")
        writes.setSpecific(key: key, value: "writes")
        var configuration = Configuration.encrypted()
        configuration.targetQueue = all
        let pool = try PoolFixture(configuration).pool
        try pool.write { _ in #expect(DispatchQueue.getSpecific(key: key) == "all") }
        try pool.read { _ in #expect(DispatchQueue.getSpecific(key: key) == "all") }
        configuration.writeTargetQueue = writes
        let other = try PoolFixture(configuration).pool
        try other.write { _ in #expect(DispatchQueue.getSpecific(key: key) == "writes") }
        try other.read { _ in #expect(DispatchQueue.getSpecific(key: key) == "all") }
    }

    @Test("opens read-only, and then refuses to write")
    func readOnlyPool() throws {
        let fixture = try PoolFixture()
        try fixture.pool.write { try $0.insertWine() }
        var configuration = Configuration.encrypted()
        configuration.readonly = true
        let pool = try DatabasePool(path: fixture.path, configuration: configuration)
        #expect(pool.configuration.readonly)
        #expect(try pool.read { try $0.countWines() } == 1)
        let error = #expect(throws: DatabaseError.self) { try pool.write { try $0.insertWine() } }
        #expect(error?.resultCode == .SQLITE_READONLY)
        #expect(throws: DatabaseError.self) {
            try DatabasePool(path: fixture.folder.path("absent.sqlite"), configuration: configuration)
        }
    }

    @Test("tells its set-up function which connections only read")
    func readerConfiguration() throws {
        let roles = Shared<[String: Bool]>([:])
        var configuration = Configuration.encrypted()
        configuration.prepareDatabase { db in
            let (name, isReadOnly) = (db.description, db.configuration.readonly)
            roles.update { $0[name] = isReadOnly }
        }
        let fixture = try PoolFixture(configuration)
        try fixture.pool.read { _ in }
        #expect(roles.value == ["Strongroom.DatabasePool.writer": false, "Strongroom.DatabasePool.reader.1": true])
    }

    @Test("needs a reader")
    func zeroReaders() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var configuration = Configuration()
            configuration.maximumReaderCount = 0
            _ = try DatabasePool(path: TemporaryFolder().path("db.sqlite"), configuration: configuration)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("maximumReaderCount"))
    }

    @Test("writeInTransaction commits or rolls back as its function answers")
    func writeInTransaction() throws {
        let fixture = try PoolFixture()
        try fixture.pool.writeInTransaction { db in
            try db.insertWine()
            return .rollback
        }
        #expect(try fixture.pool.read { try $0.countWines() } == 0)
        try fixture.pool.writeInTransaction(.exclusive) { db in
            try db.insertWine()
            return .commit
        }
        #expect(try fixture.pool.read { try $0.countWines() } == 1)
        struct Refusal: Error {}
        #expect(throws: Refusal.self) {
            try fixture.pool.writeInTransaction { db in
                try db.insertWine()
                throw Refusal()
            }
        }
        #expect(try fixture.pool.read { try $0.countWines() } == 1)
    }

    @Test("a reader that can't be opened is an error of that read, and the next one tries again")
    func readerThatFailsToOpen() throws {
        struct Refusal: Error {}
        let refuses = Shared(false)
        var configuration = Configuration.encrypted()
        configuration.maximumReaderCount = 1
        configuration.prepareDatabase { _ in if refuses.value { throw Refusal() } }
        let fixture = try PoolFixture(configuration)
        refuses.update { $0 = true }
        #expect(throws: Refusal.self) { try fixture.pool.read { _ in } }
        refuses.update { $0 = false }
        #expect(try fixture.pool.read { try $0.countWines() } == 0)
    }

    // MARK: - Barriers

    @Test("a barrier write runs alone: after the reads before it, and before those after it")
    func barrier() throws {
        let fixture = try PoolFixture()
        let pool = fixture.pool
        let log = Shared<[String]>([])
        let isReading = Gate(), mayStopReading = Gate(), isInBarrier = Gate(), mayLeaveBarrier = Gate()
        let before = start {
            try! pool.read { _ in
                isReading.open()
                mayStopReading.pass()
                log.update { $0.append("read before") }
            }
        }
        isReading.pass()
        let barrier = start {
            try! pool.barrierWriteWithoutTransaction { db in
                isInBarrier.open()
                mayLeaveBarrier.pass()
                try db.insertWine()
                log.update { $0.append("barrier") }
            }
        }
        #expect(!isInBarrier.opens(within: 0.1))
        mayStopReading.open()
        isInBarrier.pass()
        let after = start {
            let count = try! pool.read { try $0.countWines() }
            log.update { $0.append("read after: \(count)") }
        }
        #expect(!after.opens(within: 0.1))
        mayLeaveBarrier.open()
        for thread in [before, barrier, after] { thread.pass() }
        #expect(log.value == ["read before", "barrier", "read after: 1"])
    }

    @Test("barrier writes also come as await and with completion")
    func asyncBarriers() async throws {
        let fixture = try PoolFixture()
        let pool = fixture.pool
        try await pool.barrierWriteWithoutTransaction { try $0.insertWine() }
        await withCheckedContinuation { continuation in
            pool.asyncBarrierWriteWithoutTransaction { db in
                try! db.get().insertWine()
                continuation.resume()
            }
        }
        #expect(try await pool.read { try $0.countWines() } == 2)
        let queue = try QueueFixture().queue
        try await queue.barrierWriteWithoutTransaction { try $0.insertWine() }
        #expect(try await queue.read { try $0.countWines() } == 1)
    }

    @Test("a waiting barrier is not starved by readers")
    func barrierAmongReaders() throws {
        let fixture = try PoolFixture()
        let stops = Shared(false)
        let readers = (0..<8).map { _ in
            start { while !stops.value { _ = try! fixture.pool.read { try $0.countWines() } } }
        }
        let barriers = start {
            for _ in 0..<20 { try! fixture.pool.barrierWriteWithoutTransaction { try $0.insertWine() } }
        }
        barriers.pass()
        stops.update { $0 = true }
        for reader in readers { reader.pass() }
        #expect(try fixture.pool.read { try $0.countWines() } == 20)
    }

    // MARK: - Concurrent reads

    @Test("asyncConcurrentRead reads the state of the last transaction, while other writes go on")
    func asyncConcurrentRead() throws {
        let fixture = try PoolFixture()
        let pool = fixture.pool
        let count = Shared(-1)
        let mayRead = Gate(), hasRead = Gate()
        try pool.writeWithoutTransaction { db in
            try db.inTransaction {
                try db.insertWine()
                return .commit
            }
            pool.asyncConcurrentRead { result in
                mayRead.pass()
                count.update { $0 = try! result.get().countWines() }
                hasRead.open()
            }
            try db.insertWine()
        }
        try pool.write { try $0.insertWine() }
        mayRead.open()
        hasRead.pass()
        #expect(count.value == 1)
        #expect(try pool.read { try $0.countWines() } == 3)
    }

    @Test("concurrentRead gives a future of the same state", arguments: WriterKind.allCases)
    func concurrentRead(kind: WriterKind) throws {
        let (writer, folder) = try kind.make()
        struct Refusal: Error {}
        let (count, refusal): (DatabaseFuture<Int>, DatabaseFuture<Int>) = try writer.writeWithoutTransaction { db in
            try db.insertWine()
            let count = writer.concurrentRead { try $0.countWines() }
            let refusal: DatabaseFuture<Int> = writer.concurrentRead { _ in throw Refusal() }
            try db.insertWine()
            return (count, refusal)
        }
        #expect(try count.wait() == 1)
        #expect(try count.wait() == 1)
        #expect(throws: Refusal.self) { try refusal.wait() }
        _ = folder
    }

    @Test("a concurrent read can't write", arguments: WriterKind.allCases)
    func concurrentReadIsReadOnly(kind: WriterKind) throws {
        let (writer, folder) = try kind.make()
        let future = writer.writeWithoutTransaction { _ in writer.concurrentRead { try $0.insertWine() } }
        let error = #expect(throws: DatabaseError.self) { try future.wait() }
        #expect(error?.resultCode == .SQLITE_READONLY)
        _ = folder
    }

    @Test("a concurrent read that gives up its transaction is called once, and gives its value")
    func concurrentReadWithoutTransaction() throws {
        let pool = try PoolFixture().pool
        let calls = Shared(0)
        pool.writeWithoutTransaction { _ in
            pool.asyncConcurrentRead { db in
                calls.update { $0 += 1 }
                try? db.get().rollback()
            }
        }
        try pool.barrierWriteWithoutTransaction { _ in }
        #expect(calls.value == 1)
        let future = pool.writeWithoutTransaction { _ in
            pool.concurrentRead { db in
                try db.rollback()
                return 1
            }
        }
        #expect(try future.wait() == 1)
    }

    @Test("a concurrent read outside of a write, or inside a transaction, stops the program and says what to do")
    func misplacedConcurrentReads() async throws {
        let outside = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try PoolFixture().pool.asyncConcurrentRead { _ in }
        }
        let inside = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let fixture = try PoolFixture()
            try await fixture.pool.write { _ in fixture.pool.asyncConcurrentRead { _ in } }
        }
        let queue = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let queue = try DatabaseQueue()
            try await queue.write { _ in queue.spawnConcurrentRead { _ in } }
        }
        for result in [outside, inside, queue] {
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("writeWithoutTransaction"))
        }
    }

    // MARK: - Connections

    @Test("invalidateReadOnlyConnections replaces readers, and lets reads that run go on")
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

    @Test("interrupt stops what all connections do at this moment", arguments: WriterKind.allCases)
    func interrupt(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let codes = Shared<[ResultCode]>([])
        let reader = start {
            do { try writer.read { try $0.runForever() } } catch {
                codes.update { $0.append((error as! DatabaseError).resultCode) }
            }
        }
        // What has not begun is not interrupted: once is not enough.
        while !reader.opens(within: 0.002) { writer.interrupt() }
        #expect(codes.value == [.SQLITE_INTERRUPT])
        try await writer.write { try $0.insertWine() }
        _ = folder
    }

    @Test("close waits for the accesses that run, and refuses those that follow", arguments: WriterKind.allCases)
    func close(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let isReading = Gate(), mayStop = Gate()
        let count = Shared(-1)
        let reading = start {
            count.update { $0 = try! writer.read { db in
                isReading.open()
                mayStop.pass()
                return try db.countWines()
            } }
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
        expectClosed(await #expect(throws: (any Error).self) { try await writer.barrierWriteWithoutTransaction { try $0.insertWine() } })
        try await onThread {
            expectClosed(#expect(throws: (any Error).self) { try writer.read { try $0.countWines() } })
            expectClosed(#expect(throws: (any Error).self) { try writer.write { try $0.insertWine() } })
            expectClosed(#expect(throws: (any Error).self) { try writer.barrierWriteWithoutTransaction { try $0.insertWine() } })
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
