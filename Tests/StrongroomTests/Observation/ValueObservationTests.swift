import Dispatch
import Foundation
import Strongroom
import Testing

/// The values of an observation, and a way to wait for them.
final class Notified<Value: Sendable & Equatable>: Sendable {
    private let storage = Shared<[Value]>([])
    private let failures = Shared<[any Error]>([])

    var values: [Value] { storage.value }
    var errors: [any Error] { failures.value }

    var onChange: @Sendable (Value) -> Void {
        { value in self.storage.update { $0.append(value) } }
    }

    var onError: @Sendable (any Error) -> Void {
        { error in self.failures.update { $0.append(error) } }
    }

    /// Waits until the latest value is that one.
    func reaches(_ value: Value, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let isReached = try await eventually { self.values.last == value }
        #expect(isReached, "\(value) is not reached: \(values), \(errors)", sourceLocation: sourceLocation)
    }

    func fails(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let hasFailed = try await eventually { !self.errors.isEmpty }
        #expect(hasFailed, "no error comes", sourceLocation: sourceLocation)
    }
}

extension ValueObservation where Reducer.Value: Equatable {
    func notify(
        _ notified: Notified<Reducer.Value>, in reader: any DatabaseReader,
        on queue: DispatchQueue = DispatchQueue(label: "test")
    ) -> AnyDatabaseCancellable {
        start(in: reader, scheduling: .async(onQueue: queue), onError: notified.onError, onChange: notified.onChange)
    }
}

func trackingWineCount() -> ValueObservation<ValueReducers.Fetch<Int>> {
    ValueObservation.tracking { try $0.countWines() }
}

/// Waits until what was asked of the writer is done.
func settle(_ writer: any DatabaseWriter) throws {
    try writer.write { _ in }
}

@Suite("Value observations")
struct ValueObservationTests {
    @Test("The first value comes without a change, and a fresh one after each change", arguments: WriterKind.allCases)
    func values(_ kind: WriterKind) async throws {
        let (writer, _) = try kind.make()
        let notified = Notified<Int>()
        let cancellable = trackingWineCount().notify(notified, in: writer)
        try await notified.reaches(0)
        for count in 1...3 {
            try await writer.write { try $0.insertWine() }
            try await notified.reaches(count)
        }
        cancellable.cancel()
        try await writer.write { try $0.insertWine() }
        try settle(writer)
        #expect(notified.values.last == 3)
    }

    @Test("Objects that a cancelled observation releases can still use the database", arguments: WriterKind.allCases)
    func farewell(_ kind: WriterKind) async throws {
        let (writer, _) = try kind.make()
        let notified = Notified<Int>()
        let observe = { (farewell: Farewell) in
            trackingWineCount().start(in: writer, scheduling: .task, onError: { _ in }) { count in
                withExtendedLifetime(farewell) { notified.onChange(count) }
            }
        }
        let isGone = Gate()
        let cancellable = observe(
            Farewell {
                try! writer.write { try $0.insertWine() }
                isGone.open()
            })
        try await notified.reaches(0)
        let cancellation = start { cancellable.cancel() }
        try await onThread {
            cancellation.pass()
            // A notification that ends just now may be the last to let go.
            isGone.pass()
        }
        #expect(try await writer.read { try $0.countWines() } == 1)
    }

    @Test("Changes elsewhere fetch nothing", arguments: WriterKind.allCases)
    func otherTable(_ kind: WriterKind) async throws {
        let (writer, _) = try kind.make()
        try await writer.write { try $0.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY)") }
        let notified = Notified<Int>()
        let fetches = Shared(0)
        let cancellable = ValueObservation.tracking { db in
            fetches.update { $0 += 1 }
            return try db.countWines()
        }.notify(notified, in: writer)
        try await notified.reaches(0)
        try settle(writer)
        for _ in 1...10 { try await writer.write { try $0.execute(sql: "INSERT INTO note DEFAULT VALUES") } }
        try await writer.write { try $0.insertWine() }
        try await notified.reaches(1)
        #expect(fetches.value == 2)
        #expect(notified.values == [0, 1])
        cancellable.cancel()
    }

    @Test("The observed region is determined again at each fetch", arguments: WriterKind.allCases)
    func varyingRegion(_ kind: WriterKind) async throws {
        let (writer, _) = try kind.make()
        try await writer.write { try $0.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY)") }
        let notified = Notified<String>()
        let cancellable = ValueObservation.tracking { db in
            let wines = try db.countWines()
            return wines == 0 ? "none" : "\(wines) \(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM note")!)"
        }.notify(notified, in: writer)
        try await notified.reaches("none")
        try await writer.write { try $0.execute(sql: "INSERT INTO note DEFAULT VALUES") }
        try await writer.write { try $0.insertWine() }
        try await notified.reaches("1 1")
        try await writer.write { try $0.execute(sql: "INSERT INTO note DEFAULT VALUES") }
        try await notified.reaches("1 2")
        cancellable.cancel()
    }

    @Test("A constant region is that of the first fetch", arguments: WriterKind.allCases)
    func constantRegion(_ kind: WriterKind) async throws {
        let (writer, _) = try kind.make()
        let regions = Shared<[String]>([])
        let notified = Notified<Int>()
        let cancellable = ValueObservation.trackingConstantRegion { try $0.countWines() }
            .handleEvents(willTrackRegion: { region in regions.update { $0.append("\(region)") } })
            .notify(notified, in: writer)
        try await notified.reaches(0)
        try await writer.write { try $0.insertWine() }
        try await notified.reaches(1)
        #expect(regions.value == ["wine(*)"])
        cancellable.cancel()
    }

    @Test("A given region is observed, not the tables that the function reads", arguments: WriterKind.allCases)
    func givenRegion(_ kind: WriterKind) async throws {
        let (writer, _) = try kind.make()
        try await writer.write {
            try $0.execute(
                sql: "CREATE TABLE note (id INTEGER PRIMARY KEY); CREATE TABLE other (id INTEGER PRIMARY KEY)")
        }
        let fetches = Shared(0)
        let notified = Notified<Int>()
        let cancellable = ValueObservation.tracking(
            region: SQLRequest<Row>(sql: "SELECT * FROM note"), SQLRequest<Row>(sql: "SELECT * FROM other"),
            fetch: { _ in
                fetches.update {
                    $0 += 1
                    return $0
                }
            }
        ).notify(notified, in: writer)
        try await notified.reaches(1)
        try settle(writer)
        try await writer.write { try $0.insertWine() }
        try await writer.write { try $0.execute(sql: "INSERT INTO note DEFAULT VALUES") }
        try await notified.reaches(2)
        try await writer.write { try $0.execute(sql: "INSERT INTO other DEFAULT VALUES") }
        try await notified.reaches(3)
        cancellable.cancel()
    }

    @Test("registerAccess makes a fetch depend on a region that it does not read", arguments: WriterKind.allCases)
    func registerAccess(_ kind: WriterKind) async throws {
        let (writer, _) = try kind.make()
        let notified = Notified<Int>()
        let fetches = Shared(0)
        let cancellable = ValueObservation.tracking { db in
            try db.registerAccess(to: SQLRequest<Row>(sql: "SELECT name FROM wine"))
            return fetches.update {
                $0 += 1
                return $0
            }
        }.notify(notified, in: writer)
        try await notified.reaches(1)
        try await writer.write { try $0.insertWine() }
        try await notified.reaches(2)
        try await writer.write { try $0.notifyChanges(in: .fullDatabase) }
        try await notified.reaches(3)
        cancellable.cancel()
        try await writer.read { db in
            try db.registerAccess(
                to: { () -> DatabaseRegion in
                    Issue.record("there is no observer")
                    return .fullDatabase
                }())
        }
    }

    @Test("Values are mapped, and duplicates removed")
    func operators() async throws {
        let fixture = try PoolFixture()
        let notified = Notified<Bool>()
        let mapThreads = Shared<[Bool]>([])
        let cancellable = trackingWineCount()
            .map { count in
                mapThreads.update { $0.append(Thread.isMainThread) }
                return count >= 2
            }
            .removeDuplicates()
            .notify(notified, in: fixture.pool)
        try await notified.reaches(false)
        for _ in 1...3 { try await fixture.pool.write { try $0.insertWine() } }
        try await notified.reaches(true)
        #expect(notified.values == [false, true])
        #expect(!mapThreads.value.contains(true))
        cancellable.cancel()
    }

    @Test("Duplicates can be defined by a function")
    func removeDuplicatesBy() async throws {
        let fixture = try QueueFixture()
        let notified = Notified<Int>()
        let cancellable = trackingWineCount().removeDuplicates { $0 / 2 == $1 / 2 }.notify(notified, in: fixture.queue)
        for _ in 1...4 { try await fixture.queue.write { try $0.insertWine() } }
        try await notified.reaches(4)
        #expect(notified.values == [0, 2, 4])
        cancellable.cancel()
    }

    @Test("The first error is notified, and nothing after it", arguments: WriterKind.allCases)
    func failure(_ kind: WriterKind) async throws {
        let (writer, _) = try kind.make()
        let notified = Notified<Int>()
        let cancellable = trackingWineCount().map { count in
            if count == 1 { throw CancellationError() }
            return count
        }.notify(notified, in: writer)
        try await notified.reaches(0)
        try await writer.write { try $0.insertWine() }
        try await notified.fails()
        try await writer.write { try $0.insertWine() }
        try settle(writer)
        #expect(notified.values == [0])
        #expect(notified.errors.count == 1)
        cancellable.cancel()
    }

    @Test("A database that is closed is an error", arguments: WriterKind.allCases)
    func closed(_ kind: WriterKind) async throws {
        let (writer, _) = try kind.make()
        try writer.close()
        let notified = Notified<Int>()
        let cancellable = trackingWineCount().notify(notified, in: writer)
        try await notified.fails()
        #expect((notified.errors.first as? DatabaseError)?.resultCode == .SQLITE_MISUSE)
        cancellable.cancel()
    }

    @Test("A function that writes can, when it says so", arguments: WriterKind.allCases)
    func writeAccess(_ kind: WriterKind) async throws {
        let (writer, _) = try kind.make()
        let notified = Notified<Int>()
        var observation = ValueObservation.tracking { db in
            if try db.countWines() == 0 { try db.insertWine() }
            return try db.countWines()
        }
        let refused = Notified<Int>()
        let refusedCancellable = observation.notify(refused, in: writer)
        try await refused.fails()
        #expect((refused.errors.first as? DatabaseError)?.resultCode == .SQLITE_READONLY)
        observation.requiresWriteAccess = true
        let cancellable = observation.notify(notified, in: writer)
        try await notified.reaches(1)
        try await writer.write { try $0.execute(sql: "DELETE FROM wine") }
        try settle(writer)
        try await notified.reaches(1)
        #expect(try await eventually { notified.values.count == 2 })
        cancellable.cancel()
        refusedCancellable.cancel()
    }

    @Test("An observation of a constant has one value")
    func constantReaders() async throws {
        let fixture = try PoolFixture()
        try await fixture.pool.write { try $0.insertWine() }
        let snapshot = try fixture.pool.makeSnapshot()
        var configuration = Configuration.encrypted()
        configuration.readonly = true
        let readers: [any DatabaseReader] = [
            snapshot,
            AnyDatabaseReader(snapshot),
            try DatabaseQueue(path: fixture.path, configuration: configuration),
            try DatabasePool(path: fixture.path, configuration: configuration),
        ]
        for reader in readers {
            let notified = Notified<Int>()
            let cancellable = trackingWineCount().notify(notified, in: reader)
            try await notified.reaches(1)
            cancellable.cancel()
        }
    }

    @Test("Events and a printed trace come in order")
    func trace() async throws {
        final class Lines: TextOutputStream, Sendable {
            let all = Shared<[String]>([])
            func write(_ string: String) { all.update { $0.append(string) } }
        }
        let fixture = try QueueFixture()
        let lines = Lines()
        let events = Shared<[String]>([])
        let notified = Notified<Int>()
        let cancellable = trackingWineCount()
            .print("wines", to: lines)
            .handleEvents(
                willStart: { events.update { $0.append("start") } },
                willFetch: { events.update { $0.append("fetch") } },
                willTrackRegion: { region in events.update { $0.append("region \(region)") } },
                databaseDidChange: { events.update { $0.append("change") } },
                didReceiveValue: { value in events.update { $0.append("value \(value)") } },
                didFail: { error in events.update { $0.append("failure") } },
                didCancel: { events.update { $0.append("cancel") } }
            )
            .notify(notified, in: fixture.queue)
        try await notified.reaches(0)
        try await fixture.queue.write { try $0.insertWine() }
        try await notified.reaches(1)
        cancellable.cancel()
        #expect(
            events.value == [
                "start", "fetch", "region wine(*)", "value 0", "change", "fetch", "value 1", "cancel",
            ])
        #expect(
            lines.all.value == [
                "wines: start", "wines: fetch", "wines: tracked region: wine(*)", "wines: value: 0",
                "wines: database did change", "wines: fetch", "wines: value: 1", "wines: cancel",
            ])
    }
}
