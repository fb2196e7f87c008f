import Foundation
import Strongroom
import Testing

@Suite("An observation survives", .timeLimit(.minutes(2)))
struct ObservationStopTests {
    @Test("the suspension that keeps its first fetch from beginning")
    func suspendedStart() async throws {
        let queue = try QueueFixture().queue
        queue.suspend()
        let notified = Notified<Int>()
        let values = ValueObservation.tracking { try $0.countWines() }.notify(notified, in: queue)
        let changes = Shared(0)
        let regions = DatabaseRegionObservation(tracking: Table("wine")).start(in: queue) { error in
            Issue.record(error)
        } onChange: { _ in changes.update { $0 += 1 } }
        try await onThread { queue.inDatabase { _ in } }
        #expect(notified.values.isEmpty)
        queue.resume()
        try await notified.reaches(0)
        try await queue.write { try $0.insertWine() }
        try await notified.reaches(1)
        #expect(changes.value == 1)
        #expect(notified.errors.isEmpty)
        for observation in [values, regions] { observation.cancel() }
    }

    @Test("the stop of a fetch that runs, which it repeats", arguments: [StopKind.interruption, .suspension], [WriterKind.queue, .pool])
    func runningFetch(kind: StopKind, writerKind: WriterKind) async throws {
        let (writer, folder) = try writerKind.make()
        let held = HeldStatement(), holds = Shared(true)
        let hold = DatabaseFunction("hold", argumentCount: 0) { _ in
            guard holds.update({ let holds = $0; $0 = false; return holds }) else { return 1 }
            held.isRunning.open()
            held.mayEnd.pass()
            return 1
        }
        if let pool = writer as? DatabasePool { pool.add(function: hold) } else { (writer as? DatabaseQueue)?.add(function: hold) }
        let notified = Notified<Int>()
        let observation = ValueObservation.tracking { db in
            try Int.fetchAll(db, sql: "SELECT hold()").count + db.countWines()
        }.notify(notified, in: writer)
        try await onThread { held.isRunning.pass() }
        kind == .suspension ? writer.suspend() : writer.interrupt()
        held.mayEnd.open()
        // Readers of a pool's log go on.
        if kind == .suspension, writerKind == .queue {
            try await onThread { writer.unsafeReentrantWrite { _ in } }
            #expect(notified.values.isEmpty)
        }
        writer.resume()
        try await notified.reaches(1)
        try await writer.write { try $0.insertWine() }
        try await notified.reaches(2)
        #expect(notified.errors.isEmpty)
        observation.cancel()
        _ = folder
    }

    @Test("not its own errors, even if they look like a stop")
    func ownError() async throws {
        let queue = try QueueFixture().queue
        let notified = Notified<Int>()
        let observation = ValueObservation.tracking { _ -> Int in throw DatabaseError(resultCode: .SQLITE_ABORT) }
            .notify(notified, in: queue)
        try await notified.fails()
        observation.cancel()
    }
}
