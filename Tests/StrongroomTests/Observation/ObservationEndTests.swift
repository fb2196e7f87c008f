import Dispatch
import Foundation
import Testing

@testable import Strongroom

@Suite("Many observations, and their ends", .timeLimit(.minutes(2)))
struct ObservationEndTests {
    @MainActor
    @Test(
        "An immediate observation without duplicates ends with the latest value, with writes during its start",
        arguments: ["queue", "pool that needs write access"])
    func immediateWithoutDuplicates(_ kind: String) async throws {
        let (writer, folder) = try (kind == "queue" ? WriterKind.queue : .pool).make()
        let stops = Shared(false)
        // There is one wine, or none, and in the end none.
        let toggling = start {
            while !stops.value {
                try! writer.write { try $0.insertWine() }
                try! writer.write { try $0.execute(sql: "DELETE FROM wine") }
            }
        }
        var observation = trackingWineCount().removeDuplicates()
        observation.requiresWriteAccess = kind != "queue"
        var latest = [Int](repeating: -1, count: 100)
        var cancellables: [AnyDatabaseCancellable] = []
        for index in latest.indices {
            cancellables.append(
                observation.start(in: writer, scheduling: .immediate) {
                    Issue.record($0)
                } onChange: {
                    latest[index] = $0
                })
        }
        stops.update { $0 = true }
        try await onThread { toggling.pass() }
        let end = Date().addingTimeInterval(20)
        while latest.contains(where: { $0 != 0 }), Date() < end { try await Task.sleep(nanoseconds: 1_000_000) }
        #expect(latest.allSatisfy { $0 == 0 })
        for cancellable in cancellables { cancellable.cancel() }
        _ = folder
    }

    @Test("A thousand observations and a write need no more threads than a few", arguments: WriterKind.allCases)
    func threads(_ kind: WriterKind) async {
        await #expect(processExitsWith: .success) { [name = kind.rawValue as String] in
            let (writer, folder) = try WriterKind(rawValue: name)!.make()
            let most = Shared(0), values = Shared(0)
            let queue = DispatchQueue(label: "values")
            let observation = trackingWineCount().map { count in
                // Longer than a fetch, so that values wait.
                usleep(2000)
                let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
                let line = status.split(separator: "\n").first { $0.hasPrefix("Threads:") }
                let threads = line.flatMap { Int($0.filter(\.isNumber)) } ?? 0
                most.update { $0 = max($0, threads) }
                return count
            }
            let cancellables = (0..<1000).map { _ in
                observation.start(in: writer, scheduling: .async(onQueue: queue), onError: { fatalError("\($0)") }) {
                    _ in
                    values.update { $0 += 1 }
                }
            }
            guard try await eventually({ values.value >= 1000 }) else { fatalError("first values: \(values.value)") }
            try await writer.write { try $0.insertWine() }
            guard try await eventually({ values.value >= 2000 }) else { fatalError("second values: \(values.value)") }
            guard most.value < 64 else { fatalError("\(most.value) threads") }
            _ = (cancellables, folder)
        }
    }

    @Test("An observation that ends is released immediately", arguments: WriterKind.allCases)
    func purge(_ kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        func isObserved() -> Bool { writer.unsafeReentrantWrite { $0.observers.isActive } }
        let notified = Notified<Int>()
        let cancellables = (0..<10).map { _ in trackingWineCount().notify(notified, in: writer) }
        #expect(try await eventually { notified.values.count == 10 })
        try settle(writer)
        #expect(isObserved())
        for cancellable in cancellables { cancellable.cancel() }
        #expect(!isObserved())

        let regions = (0..<10).map { _ in
            DatabaseRegionObservation(tracking: .fullDatabase).start(in: writer, onError: { _ in }, onChange: { _ in })
        }
        #expect(isObserved())
        for region in regions { region.cancel() }
        #expect(!isObserved())

        // A failure ends an observation as well, though its cancellable is kept.
        let failures = Notified<Int>()
        let failing = ValueObservation.tracking { db in
            let count = try db.countWines()
            if count > 0 { throw DatabaseError(message: "enough") }
            return count
        }.notify(failures, in: writer)
        try await failures.reaches(0)
        try settle(writer)
        #expect(isObserved())
        try await writer.write { try $0.insertWine() }
        try await failures.fails()
        #expect(try await eventually { !isObserved() })
        withExtendedLifetime((failing, folder)) {}
    }

    @Test("A write that comes between the state that a fetch reads and its registration is not missed")
    func writeAfterStateIsHeld() async throws {
        let fixture = try PoolFixture()
        let notified = Notified<Int>()
        let hasWritten = Shared(false)
        let cancellable = ValueObservation.tracking { db in
            // The state is held already: what is written now is not in it.
            if !hasWritten.update({ former in
                defer { former = true }
                return former
            }) {
                start { try! fixture.pool.write { try $0.insertWine() } }.pass()
            }
            return try db.countWines()
        }.notify(notified, in: fixture.pool)
        try await notified.reaches(1)
        #expect(notified.values == [0, 1])
        cancellable.cancel()
    }
}
