import Dispatch
import Foundation
import Testing

@testable import Strongroom

@Suite("Asynchronous accesses", .timeLimit(.minutes(2)))
struct AsyncTests {
    @Test("Asynchronous accesses read and write with await", arguments: WriterKind.allCases)
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

    @Test(
        "Asynchronous accesses are a part of their task, which they share local values and cancellation with",
        arguments: WriterKind.allCases)
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

    @Test("An asynchronous access asks for a connection on the thread of the caller's actor") @MainActor
    func callerThread() async {
        let thread = Shared<pthread_t?>(nil), caller = pthread_self()
        do {
            try await awaitAccess(
                { _ in },
                schedule: { job in
                    thread.update { $0 = pthread_self() }
                    job.fail(DatabaseError.closed)
                })
            Issue.record("The access has no connection.")
        } catch {
            #expect((error as? DatabaseError)?.resultCode == DatabaseError.closed.resultCode)
        }
        #expect(thread.value == caller)
    }

    @Test("Asynchronous accesses throw the errors of their functions, and roll back", arguments: WriterKind.allCases)
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

    @Test("Asynchronous accesses complete blocks in order: writes, completions, reads", arguments: WriterKind.allCases)
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
    // MARK: - Threads

    @Test("Accesses that block leave the threads of other tasks alone")
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
            for number in 0..<100 {
                group.addTask {
                    await Task.yield()
                    return number
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 4950)
        mayFinish.open()
        for task in readers + writers { try await task.value }
    }

    @Test("An access has the priority of its task")
    func priorities() async throws {
        let fixture = try PoolFixture()
        for priority in [TaskPriority.high, .medium, .utility, .background] {
            // Awaiting the task would raise its priority.
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

    @Test("Asynchronous accesses asynchronous reads run at the same time")
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

    @Test("An awaited read runs on the task's thread if a reader is open and free, and never on an actor's")
    func inPlace() async throws {
        guard ProcessInfo.processInfo.activeProcessorCount > 1 else { return }
        let pool = try PoolFixture().pool
        _ = try await pool.read { try $0.countWines() }
        #expect(try await eventuallyInPlace(pool))
        let main = try await readOnMainActor(pool)
        #expect(main == false)
    }

    /// Other tests may run a read in place at the same time: only one of the process does.
    private func eventuallyInPlace(_ pool: DatabasePool) async throws -> Bool {
        for _ in 0..<1000 {
            let caller = thread()
            if try await pool.read({ _ in thread() }) == caller { return true }
        }
        return false
    }

    @MainActor
    private func readOnMainActor(_ pool: DatabasePool) async throws -> Bool {
        for _ in 0..<100 where try await pool.read({ _ in thread() }) == thread() { return true }
        return false
    }

    @Test("An awaited read that runs on the task's thread is cancelled as others are")
    func cancelledInPlace() async throws {
        let pool = try PoolFixture().pool
        for _ in 0..<20 {
            _ = try await pool.read { try $0.countWines() }
            let task = Task {
                try await pool.read { db in
                    withUnsafeCurrentTask { $0?.cancel() }
                    try db.runForever()
                }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            #expect(try await pool.read { try $0.countWines() } == 0)
        }
    }
}

/// The number of the calling thread.
private func thread() -> String { "\(pthread_self())" }
