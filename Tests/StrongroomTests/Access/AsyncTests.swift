import Dispatch
import Foundation
@testable import Strongroom
import Testing

@Suite("Asynchronous accesses", .timeLimit(.minutes(2)))
struct AsyncTests {
    @Test("read and write with await", arguments: WriterKind.allCases)
    func readAndWrite(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let count = try await writer.write { db -> Int in
            try db.insertWine()
            #expect(db.isInsideTransaction)
            return try db.countWines()
        }
        #expect(count == 1)
        try await writer.writeWithoutTransaction { db in
            #expect(!db.isInsideTransaction)
            try db.insertWine()
        }
        #expect(try await writer.read { try $0.countWines() } == 2)
        #expect(try await writer.unsafeRead { db in (db.isInsideTransaction, try db.countWines()) } == (false, 2))
        _ = folder
    }

    private enum Local {
        @TaskLocal static var value = "unbound"
    }

    @Test("are a part of their task, which they share local values and cancellation with", arguments: WriterKind.allCases)
    func task(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let values = try await Local.$value.withValue("bound") {
            [
                try await writer.read { _ in Local.value },
                try await writer.unsafeRead { _ in Local.value },
                try await writer.write { _ in Local.value },
                try await writer.writeWithoutTransaction { _ in Local.value },
                try await writer.barrierWriteWithoutTransaction { _ in Local.value },
            ]
        }
        #expect(values == Array(repeating: "bound", count: 5))
        let hasBegun = Gate(), isCancelled = Gate()
        let task = Task {
            try await writer.writeWithoutTransaction { _ in
                hasBegun.open()
                isCancelled.pass()
                return Task.isCancelled
            }
        }
        try await onThread { hasBegun.pass() }
        task.cancel()
        isCancelled.open()
        #expect(try await task.value)
        _ = folder
    }

    @Test("throw what their functions throw, and roll back", arguments: WriterKind.allCases)
    func errors(kind: WriterKind) async throws {
        struct Refusal: Error {}
        let (writer, folder) = try kind.make()
        await #expect(throws: Refusal.self) {
            try await writer.write { db in
                try db.insertWine()
                throw Refusal()
            }
        }
        await #expect(throws: Refusal.self) { try await writer.read { _ in throw Refusal() } }
        #expect(try await writer.read { try $0.countWines() } == 0)
        _ = folder
    }

    @Test("complete blocks in order: writes, completions, reads", arguments: WriterKind.allCases)
    func completionBlocks(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let count = await withCheckedContinuation { continuation in
            writer.asyncWrite({ try $0.insertWine() }) { db, result in
                #expect(throws: Never.self) { try result.get() }
                #expect(!db.isInsideTransaction)
                continuation.resume(returning: try! db.countWines())
            }
        }
        #expect(count == 1)
        await withCheckedContinuation { continuation in
            writer.asyncWriteWithoutTransaction { db in
                try! db.insertWine()
                continuation.resume()
            }
        }
        let counts = await withCheckedContinuation { continuation in
            writer.asyncRead { isolated in
                let count = try! isolated.get().countWines()
                writer.asyncUnsafeRead { continuation.resume(returning: [count, try! $0.get().countWines()]) }
            }
        }
        #expect(counts == [2, 2])
        struct Refusal: Error {}
        let failure = await withCheckedContinuation { continuation in
            writer.asyncWrite({ db -> Int in
                try db.insertWine()
                throw Refusal()
            }) { _, result in continuation.resume(returning: result) }
        }
        #expect(throws: Refusal.self) { try failure.get() }
        #expect(try await writer.read { try $0.countWines() } == 2)
        _ = folder
    }

    // MARK: - Cancellation

    @Test("a cancelled task does not begin an access", arguments: WriterKind.allCases)
    func cancelledBefore(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let mayBegin = Gate()
        let task = Task {
            try await onThread { mayBegin.pass() }
            try await writer.write { try $0.insertWine() }
        }
        task.cancel()
        mayBegin.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        let readTask = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await writer.read { try $0.countWines() }
        }
        await #expect(throws: CancellationError.self) { try await readTask.value }
        #expect(try await writer.read { try $0.countWines() } == 0)
        _ = folder
    }

    @Test("a task that waits for its turn is cancelled at once", arguments: WriterKind.allCases)
    func cancelledWhileWaiting(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let isWriting = Gate(), mayFinish = Gate()
        let first = start {
            try! writer.write { db in
                try db.insertWine()
                isWriting.open()
                mayFinish.pass()
            }
        }
        try await onThread { isWriting.pass() }
        let second = Task { try await writer.write { try $0.insertWine() } }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        mayFinish.open()
        try await onThread { first.pass() }
        #expect(try await writer.read { try $0.countWines() } == 1)
        _ = folder
    }

    @Test("readers that wait for a connection are cancelled at once")
    func cancelledWhileWaitingForReader() async throws {
        var configuration = Configuration.encrypted()
        configuration.maximumReaderCount = 1
        let fixture = try PoolFixture(configuration)
        let isReading = Gate(), mayFinish = Gate()
        let first = start {
            try! fixture.pool.read { _ in
                isReading.open()
                mayFinish.pass()
            }
        }
        try await onThread { isReading.pass() }
        let tasks = (0..<2000).map { _ in Task { try await fixture.pool.read { try $0.countWines() } } }
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        mayFinish.open()
        try await onThread { first.pass() }
        #expect(try await fixture.pool.read { try $0.countWines() } == 0)
    }

    @Test("cancellation interrupts the running statement of a read", arguments: WriterKind.allCases)
    func cancelledRead(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let isReading = Gate()
        let task = Task {
            try await writer.read { db in
                isReading.open()
                try db.runForever()
            }
        }
        try await onThread { isReading.pass() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await writer.read { try $0.countWines() } == 0)
        _ = folder
    }

    @Test("cancellation interrupts the running statement of a write, and rolls back", arguments: WriterKind.allCases)
    func cancelledWrite(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let isWriting = Gate()
        let task = Task {
            try await writer.write { db in
                try db.insertWine()
                isWriting.open()
                try db.writeForever()
            }
        }
        try await onThread { isWriting.pass() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await writer.read { try $0.countWines() } == 0)
        try await writer.write { try $0.insertWine() }
        #expect(try await writer.read { try $0.countWines() } == 1)
        _ = folder
    }

    @Test("cancellation between two statements rolls back, whatever the function makes of it", arguments: WriterKind.allCases)
    func cancelledBetweenStatements(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let hasInserted = Gate(), isCancelled = Gate()
        let task = Task {
            try await writer.write { db in
                try db.insertWine()
                hasInserted.open()
                isCancelled.pass()
                // Errors that are swallowed don't turn into commits.
                try? db.insertWine()
                try? db.inSavepoint {
                    try db.insertWine()
                    return .commit
                }
            }
        }
        try await onThread { hasInserted.pass() }
        task.cancel()
        isCancelled.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await writer.read { try $0.countWines() } == 0)
        _ = folder
    }

    @Test("cancellation with a cursor half way rolls back as well")
    func cancelledCursor() async throws {
        let fixture = try PoolFixture()
        let pool = fixture.pool
        try await pool.write { db in for _ in 0..<100 { try db.insertWine() } }
        let isReading = Gate(), isCancelled = Gate()
        let task = Task {
            try await pool.writeWithoutTransaction { db in
                let cursor = try Row.fetchCursor(db, sql: "SELECT * FROM wine")
                _ = try cursor.next()
                try db.inTransaction {
                    try db.execute(sql: "DELETE FROM wine")
                    isReading.open()
                    isCancelled.pass()
                    while try cursor.next() != nil {}
                    return .commit
                }
            }
        }
        try await onThread { isReading.pass() }
        task.cancel()
        isCancelled.open()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await pool.read { try $0.countWines() } == 100)
    }

    @Test("a write that is committed before the cancellation keeps its result")
    func cancelledAfterCommit() async throws {
        let fixture = try PoolFixture()
        let isCommitted = Gate(), isCancelled = Gate()
        let task = Task {
            try await fixture.pool.writeWithoutTransaction { db in
                try db.inTransaction {
                    try db.insertWine()
                    return .commit
                }
                isCommitted.open()
                isCancelled.pass()
                return 42
            }
        }
        try await onThread { isCommitted.pass() }
        task.cancel()
        isCancelled.open()
        #expect(try await task.value == 42)
        #expect(try await fixture.pool.read { try $0.countWines() } == 1)
    }

    @Test("cancellation ends the wait for another writer's lock")
    func cancelledBusyWait() async throws {
        var configuration = Configuration.encrypted()
        configuration.busyMode = .timeout(60)
        let fixture = try PoolFixture(configuration)
        let other = try DatabasePool(path: fixture.path, configuration: .encrypted())
        let isLocked = Gate(), mayUnlock = Gate()
        let lock = start {
            try! other.write { db in
                try db.insertWine()
                isLocked.open()
                mayUnlock.pass()
            }
        }
        try await onThread { isLocked.pass() }
        let wait = LockWait()
        let task = Task {
            try await fixture.pool.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) { .commit }
            }
        }
        try await onThread { wait.pass() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        mayUnlock.open()
        try await onThread { lock.pass() }
    }

    @Test("the cancellation of one access does not reach another")
    func cancellationStaysWhereItBelongs() async throws {
        let fixture = try PoolFixture()
        let pool = fixture.pool
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<50 {
                        let victim = Task { try await pool.read { try $0.countWines() } }
                        victim.cancel()
                        let count = try await pool.read { try $0.countWines() }
                        #expect(count == 0)
                        _ = await victim.result
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("an access lives while it is asked for, even when its task has been cancelled and has gone on")
    func cancelledWhileScheduled() async throws {
        final class Witness { weak var job: AccessJob<Void>? }
        let isAsked = Gate(), hasGoneOn = Gate(), isChecked = Gate()
        let isAlive = Shared(false)
        let task = Task {
            try await awaitAccess({ _ in }, schedule: { (job: AccessJob<Void>) in
                let witness = Witness()
                witness.job = job
                isAsked.open()
                hasGoneOn.pass()
                isAlive.update { $0 = witness.job != nil }
                isChecked.open()
            })
        }
        try await onThread { isAsked.pass() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        hasGoneOn.open()
        try await onThread { isChecked.pass() }
        #expect(isAlive.value)
    }

    // MARK: - Threads

    @Test("accesses that block leave the threads of other tasks alone")
    func cooperativePool() async throws {
        var configuration = Configuration.encrypted()
        configuration.maximumReaderCount = 16
        let fixture = try PoolFixture(configuration)
        let queues = try (0..<8).map { _ in try QueueFixture() }
        let mayFinish = Gate()
        let entered = Shared(0)
        let count = ProcessInfo.processInfo.activeProcessorCount * 4
        let readers = (0..<min(count, 16)).map { _ in
            Task {
                try await fixture.pool.read { _ in
                    entered.update { $0 += 1 }
                    mayFinish.pass()
                }
            }
        }
        let writers = queues.map { fixture in
            Task {
                try await fixture.queue.write { _ in
                    entered.update { $0 += 1 }
                    mayFinish.pass()
                }
            }
        }
        // All of them are blocked now, and this task goes on, with others.
        #expect(try await eventually { entered.value == readers.count + writers.count })
        let sum = await withTaskGroup(of: Int.self) { group in
            for number in 0..<100 { group.addTask { await Task.yield(); return number } }
            return await group.reduce(0, +)
        }
        #expect(sum == 4950)
        mayFinish.open()
        for task in readers + writers { try await task.value }
    }

    @Test("an access has the priority of its task")
    func priorities() async throws {
        let fixture = try PoolFixture()
        for priority in [TaskPriority.high, .medium, .utility, .background] {
            // Whoever awaits the task would raise its priority.
            let seen = Shared<[TaskPriority]>([])
            let isDone = Gate()
            Task(priority: priority) {
                let write = try await fixture.pool.write { _ in Task.currentPriority }
                let read = try await fixture.pool.read { _ in Task.currentPriority }
                seen.update { $0 = [write, read] }
                isDone.open()
            }
            try await onThread { isDone.pass() }
            #expect(seen.value == [priority, priority])
        }
        #expect(DispatchQoS.QoSClass.init(.high) == .userInitiated)
        #expect(DispatchQoS.QoSClass.init(.medium) == .default)
        #expect(DispatchQoS.QoSClass.init(.utility) == .utility)
        #expect(DispatchQoS.QoSClass.init(.background) == .background)
    }

    @Test("asynchronous reads run at the same time")
    func parallelReads() async throws {
        let fixture = try PoolFixture()
        let first = Gate(), second = Gate()
        async let one: Void = fixture.pool.read { _ in
            first.open()
            second.pass()
        }
        async let two: Void = fixture.pool.read { _ in
            second.open()
            first.pass()
        }
        _ = try await (one, two)
    }
}
