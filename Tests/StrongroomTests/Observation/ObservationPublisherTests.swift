#if OpenCombine
import Dispatch
import Foundation
import OpenCombine
import Strongroom
import Testing

/// Counts the notifications that are over, whatever became of them.
private struct CountingScheduler: ValueObservationScheduler {
    let queue = DispatchQueue(label: "test")
    let isOver = DispatchSemaphore(value: 0)

    func immediateInitialValue() -> Bool { false }

    func schedule(_ action: @escaping @Sendable () -> Void) {
        queue.async {
            action()
            isOver.signal()
        }
    }

    func pass() { #expect(isOver.wait(timeout: .now() + 20) == .success, "nothing is notified") }
}

/// Asks for values one by one, is slow to take the value 1, and notices when it is given two things together.
private final class SlowSubscriber: Subscriber, @unchecked Sendable {
    typealias Input = Int
    typealias Failure = any Error

    let received = Shared<[String]>([])
    let overlaps = Shared(0)
    let isTaking = Gate(), mayGoOn = Gate()
    private let isBusy = Shared(false)
    private let subscription = Shared<(any Subscription)?>(nil)
    private let demandAfterOne: Subscribers.Demand

    init(demandAfterOne: Subscribers.Demand) { self.demandAfterOne = demandAfterOne }

    func request(_ demand: Subscribers.Demand) { subscription.value?.request(demand) }

    func cancel() { subscription.update { $0.take() }?.cancel() }

    func receive(subscription: any Subscription) {
        self.subscription.update { $0 = subscription }
    }

    func receive(_ value: Int) -> Subscribers.Demand {
        take("\(value)") {
            guard value == 1 else { return .none }
            isTaking.open()
            mayGoOn.pass()
            return demandAfterOne
        }
    }

    func receive(completion: Subscribers.Completion<any Error>) { take("completion") {} }

    private func take<T>(_ thing: String, _ body: () -> T) -> T {
        if isBusy.update({ isBusy in
            defer { isBusy = true }
            return isBusy
        }) {
            overlaps.update { $0 += 1 }
        }
        received.update { $0.append(thing) }
        defer { isBusy.update { $0 = false } }
        return body()
    }
}

@Suite("Publishers of observations")
struct ObservationPublisherTests {
    @Test(
        "A value publisher publishes the first value and each change, until it is cancelled",
        arguments: WriterKind.allCases)
    func values(_ kind: WriterKind) async throws {
        let (writer, _) = try kind.make()
        let notified = Notified<Int>()
        let cancellable = trackingWineCount()
            .publisher(in: writer, scheduling: .async(onQueue: DispatchQueue(label: "test")))
            .sink(receiveCompletion: { _ in }, receiveValue: notified.onChange)
        try await notified.reaches(0)
        try await writer.write { try $0.insertWine() }
        try await notified.reaches(1)
        cancellable.cancel()
        try await writer.write { try $0.insertWine() }
        try settle(writer)
        #expect(notified.values.last == 1)
    }

    @Test("A value publisher fails with the observation")
    func failure() async throws {
        let fixture = try QueueFixture()
        let notified = Notified<Int>()
        let cancellable = ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT x FROM nothing") ?? 0 }
            .publisher(in: fixture.queue)
            .sink(
                receiveCompletion: { if case .failure(let error) = $0 { notified.onError(error) } },
                receiveValue: notified.onChange)
        try await notified.fails()
        cancellable.cancel()
    }

    /// Has the subscriber take 0, and then 1 on a thread of its own, while `change` is notified.
    private func receiveSlowly(
        _ subscriber: SlowSubscriber, demand: Subscribers.Demand, during change: (DatabaseQueue) throws -> Void
    ) throws {
        let queue = try QueueFixture().queue
        let scheduler = CountingScheduler()
        trackingWineCount().publisher(in: queue, scheduling: scheduler).receive(subscriber: subscriber)
        subscriber.request(.max(1))
        scheduler.pass()
        try queue.write { try $0.insertWine() }
        scheduler.pass()
        #expect(subscriber.received.value == ["0"])
        let request = start { subscriber.request(demand) }
        subscriber.isTaking.pass()
        try change(queue)
        scheduler.pass()
        subscriber.mayGoOn.open()
        request.pass()
        subscriber.cancel()
        #expect(subscriber.overlaps.value == 0)
    }

    @Test("A value that arrives during the delivery of another follows it, and is not lost", arguments: [1, 2])
    func oneValueAtATime(demand: Int) throws {
        let subscriber = SlowSubscriber(demandAfterOne: demand == 1 ? .max(1) : .none)
        try receiveSlowly(subscriber, demand: .max(demand)) { queue in try queue.write { try $0.insertWine() } }
        #expect(subscriber.received.value == ["0", "1", "2"])
    }

    @Test("A failure that comes while a value is being taken comes after it")
    func failureAfterValue() throws {
        let subscriber = SlowSubscriber(demandAfterOne: .none)
        try receiveSlowly(subscriber, demand: .max(1)) { queue in
            try queue.write { try $0.execute(sql: "DROP TABLE wine") }
        }
        #expect(subscriber.received.value == ["0", "1", "completion"])
    }

    @Test("Subscribers of a shared observation share it")
    func shared() async throws {
        let fixture = try PoolFixture()
        let starts = Shared(0)
        let publisher = trackingWineCount()
            .handleEvents(willStart: { starts.update { $0 += 1 } })
            .shared(in: fixture.pool, scheduling: .async(onQueue: DispatchQueue(label: "test")))
            .publisher()
        let first = Notified<Int>(), second = Notified<Int>()
        let cancellables = [first, second].map { notified in
            publisher.sink(receiveCompletion: { _ in }, receiveValue: notified.onChange)
        }
        try await first.reaches(0)
        try await second.reaches(0)
        #expect(starts.value == 1)
        for cancellable in cancellables { cancellable.cancel() }
    }

    @Test("A region publisher publishes the connection that changed it")
    func region() throws {
        let fixture = try QueueFixture()
        let counts = Shared<[Int]>([])
        let cancellable = DatabaseRegionObservation(tracking: DatabaseRegion.fullDatabase)
            .publisher(in: fixture.queue)
            .sink(
                receiveCompletion: { _ in },
                receiveValue: { db in
                    counts.update { $0.append((try? db.countWines()) ?? -1) }
                })
        for _ in 1...2 { try fixture.queue.write { try $0.insertWine() } }
        #expect(counts.value == [1, 2])
        cancellable.cancel()
    }
}
#endif
