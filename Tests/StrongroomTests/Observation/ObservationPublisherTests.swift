#if OpenCombine
import Dispatch
import Foundation
import OpenCombine
import Strongroom
import Testing

@Suite("Publishers of observations")
struct ObservationPublisherTests {
    @Test("A value publisher publishes the first value and each change, until it is cancelled", arguments: WriterKind.allCases)
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
            .sink(receiveCompletion: { _ in }, receiveValue: { db in
                counts.update { $0.append((try? db.countWines()) ?? -1) }
            })
        for _ in 1...2 { try fixture.queue.write { try $0.insertWine() } }
        #expect(counts.value == [1, 2])
        cancellable.cancel()
    }
}
#endif
