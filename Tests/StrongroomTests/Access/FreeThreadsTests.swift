import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Each test is a process of its own, which uses up Dispatch's threads or does not end in time if an access needs one.
@Suite("Accesses need no thread of Dispatch", .timeLimit(.minutes(2)))
struct FreeThreadsTests {
    /// Ends the process with a signal if it lasts too long.
    static func limit(seconds: UInt32) {
        _ = alarm(seconds)
    }

    /// Blocks more work than Dispatch has threads: what is queued there from now on does not begin.
    static func useUpThreads() {
        for _ in 0..<400 {
            DispatchQueue.global().async { Thread.sleep(forTimeInterval: 3600) }
        }
        for number in 0..<300 {
            DispatchQueue(label: "used up \(number)").async { Thread.sleep(forTimeInterval: 3600) }
        }
    }

    private static func pool(readers: Int = 2) throws -> DatabasePool {
        var configuration = Configuration.encrypted()
        configuration.maximumReaderCount = readers
        return try PoolFixture(configuration).pool
    }

    @Test("Accesses that block, that run later, and those behind barriers")
    func blocking() async {
        await #expect(processExitsWith: .exitCode(5)) {
            Self.limit(seconds: 20)
            let pool = try Self.pool()
            Self.useUpThreads()
            start {
                let values = (2...10).map { _ in Gate() }
                let observation = ValueObservation.tracking { try $0.countWines() }.start(
                    in: pool, scheduling: SameThread(), onError: { _ in exit(7) },
                    onChange: { count in values.prefix(max(0, count - 1)).forEach { $0.open() } })
                for _ in 0..<3 {
                    let answers = (0..<6).map { _ in Gate() }
                    pool.asyncRead { _ in answers[0].open() }
                    pool.asyncBarrierWriteWithoutTransaction { _ in answers[1].open() }
                    pool.asyncUnsafeRead { _ in answers[2].open() }
                    pool.asyncWriteWithoutTransaction { _ in
                        pool.asyncConcurrentRead { _ in answers[3].open() }
                        _ = try! pool.read { try $0.countWines() }
                    }
                    pool.releaseMemoryEventually()
                    try! pool.barrierWriteWithoutTransaction { try $0.insertWine() }
                    start {
                        _ = try! pool.read { try $0.countWines() }
                        answers[4].open()
                    }
                    start {
                        _ = try! pool.read { _ in try pool.write { try $0.insertWine() } }
                        answers[5].open()
                    }
                    for answer in answers { answer.pass() }
                }
                values[4].pass()
                observation.cancel()
                try! pool.close()
                let isRefused = Gate()
                pool.asyncRead { result in
                    if case .failure = result { isRefused.open() }
                }
                isRefused.pass()
                exit(5)
            }
            try await Task.sleep(nanoseconds: 60_000_000_000)
        }
    }

    @Test("Accesses that an actor with a thread of its own awaits, and their cancellation")
    func awaited() async {
        await #expect(processExitsWith: .exitCode(5)) {
            Self.limit(seconds: 20)
            let pool = try Self.pool(readers: 1)
            await Pinned().awaitAll(pool)
        }
    }

    @Test("400 threads of Dispatch read and wait, beside tasks that read and barriers")
    func manyReaders() async {
        await #expect(processExitsWith: .success) {
            // It takes a fraction of a second. If a step needed a free thread, it would take minutes.
            Self.limit(seconds: 30)
            let pool = try Self.pool()
            let group = DispatchGroup()
            for number in 0..<400 {
                DispatchQueue.global().async(group: group) { _ = try! pool.read { try $0.countWines() } }
                if number.isMultiple(of: 50) {
                    group.enter()
                    pool.asyncBarrierWriteWithoutTransaction { _ in group.leave() }
                    DispatchQueue.global().async(group: group) {
                        try! pool.barrierWriteWithoutTransaction { try $0.insertWine() }
                    }
                }
            }
            try await withThrowingTaskGroup(of: Void.self) { tasks in
                for _ in 0..<100 { tasks.addTask { _ = try await pool.read { try $0.countWines() } } }
                try await tasks.waitForAll()
            }
            try await onThread { group.wait() }
            guard try await pool.read({ try $0.countWines() }) == 8 else { exit(6) }
        }
    }

    @Test("A concurrent target queue is not taken for a serial one when Dispatch has no thread left")
    func concurrentTarget() async {
        await #expect(processExitsWith: .exitCode(5)) {
            Self.limit(seconds: 30)
            let target = DispatchQueue(label: "concurrent", attributes: .concurrent)
            var configuration = TargetQueueTests.configuration(target)
            configuration.maximumReaderCount = 1
            let pool = try PoolFixture(configuration).pool
            Self.useUpThreads()
            start {
                let hasReader = Gate()
                start {
                    try! pool.read { _ in
                        hasReader.open()
                        // Longer than an access waits before it asks whether the queue is serial.
                        Thread.sleep(forTimeInterval: 6)
                    }
                }
                hasReader.pass()
                target.sync { _ = try! pool.read { try $0.countWines() } }
                exit(5)
            }
            try await Task.sleep(nanoseconds: 60_000_000_000)
        }
    }

    @Test("The library uses no global queue of Dispatch, but for a process that has no room for a thread")
    func sources() throws {
        let folder = SourceDocumentation.packageFolder.appendingPathComponent("Sources/Strongroom")
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        let uses = try paths.filter { path in
            let source = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
            return SourceCode(source).text.contains("DispatchQueue.global")
        }
        #expect(paths.count > 300)
        // The clocks of checks and fetches that are repeated, and work on Apple's systems that no access waits for.
        let others = [
            "Access/ExternalChanges.swift", "Observation/DatabaseRegionObservation.swift",
            "Platform/MemoryManagement.swift",
        ]
        #expect(uses.sorted() == (others + ["Access/Workers.swift"]).sorted())
    }
}

/// Notifies values where they are made.
private struct SameThread: ValueObservationScheduler {
    func immediateInitialValue() -> Bool { false }

    func schedule(_ action: @escaping @Sendable () -> Void) { action() }
}

/// An actor whose thread is not Dispatch's.
private actor Pinned {
    private final class OwnThread: SerialExecutor, @unchecked Sendable {
        private let condition = NSCondition()
        private var jobs: [UnownedJob] = []

        init() {
            Thread.detachNewThread { [self] in
                while true {
                    condition.lock()
                    while jobs.isEmpty { condition.wait() }
                    let job = jobs.removeFirst()
                    condition.unlock()
                    job.runSynchronously(on: asUnownedSerialExecutor())
                }
            }
        }

        func enqueue(_ job: UnownedJob) {
            condition.lock()
            jobs.append(job)
            condition.signal()
            condition.unlock()
        }

        func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }
    }

    private nonisolated let thread = OwnThread()

    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    func awaitAll(_ pool: DatabasePool) async {
        FreeThreadsTests.useUpThreads()
        do {
            try await pool.write { try $0.insertWine() }
            try await pool.barrierWriteWithoutTransaction { try $0.insertWine() }
            guard try await pool.read({ try $0.countWines() }) == 2 else { exit(6) }
            let hasReader = Gate(), mayEnd = Gate()
            let hasEnded = start {
                try! pool.read { _ in
                    hasReader.open()
                    mayEnd.pass()
                }
            }
            hasReader.pass()
            let isCancelled = Gate(), other = Pinned()
            let task = Task {
                // On this actor, as the task captures it.
                _ = self
                await other.read(pool, isCancelled)
            }
            // The task begins when this one leaves the actor.
            while pool.readers.waiting.count == 0 { try await pool.write { _ in } }
            task.cancel()
            isCancelled.pass()
            mayEnd.open()
            hasEnded.pass()
            try pool.close()
            exit(5)
        } catch {
            exit(11)
        }
    }

    /// Opens the gate when a read has been cancelled.
    func read(_ pool: DatabasePool, _ isCancelled: Gate) async {
        do {
            _ = try await pool.read { try $0.countWines() }
        } catch {
            if error is CancellationError { isCancelled.open() }
        }
    }
}
