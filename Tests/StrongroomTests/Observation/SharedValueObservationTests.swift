import Dispatch
import Foundation
import Strongroom
import Testing

@Suite("Shared value observations")
struct SharedValueObservationTests {
    private func share(in reader: any DatabaseReader, extent: SharedValueObservationExtent, starts: Shared<Int>)
        -> SharedValueObservation<Int>
    {
        trackingWineCount()
            .handleEvents(willStart: { starts.update { $0 += 1 } })
            .shared(in: reader, scheduling: .async(onQueue: DispatchQueue(label: "shared")), extent: extent)
    }

    @Test("Subscribers share one observation, and a late one gets the latest value", arguments: WriterKind.allCases)
    func sharing(_ kind: WriterKind) async throws {
        let (writer, _) = try kind.make()
        let starts = Shared(0)
        let shared = share(in: writer, extent: .whileObserved, starts: starts)
        #expect(starts.value == 0)
        let first = Notified<Int>(), second = Notified<Int>()
        let firstCancellable = shared.start(onError: first.onError, onChange: first.onChange)
        try await first.reaches(0)
        try await writer.write { try $0.insertWine() }
        try await first.reaches(1)
        let secondCancellable = shared.start(onError: second.onError, onChange: second.onChange)
        try await second.reaches(1)
        #expect(second.values == [1])
        firstCancellable.cancel()
        try await writer.write { try $0.insertWine() }
        try await second.reaches(2)
        #expect(first.values.last == 1)
        #expect(starts.value == 1)
        secondCancellable.cancel()
    }

    @Test("Objects that a subscriber releases can use the observation")
    func farewell() async throws {
        let fixture = try QueueFixture()
        let shared = share(in: fixture.queue, extent: .whileObserved, starts: Shared(0))
        let first = Notified<Int>(), second = Notified<Int>()
        let later = Shared<AnyDatabaseCancellable?>(nil)
        let observe = { (farewell: Farewell) in
            shared.start(onError: first.onError) { count in withExtendedLifetime(farewell) { first.onChange(count) } }
        }
        let cancellable = observe(
            Farewell {
                let next = shared.start(onError: second.onError, onChange: second.onChange)
                later.update { $0 = next }
            })
        try await first.reaches(0)
        let cancellation = start { cancellable.cancel() }
        try await onThread { cancellation.pass() }
        try await second.reaches(0)
        later.value?.cancel()
    }

    @Test("Observed no more, it starts again with the next subscriber")
    func whileObserved() async throws {
        let fixture = try QueueFixture()
        let starts = Shared(0)
        let shared = share(in: fixture.queue, extent: .whileObserved, starts: starts)
        for count in 0...1 {
            let notified = Notified<Int>()
            let cancellable = shared.start(onError: notified.onError, onChange: notified.onChange)
            try await notified.reaches(count)
            cancellable.cancel()
            try await fixture.queue.write { try $0.insertWine() }
        }
        #expect(starts.value == 2)
    }

    @Test("With the observation's lifetime, it goes on without subscribers")
    func observationLifetime() async throws {
        let fixture = try QueueFixture()
        let starts = Shared(0)
        let shared = share(in: fixture.queue, extent: .observationLifetime, starts: starts)
        for count in 0...1 {
            let notified = Notified<Int>()
            let cancellable = shared.start(onError: notified.onError, onChange: notified.onChange)
            try await notified.reaches(count)
            cancellable.cancel()
            try await fixture.queue.write { try $0.insertWine() }
        }
        #expect(starts.value == 1)
    }

    @Test("An error goes to all subscribers, and the next one starts again")
    func failure() async throws {
        let fixture = try QueueFixture()
        let shared = ValueObservation.tracking { db in
            let count = try db.countWines()
            if count == 1 { throw CancellationError() }
            return count
        }.shared(in: fixture.queue, scheduling: .async(onQueue: DispatchQueue(label: "shared")))
        let first = Notified<Int>(), second = Notified<Int>(), third = Notified<Int>()
        let cancellables = [first, second].map { shared.start(onError: $0.onError, onChange: $0.onChange) }
        try await first.reaches(0)
        try await second.reaches(0)
        try await fixture.queue.write { try $0.insertWine() }
        try await first.fails()
        try await second.fails()
        try await fixture.queue.write { try $0.insertWine() }
        let cancellable = shared.start(onError: third.onError, onChange: third.onChange)
        try await third.reaches(2)
        cancellable.cancel()
        for cancellable in cancellables { cancellable.cancel() }
    }

    @Test("With the observation's lifetime, an error is the last word, for late subscribers too")
    func lastingFailure() async throws {
        struct Refusal: Error {}
        let fixture = try QueueFixture()
        let fetches = Shared(0)
        let shared = ValueObservation.tracking { _ -> Int in
            fetches.update { $0 += 1 }
            throw Refusal()
        }.shared(
            in: fixture.queue, scheduling: .async(onQueue: DispatchQueue(label: "shared")), extent: .observationLifetime
        )
        for _ in 0..<2 {
            let subscriber = Notified<Int>()
            let cancellable = shared.start(onError: subscriber.onError, onChange: subscriber.onChange)
            try await subscriber.fails()
            cancellable.cancel()
        }
        #expect(fetches.value == 1)
    }

    @Test("As asynchronous sequences")
    func sequences() async throws {
        let fixture = try PoolFixture()
        let shared = trackingWineCount().shared(in: fixture.pool, scheduling: .task)
        for expected in 0...2 {
            for try await count in shared.values() {
                #expect(count == expected)
                break
            }
            try await fixture.pool.write { try $0.insertWine() }
        }
    }

    @MainActor
    @Test("Immediately: a new subscriber has the latest value immediately")
    func immediate() throws {
        let fixture = try PoolFixture()
        let shared = trackingWineCount().shared(in: fixture.pool, scheduling: .immediate)
        let first = Notified<Int>(), second = Notified<Int>()
        let cancellables = [first, second].map { shared.start(onError: $0.onError, onChange: $0.onChange) }
        #expect(first.values == [0])
        #expect(second.values == [0])
        for cancellable in cancellables { cancellable.cancel() }
    }
}
