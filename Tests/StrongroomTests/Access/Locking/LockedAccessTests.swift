import CStrongroomFaults
import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("Accesses to a locked database", .timeLimit(.minutes(2)))
struct LockedAccessTests {
    @Test("are refused in all ways", arguments: LockableKind.allCases)
    func refused(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        try await writer.lock()
        await expectLockedOut { _ = try await writer.read { try $0.countWines() } }
        await expectLockedOut { try await writer.write { try $0.insertWine() } }
        await expectLockedOut { _ = try await writer.unsafeRead { try $0.countWines() } }
        await expectLockedOut { try await writer.barrierWriteWithoutTransaction { try $0.insertWine() } }
        await expectLockedOut { _ = try await writer.checkIntegrity() }
        await expectLockedOut { try await writer.rotateKey(to: .random()) }
        await expectLockedOut { try await writer.vacuum() }
        try await onThread {
            expectLocked { _ = try writer.read { try $0.countWines() } }
            expectLocked { try writer.write { try $0.insertWine() } }
            expectLocked { try writer.writeWithoutTransaction { try $0.insertWine() } }
            expectLocked { try writer.barrierWriteWithoutTransaction { try $0.insertWine() } }
            expectLocked { _ = try writer.unsafeReentrantRead { try $0.countWines() } }
            expectLocked { _ = try writer.checkIntegrity() }
            expectLocked { _ = try writer.keySlots() }
        }
        for end in try await [callbackOfRead(writer), callbackOfWrite(writer), callbackOfBarrier(writer)] {
            expectLocked(end)
        }
        try await writer.unlock(with: LockFixture.key)
        #expect(try await writer.read { try $0.countWines() } == 0)
    }

    @Test("and are refused call their functions one at a time, on few threads", arguments: LockableKind.allCases)
    func manyRefused(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        try await writer.lock()
        let threads = Shared<Set<String>>([]), count = Shared(0), isDone = Gate()
        let didFail: @Sendable (Result<Database, any Error>) -> Void = { result in
            expectLocked(result.failure)
            threads.update { _ = $0.insert("\(pthread_self())") }
            usleep(500)
            let all = count.update { count in
                count += 1
                return count
            }
            if all == 300 { isDone.open() }
        }
        for _ in 1...100 {
            writer.asyncRead(didFail)
            writer.asyncUnsafeRead(didFail)
            writer.asyncBarrierWriteWithoutTransaction(didFail)
        }
        try await onThread { isDone.pass() }
        #expect(threads.value.count < 10)
        try await writer.unlock(with: LockFixture.key)
    }

    private func callbackOfRead(_ writer: any LockableWriter) async throws -> (any Error)? {
        await withCheckedContinuation { continuation in
            writer.asyncRead { db in
                continuation.resume(returning: Result { try db.get().countWines() }.failure)
            }
        }
    }

    private func callbackOfWrite(_ writer: any LockableWriter) async throws -> (any Error)? {
        await withCheckedContinuation { continuation in
            writer.asyncWrite {
                try $0.insertWine()
            } completion: { _, result in
                continuation.resume(returning: result.failure)
            }
        }
    }

    private func callbackOfBarrier(_ writer: any LockableWriter) async throws -> (any Error)? {
        await withCheckedContinuation { continuation in
            writer.asyncBarrierWriteWithoutTransaction { db in
                continuation.resume(returning: Result { try db.get().insertWine() }.failure)
            }
        }
    }

    @Test("wait for the unlocking if the configuration says so, in their order", arguments: LockableKind.allCases)
    func waiting(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind, LockFixture.configuration(.wait(60))), writer = fixture.writer
        try await writer.lock()
        let order = Shared<[Int]>([])
        for number in 1...3 {
            writer.asyncWriteWithoutTransaction { db in
                let count = try? db.countWines()
                order.update { $0.append(count == 0 ? number : -1) }
            }
        }
        let hasRead = Gate(),
            blocked = start {
                #expect((try? writer.read { try $0.countWines() }) == 0)
                hasRead.open()
            }
        let read = Task { try await writer.read { try $0.countWines() } }
        let wrong = try DatabaseKey.random()
        await #expect(throws: DatabaseError.self) { try await writer.unlock(with: wrong) }
        #expect(!hasRead.opens(within: 0.05))
        #expect(order.value.isEmpty)
        try await writer.unlock(with: LockFixture.key)
        try await onThread { blocked.pass() }
        #expect(try await read.value == 0)
        #expect(try await eventually { order.value == [1, 2, 3] })
    }

    @Test("that waited for a running access when the lock came wait on", arguments: LockableKind.allCases)
    func waitedBefore(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind, LockFixture.configuration(.wait(60))), writer = fixture.writer
        let held = try await HeldAccess { hold in writer.writeWithoutTransaction { _ in hold() } }
        let write = Task { try await writer.write { try $0.insertWine() } }
        let lock = Task { try await writer.lock() }
        try await Task.sleep(nanoseconds: 20_000_000)
        #expect(!writer.isLocked)
        try await held.end()
        try await lock.value
        #expect(writer.isLocked)
        try await writer.unlock(with: LockFixture.key)
        try await write.value
        #expect(try await writer.read { try $0.countWines() } == 1)
    }

    @Test("are refused at the end of the time that they wait", arguments: LockableKind.allCases)
    func limit(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind, LockFixture.configuration(.wait(0.2))), writer = fixture.writer
        try await writer.lock()
        let begin = Date()
        async let read: Void = expectLockedOut { _ = try await writer.read { try $0.countWines() } }
        async let write: Void = expectLockedOut { try await writer.write { try $0.insertWine() } }
        async let blockedRead: Void = onThread { expectLocked { _ = try writer.read { try $0.countWines() } } }
        async let blockedWrite: Void = onThread { expectLocked { try writer.write { try $0.insertWine() } } }
        async let barrier: Void = expectLockedOut {
            try await writer.barrierWriteWithoutTransaction { try $0.insertWine() }
        }
        _ = try await (read, write, blockedRead, blockedWrite, barrier)
        if let pool = fixture.pool { expectLocked { _ = try pool.makeSnapshot() } }
        #expect(-begin.timeIntervalSinceNow >= 0.2)
        try await writer.unlock(with: LockFixture.key)
        #expect(try await writer.read { try $0.countWines() } == 0)
    }

    @Test("end with their task while they wait", arguments: LockableKind.allCases)
    func cancellation(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind, LockFixture.configuration(.wait(60))), writer = fixture.writer
        try await writer.lock()
        let read = Task { try await writer.read { try $0.countWines() } }
        let write = Task { try await writer.write { try $0.insertWine() } }
        for task in [Task { _ = try await read.value }, write] {
            read.cancel()
            write.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        try await writer.unlock(with: LockFixture.key)
        #expect(try await writer.read { try $0.countWines() } == 0)
    }

    @Test("wait for a snapshot that another thread is releasing: its connection has the key until it is closed")
    func releasedSnapshot() async throws {
        strongroom_faults_install()
        let fixture = try LockFixture(.pool), pool = try #require(fixture.pool)
        let snapshot = Shared<DatabaseSnapshot?>(try pool.makeSnapshot())
        let isClosing = Gate(), isLocked = Gate(), wasTooEarly = Shared(false)
        at(STRONGROOM_MOMENT_TRANSACTION_ENDED, fixture.path) {
            isClosing.open()
            // The lock returns meanwhile if it does not wait.
            let hasReturned = isLocked.opens(within: 1)
            wasTooEarly.update { $0 = hasReturned }
        }
        let release = start { snapshot.update { $0 = nil } }
        try await onThread { isClosing.pass() }
        try await pool.lock()
        #expect(try openDescriptors(of: fixture.path) == 0)
        isLocked.open()
        try await onThread { release.pass() }
        #expect(!wasTooEarly.value)
    }

    @Test("find no reader open that another thread releases when the lock comes", arguments: [false, true])
    func releasedMemory(isPersistent: Bool) async throws {
        var configuration = LockFixture.configuration()
        configuration.persistentReadOnlyConnections = isPersistent
        let fixture = try LockFixture(.pool, configuration), pool = try #require(fixture.pool)
        try await lock(
            pool, 50,
            beside: [
                { _ = try pool.read { try $0.countWines() } }, { pool.releaseMemory() }, { pool.releaseMemory() },
                {
                    pool.releaseMemoryEventually()
                    // It returns immediately, and the line would grow without end.
                    usleep(200)
                },
            ])
    }

    /// Locks and unlocks while each access runs again and again in a thread. No file is open in between.
    private func lock(_ pool: DatabasePool, _ count: Int, beside accesses: [@Sendable () throws -> Void]) async throws {
        let mayStop = Shared(false)
        let threads = accesses.map { access in start { while !mayStop.value { try? access() } } }
        for _ in 0..<count {
            try await pool.lock()
            #expect(try openDescriptors(of: pool.path) == 0)
            try await pool.unlock(with: LockFixture.key)
        }
        mayStop.update { $0 = true }
        try await onThread { for thread in threads { thread.pass() } }
    }

    @Test("find readers busy, barriers and nested accesses when the lock comes, and nothing hangs")
    func mixedAccesses() async throws {
        var configuration = LockFixture.configuration()
        configuration.maximumReaderCount = 2
        let fixture = try LockFixture(.pool, configuration), pool = try #require(fixture.pool)
        let accesses: [@Sendable () throws -> Void] = [
            { _ = try pool.read { try $0.countWines() } },
            { try pool.write { try $0.insertWine() } },
            { try pool.barrierWriteWithoutTransaction { try $0.insertWine() } },
            { try pool.writeWithoutTransaction { _ in _ = try pool.read { try $0.countWines() } } },
            { try pool.read { _ in try pool.write { try $0.insertWine() } } },
            { _ = try pool.makeSnapshot().read { try $0.countWines() } },
            { pool.releaseMemory() },
            { _ = try pool.writeWithoutTransaction { _ in pool.concurrentRead { try $0.countWines() } }.wait() },
        ]
        try await lock(pool, 30, beside: accesses)
        #expect(try await pool.checkIntegrity().isIntact)
    }
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { error } else { nil }
    }
}
