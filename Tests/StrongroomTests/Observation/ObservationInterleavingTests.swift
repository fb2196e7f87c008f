import Dispatch
import Foundation
import Strongroom
import Testing

// Observations of a pool, with the moments that matter held open by gates.

@Suite("Observations of a pool miss no change and block no access")
struct ObservationInterleavingTests {
    /// A fetch that waits, once it has read, until it is let go.
    private final class HeldFetch: Sendable {
        let hasRead = Gate()
        let mayReturn = Gate()
        private let count = Shared(0)

        /// Waits in the fetch of that number.
        func wait(inFetch number: Int) {
            guard
                count.update({
                    $0 += 1
                    return $0
                }) == number
            else { return }
            hasRead.open()
            mayReturn.pass()
        }
    }

    @Test("A write that comes during the first fetch neither waits for it nor is missed")
    func writeDuringFirstFetch() async throws {
        let fixture = try PoolFixture()
        let held = HeldFetch()
        let notified = Notified<Int>()
        let cancellable = ValueObservation.tracking { db in
            let count = try db.countWines()
            held.wait(inFetch: 1)
            return count
        }.notify(notified, in: fixture.pool)
        try await onThread {
            held.hasRead.pass()
            try fixture.pool.write { try $0.insertWine() }
            held.mayReturn.open()
        }
        try await notified.reaches(1)
        #expect(notified.values == [0, 1])
        cancellable.cancel()
    }

    @Test("Writes during a later fetch are notified as one, with their last state")
    func writesDuringFetch() async throws {
        let fixture = try PoolFixture()
        let held = HeldFetch()
        let notified = Notified<Int>()
        let cancellable = ValueObservation.tracking { db in
            let count = try db.countWines()
            held.wait(inFetch: 2)
            return count
        }.notify(notified, in: fixture.pool)
        try await notified.reaches(0)
        try settle(fixture.pool)
        try await onThread {
            try fixture.pool.write { try $0.insertWine() }
            held.hasRead.pass()
            for _ in 1...5 { try fixture.pool.write { try $0.insertWine() } }
            held.mayReturn.open()
        }
        try await notified.reaches(6)
        #expect(notified.values == [0, 1, 6])
        cancellable.cancel()
    }

    @Test("A write to a table that the first fetch reads is not missed before the region is known")
    func writeBeforeRegionIsKnown() async throws {
        let fixture = try PoolFixture()
        try await fixture.pool.write { try $0.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY)") }
        let held = HeldFetch()
        let notified = Notified<Int>()
        let cancellable = ValueObservation.tracking { db in
            guard try db.countWines() > 0 else { return -1 }
            let notes = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM note")!
            held.wait(inFetch: 1)
            return notes
        }.notify(notified, in: fixture.pool)
        try await notified.reaches(-1)
        try settle(fixture.pool)
        try await onThread {
            try fixture.pool.write { try $0.insertWine() }
            held.hasRead.pass()
            try fixture.pool.write { try $0.execute(sql: "INSERT INTO note DEFAULT VALUES") }
            held.mayReturn.open()
        }
        try await notified.reaches(1)
        cancellable.cancel()
    }

    @Test("The first value does not wait for a write that runs, and the write is seen when it is done")
    func startDuringWrite() async throws {
        let fixture = try PoolFixture()
        let hasWritten = Gate()
        let mayCommit = Gate()
        let writeIsDone = start {
            try? fixture.pool.write { db in
                try db.insertWine()
                hasWritten.open()
                mayCommit.pass()
            }
        }
        let notified = Notified<Int>()
        try await onThread { hasWritten.pass() }
        let cancellable = trackingWineCount().notify(notified, in: fixture.pool)
        try await notified.reaches(0)
        mayCommit.open()
        try await notified.reaches(1)
        try await onThread { writeIsDone.pass() }
        cancellable.cancel()
    }

    @Test("A write does not wait for a reader, even when all of them are busy")
    func noReaderIsFree() async throws {
        var configuration = Configuration.encrypted()
        configuration.maximumReaderCount = 1
        let fixture = try PoolFixture(configuration)
        let notified = Notified<Int>()
        let cancellable = trackingWineCount().notify(notified, in: fixture.pool)
        try await notified.reaches(0)
        try settle(fixture.pool)
        let isReading = Gate()
        let mayEnd = Gate()
        let readIsDone = start {
            try? fixture.pool.read { _ in
                isReading.open()
                mayEnd.pass()
            }
        }
        try await onThread {
            isReading.pass()
            for _ in 1...3 { try fixture.pool.write { try $0.insertWine() } }
            mayEnd.open()
            readIsDone.pass()
        }
        try await notified.reaches(3)
        #expect(notified.values == [0, 3])
        cancellable.cancel()
    }

    @Test("The latest state always comes, and states come in order", arguments: WriterKind.allCases)
    func stress(_ kind: WriterKind) async throws {
        let (writer, _) = try kind.make()
        let notified = (0..<4).map { _ in Notified<Int>() }
        let cancellables = notified.map { trackingWineCount().notify($0, in: writer) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for _ in 0..<25 { try await writer.write { try $0.insertWine() } }
                }
            }
            try await group.waitForAll()
        }
        for notified in notified {
            try await notified.reaches(100)
            let values = notified.values
            #expect(values == values.sorted())
        }
        for cancellable in cancellables { cancellable.cancel() }
    }

    @Test("A cancellation during a fetch: its value is not notified")
    func cancelDuringFetch() async throws {
        let fixture = try PoolFixture()
        let held = HeldFetch()
        let notified = Notified<Int>()
        let cancellable = ValueObservation.tracking { db in
            let count = try db.countWines()
            held.wait(inFetch: 1)
            return count
        }.notify(notified, in: fixture.pool)
        try await onThread {
            held.hasRead.pass()
            cancellable.cancel()
            held.mayReturn.open()
            try fixture.pool.write { try $0.insertWine() }
            try fixture.pool.close()
        }
        #expect(notified.values == [])
        #expect(notified.errors.isEmpty)
    }
}
