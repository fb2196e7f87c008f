import Dispatch
import Foundation
import Testing

@testable import Strongroom

@Suite("The cancellation of an access", .timeLimit(.minutes(2)))
struct CancellationTests {
    @Test("A cancelled task does not begin an access", arguments: WriterKind.allCases)
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

    @Test("A task that waits for its turn is cancelled immediately", arguments: WriterKind.allCases)
    func cancelledWhileWaiting(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let first = try await HeldAccess { hold in
            try writer.write { db in
                try db.insertWine()
                hold()
            }
        }
        let second = Task { try await writer.write { try $0.insertWine() } }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        try await first.end()
        #expect(try await writer.read { try $0.countWines() } == 1)
        _ = folder
    }

    @Test("Readers that wait for a connection are cancelled immediately")
    func cancelledWhileWaitingForReader() async throws {
        var configuration = Configuration.encrypted()
        configuration.maximumReaderCount = 1
        let fixture = try PoolFixture(configuration)
        let first = try await HeldAccess { hold in
            try fixture.pool.read { _ in
                hold()
            }
        }
        let tasks = (0..<2000).map { _ in Task { try await fixture.pool.read { try $0.countWines() } } }
        for task in tasks { task.cancel() }
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
        try await first.end()
        #expect(try await fixture.pool.read { try $0.countWines() } == 0)
    }

    @Test("Cancellation interrupts the running statement of a read", arguments: WriterKind.allCases)
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

    @Test("Cancellation interrupts the running statement of a write, and rolls back", arguments: WriterKind.allCases)
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

    @Test(
        "Cancellation between two statements rolls back, even if the function ignores it",
        arguments: WriterKind.allCases)
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

    @Test("Cancellation with a cursor half way rolls back as well")
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

    @Test("A write that is committed before the cancellation keeps its result")
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

    @Test("Cancellation ends the wait for another writer's lock")
    func cancelledBusyWait() async throws {
        var configuration = Configuration.encrypted()
        configuration.busyMode = .timeout(60)
        let fixture = try PoolFixture(configuration)
        let other = try DatabasePool(path: fixture.path, configuration: .encrypted())
        let lock = try await HeldAccess { hold in
            try other.write { db in
                try db.insertWine()
                hold()
            }
        }
        let wait = LockWait()
        let task = Task {
            try await fixture.pool.writeWithoutTransaction { db in
                try db.inTransaction(.immediate) { .commit }
            }
        }
        try await onThread { wait.pass() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        try await lock.end()
    }

    @Test("The cancellation of one access does not reach another")
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

    @Test("An access outlives its task if it is in use when the task is cancelled")
    func cancelledWhileScheduled() async throws {
        final class Witness { weak var job: AccessJob<Void>? }
        let isAsked = Gate(), hasGoneOn = Gate(), isChecked = Gate()
        let isAlive = Shared(false)
        let task = Task {
            try await awaitAccess(
                { _ in },
                schedule: { (job: AccessJob<Void>) in
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
}
