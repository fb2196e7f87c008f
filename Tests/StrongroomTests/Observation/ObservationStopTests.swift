import Dispatch
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
        } onChange: { _ in
            changes.update { $0 += 1 }
        }
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

    @Test(
        "the stop of a fetch that runs, which it repeats", arguments: [StopKind.interruption, .suspension],
        [WriterKind.queue, .pool])
    func runningFetch(kind: StopKind, writerKind: WriterKind) async throws {
        let (writer, folder) = try writerKind.make()
        let held = HeldStatement(), holds = Shared(true)
        let hold = DatabaseFunction("hold", argumentCount: 0) { _ in
            guard
                holds.update({
                    let holds = $0
                    $0 = false
                    return holds
                })
            else { return 1 }
            held.isRunning.open()
            held.mayEnd.pass()
            return 1
        }
        if let pool = writer as? DatabasePool {
            pool.add(function: hold)
        } else {
            (writer as? DatabaseQueue)?.add(function: hold)
        }
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

    @Test("stops of the work that computes its region, and sees the writes that wait meanwhile", arguments: [1, 2])
    func interruptedStart(count: Int) async throws {
        let queue = try QueueFixture().queue, held = HeldStatement(), stops = Shared(count)
        queue.add(
            function: DatabaseFunction("hold", argumentCount: 0) { _ in
                held.isRunning.open()
                held.mayEnd.pass()
                queue.interrupt()
                return 1
            })
        let region = AnyDatabaseRegionConvertible { db in
            let mustStop = stops.update { stops in
                stops -= 1
                return stops >= 0
            }
            if mustStop { try db.execute(sql: "SELECT hold() FROM sqlite_master") }
            return try Table("wine").databaseRegion(db)
        }
        let events = Shared<[String]>([])
        let observation = DatabaseRegionObservation(tracking: region).start(in: queue) { error in
            Issue.record(error)
        } onEvent: { event in
            events.update { $0.append(event.isKnown ? "known" : "unknown") }
        }
        try await onThread { held.isRunning.pass() }
        let written = Gate()
        queue.asyncWrite({ try $0.insertWine() }) { _, result in
            #expect(throws: Never.self) { try result.get() }
            written.open()
        }
        held.mayEnd.open()
        try await onThread { written.pass() }
        // After the second stop, it begins behind the write.
        try await queue.writeWithoutTransaction { _ in }
        #expect(events.value == [count == 1 ? "known" : "unknown"])
        observation.cancel()
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

    @MainActor
    @Test("the interruption of its first fetch, for which the caller waits", arguments: [WriterKind.queue, .pool])
    func interruptedImmediateStart(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let notified = Notified<Int>()
        let (observation, fetches) = startInterrupted(1, in: writer, notified)
        #expect(notified.values == [0])
        #expect(fetches.value == 2)
        try await writer.write { try $0.insertWine() }
        try await notified.reaches(1)
        observation.cancel()
        _ = folder
    }

    @MainActor
    @Test("any number of interruptions of its first fetch", arguments: [WriterKind.queue, .pool])
    func manyInterruptedImmediateStarts(kind: WriterKind) throws {
        let (writer, folder) = try kind.make()
        let notified = Notified<Int>()
        let (observation, fetches) = startInterrupted(5000, in: writer, notified)
        #expect(notified.values == [0])
        #expect(fetches.value == 5001)
        observation.cancel()
        _ = folder
    }

    /// Starts an observation that notifies its first value immediately, and interrupts that many of its fetches.
    @MainActor
    private func startInterrupted(_ count: Int, in writer: any DatabaseWriter, _ notified: Notified<Int>)
        -> (observation: AnyDatabaseCancellable, fetches: Shared<Int>)
    {
        let fetches = Shared(0)
        let observation = ValueObservation.tracking { db in
            if fetches.update({
                $0 += 1
                return $0
            }) <= count {
                let cursor = try Int.fetchCursor(db, sql: "VALUES (1), (2)")
                _ = try cursor.next()
                writer.interrupt()
                _ = try cursor.next()
            }
            return try db.countWines()
        }.start(in: writer, scheduling: .immediate, onError: { Issue.record($0) }, onChange: notified.onChange)
        return (observation, fetches)
    }

    @Test("a suspension while observers name their events, and the whole write is refused")
    func suspendedDuringAnnouncement() throws {
        final class Observer: TransactionObserver {
            let queue: DatabaseQueue
            var hasSuspended = false
            init(_ queue: DatabaseQueue) { self.queue = queue }
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool {
                if !hasSuspended { queue.suspend() }
                hasSuspended = true
                return true
            }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseDidCommit(_ db: Database) {}
            func databaseDidRollback(_ db: Database) { queue.resume() }
        }
        var configuration = Configuration.encrypted()
        configuration.journalMode = .wal
        let queue = try QueueFixture(configuration).queue
        let changes = Shared(0)
        let regions = try DatabaseRegionObservation(tracking: Table("wine")).start(in: queue) { _ in
            changes.update { $0 += 1 }
        }
        let observer = Observer(queue)
        queue.add(transactionObserver: observer)
        let error = #expect(throws: DatabaseError.self) { try queue.write { try $0.insertWine() } }
        #expect(error?.resultCode == .SQLITE_ABORT)
        #expect(observer.hasSuspended)
        #expect(try queue.read { try $0.countWines() } == 0)
        #expect(changes.value == 0)
        try queue.write { try $0.insertWine() }
        #expect(changes.value == 1)
        regions.cancel()
    }

    @Test("suspensions and interruptions without end, in each of its forms", arguments: [WriterKind.queue, .pool])
    func underFire(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        let notified = Notified<Int>(), shared = Notified<Int>(), changes = Shared(0), isOver = Shared(false)
        let queue = DispatchQueue(label: "shared")
        let observations: [any DatabaseCancellable] = [
            trackingWineCount().notify(notified, in: writer),
            trackingWineCount().shared(in: writer, scheduling: .async(onQueue: queue))
                .start(onError: { Issue.record($0) }, onChange: shared.onChange),
            DatabaseRegionObservation(tracking: Table("wine"))
                .start(in: writer, onError: { Issue.record($0) }, onChange: { _ in changes.update { $0 += 1 } }),
        ]
        let sequence = Task {
            for try await value in trackingWineCount().values(in: writer) where value == 200 { return value }
            return -1
        }
        // A write that has failed often gets more time: a busy machine needs it.
        let failures = Shared<UInt32>(0)
        let interrupter = start {
            while !isOver.value {
                writer.interrupt()
                usleep(50 + failures.value)
            }
        }
        let suspender = start {
            while !isOver.value {
                writer.suspend()
                usleep(100)
                writer.resume()
                usleep(200 + failures.value)
            }
        }
        try await onThread {
            var count = 0
            while count < 200 {
                let isDone = (try? writer.write { try $0.insertWine() }) != nil
                failures.update { $0 = isDone ? 0 : $0 + 10 }
                if isDone { count += 1 }
            }
            isOver.update { $0 = true }
            interrupter.pass()
            suspender.pass()
        }
        for values in [notified, shared] { try await values.reaches(200) }
        #expect(try await sequence.value == 200)
        #expect(changes.value > 0)
        #expect(notified.errors.isEmpty)
        for observation in observations { observation.cancel() }
        _ = folder
    }
}
