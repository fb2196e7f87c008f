import Dispatch
import Foundation
import Strongroom
import Testing

@Suite("The scheduling of values")
struct ValueObservationSchedulingTests {
    @MainActor
    @Test("By default on the main actor, after the start", arguments: WriterKind.allCases)
    func mainActor(_ kind: WriterKind) async throws {
        let (writer, _) = try kind.make()
        var counts: [Int] = []
        let cancellable = trackingWineCount().start(in: writer) { error in
            Issue.record(error)
        } onChange: { count in
            counts.append(count)
        }
        #expect(counts == [])
        #expect(try await eventuallyOnMain { counts == [0] })
        try await writer.write { try $0.insertWine() }
        #expect(try await eventuallyOnMain { counts == [0, 1] })
        cancellable.cancel()
    }

    @MainActor
    @Test("Immediately: the first value is there when the start returns", arguments: WriterKind.allCases)
    func immediate(_ kind: WriterKind) async throws {
        let (writer, _) = try kind.make()
        var counts: [Int] = []
        let cancellable = trackingWineCount().start(in: writer, scheduling: .immediate) { error in
            Issue.record(error)
        } onChange: { count in
            counts.append(count)
        }
        #expect(counts == [0])
        try await writer.write { try $0.insertWine() }
        #expect(try await eventuallyOnMain { counts.last == 1 })
        cancellable.cancel()
        try await writer.write { try $0.insertWine() }
        #expect(counts.last == 1)
    }

    @MainActor
    @Test("Immediately: an error is notified when the start returns")
    func immediateFailure() throws {
        let fixture = try PoolFixture()
        var failures = 0
        let observation = ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM nothing") }
        let cancellable = observation.start(
            in: fixture.pool, scheduling: .immediate, onError: { _ in failures += 1 }, onChange: { _ in })
        #expect(failures == 1)
        cancellable.cancel()
    }

    @Test("Starting immediately outside of the main actor is a fatal error")
    func immediateElsewhere() async {
        await #expect(processExitsWith: .failure) {
            let queue = try DatabaseQueue()
            try await onThread { Self.start(in: queue, scheduling: ImmediateValueObservationScheduler()) }
        }
    }

    private static func start(in queue: DatabaseQueue, scheduling scheduler: some ValueObservationScheduler) {
        _ = ValueObservation.tracking { _ in 1 }
            .start(in: queue, scheduling: scheduler, onError: { _ in }, onChange: { _ in })
    }

    @Test("On a dispatch queue")
    func dispatchQueue() async throws {
        let fixture = try QueueFixture()
        let key = DispatchSpecificKey<Bool>()
        let queue = DispatchQueue(label: "values")
        queue.setSpecific(key: key, value: true)
        let places = Shared<[Bool?]>([])
        let cancellable = trackingWineCount().start(
            in: fixture.queue, scheduling: .async(onQueue: queue),
            onError: { _ in }, onChange: { _ in places.update { $0.append(DispatchQueue.getSpecific(key: key)) } })
        try await fixture.queue.write { try $0.insertWine() }
        #expect(try await eventually { places.value == [true, true] })
        cancellable.cancel()
    }

    @Test("As an asynchronous sequence, in order", arguments: WriterKind.allCases)
    func sequence(_ kind: WriterKind) async throws {
        let (writer, _) = try kind.make()
        var counts: [Int] = []
        for try await count in trackingWineCount().removeDuplicates().values(in: writer) {
            counts.append(count)
            if count == 5 { break }
            try await writer.write { try $0.insertWine() }
        }
        #expect(counts == [0, 1, 2, 3, 4, 5])
    }

    @Test("An asynchronous sequence throws the error that ends the observation")
    func sequenceFailure() async throws {
        let fixture = try QueueFixture()
        await #expect(throws: DatabaseError.self) {
            for try await _ in ValueObservation.tracking({ try Int.fetchOne($0, sql: "SELECT x FROM nothing") })
                .values(in: fixture.queue)
            {}
        }
    }

    @Test("An observation ends with its loop, and with its task")
    func sequenceEnd() async throws {
        let fixture = try PoolFixture()
        let cancellations = Shared(0)
        let observation = trackingWineCount().handleEvents(didCancel: { cancellations.update { $0 += 1 } })
        for try await _ in observation.values(in: fixture.pool, scheduling: .task(priority: .high)) { break }
        #expect(try await eventually { cancellations.value == 1 })
        let isRunning = Gate()
        let task = Task {
            for try await _ in observation.values(in: fixture.pool) { isRunning.open() }
        }
        try await onThread { isRunning.pass() }
        task.cancel()
        try await task.value
        #expect(try await eventually { cancellations.value == 2 })
    }

    @MainActor
    private func eventuallyOnMain(_ condition: () -> Bool) async throws -> Bool {
        let end = Date().addingTimeInterval(20)
        while !condition() {
            if Date() > end { return false }
            try await Task.sleep(nanoseconds: 1_000_000)
        }
        return true
    }

    /// Lines, in the order in which they were written.
    private final class Log: TextOutputStream, Sendable {
        private let written = Shared<[String]>([])
        var lines: [String] { written.value }
        func write(_ string: String) { written.update { $0.append(string) } }
    }

    @Test("A queue's first value is made before the next access begins, even when Dispatch has no free thread")
    func firstValueComesFirst() throws {
        let queue = try QueueFixture().queue
        let log = Log(), mayGoOn = Gate(), isNotified = Gate()
        let scheduler = AsyncValueObservationScheduler(queue: DispatchQueue(label: "test"))
        // All threads of the global queue are busy. The queue's own are not among them.
        for _ in 0..<512 { DispatchQueue.global().async { mayGoOn.pass() } }
        defer { mayGoOn.open() }
        let observation = ValueObservation.tracking(region: Table("wine")) { try $0.countWines() }
            .print(to: log)
            .start(
                in: queue, scheduling: scheduler, onError: { Issue.record($0) },
                onChange: {
                    if $0 == 1 { isNotified.open() }
                })
        try queue.write { try $0.insertWine() }
        let first = ["start", "fetch", "tracked region: wine(*)", "value: 0", "database did change", "fetch"]
        #expect(Array(log.lines.prefix(first.count)) == first)
        mayGoOn.open()
        isNotified.pass()
        #expect(log.lines.last == "value: 1")
        observation.cancel()
    }

    @Test("No write waits for a function that maps the first value, which may read the database")
    func firstMapBlocksNobody() async throws {
        let queue = try QueueFixture().queue
        let isMapping = Gate(), mayReturn = Gate()
        let notified = Notified<Int>()
        let observation = trackingWineCount().map { count in
            guard count == 0 else { return count }
            isMapping.open()
            mayReturn.pass()
            return try queue.read { try $0.countWines() } - 1
        }.print(to: Log()).notify(notified, in: queue)
        try await onThread {
            isMapping.pass()
            try queue.write { try $0.insertWine() }
            mayReturn.open()
        }
        try await notified.reaches(1)
        #expect(notified.values == [0, 1])
        observation.cancel()
    }

    @Test(
        "A value is reduced on the thread that has fetched it, unless that goes on with another read",
        arguments: [false, true])
    func reducingThread(isReadWaiting: Bool) async throws {
        var configuration = Configuration.encrypted()
        configuration.maximumReaderCount = 1
        let pool = try PoolFixture(configuration).pool
        let threads = Shared<[String]>([]), hasRead = Gate(), mayReturn = Gate(), notified = Notified<Int>()
        let note: @Sendable () -> Void = { threads.update { $0.append("\(pthread_self())") } }
        let cancellable = ValueObservation.tracking { db in
            let count = try db.countWines()
            note()
            hasRead.open()
            mayReturn.pass()
            return count
        }.map { count in
            note()
            return count
        }.notify(notified, in: pool)
        try await onThread {
            hasRead.pass()
            if isReadWaiting { pool.asyncRead { _ in } }
            mayReturn.open()
        }
        try await notified.reaches(0)
        cancellable.cancel()
        #expect(threads.value.count == 2)
        #expect((threads.value.first == threads.value.last) == !isReadWaiting)
    }
}
