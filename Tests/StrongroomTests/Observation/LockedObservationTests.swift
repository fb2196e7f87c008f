import CStrongroomFaults
import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("Observations of a database that is locked", .timeLimit(.minutes(2)))
struct LockedObservationTests {
    @Test("pause, and fetch again when it is unlocked", arguments: LockableKind.allCases)
    func values(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: writer)
        try await notified.reaches(0)
        for count in 1...3 {
            try await writer.lock()
            try fixture.shell().insertWine()
            try await writer.unlock(with: LockFixture.key)
            // Nothing but the unlocking tells of the other process.
            try await notified.reaches(count)
        }
        try await writer.write { try $0.insertWine() }
        try await notified.reaches(4)
        #expect(notified.values == [0, 1, 2, 3, 4])
        #expect(notified.errors.isEmpty)
        observation.cancel()
    }

    @Test(
        "begin when it is unlocked", arguments: LockableKind.allCases, [Configuration.LockedAccesses.refuse, .wait(60)])
    func laterStart(kind: LockableKind, accesses: Configuration.LockedAccesses) async throws {
        let fixture = try LockFixture(kind, LockFixture.configuration(accesses)), writer = fixture.writer
        try await writer.lock()
        let notified = Notified<Int>(), changes = Shared(0)
        let observation = trackingWineCount().notify(notified, in: writer)
        let regions = DatabaseRegionObservation(tracking: Table("wine")).start(in: writer) { error in
            Issue.record(error)
        } onChange: { _ in
            changes.update { $0 += 1 }
        }
        await #expect(throws: DatabaseError.self) { try await writer.unlock(with: .random()) }
        #expect(notified.values.isEmpty)
        try await writer.unlock(with: LockFixture.key)
        try await notified.reaches(0)
        try await writer.write { _ in }
        try await writer.write { try $0.insertWine() }
        try await notified.reaches(1)
        #expect(try await eventually { changes.value == 1 })
        #expect(notified.errors.isEmpty)
        observation.cancel()
        regions.cancel()
    }

    @Test("survive locks at any moment", arguments: LockableKind.allCases)
    func anyMoment(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        for round in 1...20 {
            let notified = Notified<Int>()
            let observation = trackingWineCount().notify(notified, in: writer)
            let lock = Task { try await writer.lock() }
            let write = Task { try? await writer.write { try $0.insertWine() } }
            try await lock.value
            _ = await write.value
            try await writer.unlock(with: LockFixture.key)
            let count = try await writer.write { db in
                try db.insertWine()
                return try db.countWines()
            }
            try await notified.reaches(count)
            #expect(notified.errors.isEmpty, "round \(round)")
            observation.cancel()
        }
    }

    @Test("that fetch when it is unlocked end with the latest value", arguments: LockableKind.allCases)
    func order(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        for round in 1...10 {
            let all = (0..<50).map { _ in Notified<Int>() }
            let observations = all.map { trackingWineCount().notify($0, in: writer) }
            try await writer.lock()
            try await writer.unlock(with: LockFixture.key)
            let count = try await writer.write { db in
                try db.insertWine()
                return try db.countWines()
            }
            for notified in all { try await notified.reaches(count) }
            #expect(all.allSatisfy { $0.values == $0.values.sorted() }, "round \(round)")
            for observation in observations { observation.cancel() }
        }
    }

    @Test("of regions are notified once of an unknown change", arguments: LockableKind.allCases)
    func regions(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        let events = Shared<[String]>([])
        let observation = DatabaseRegionObservation(tracking: Table("wine")).start(in: writer) { error in
            Issue.record(error)
        } onEvent: { event in
            events.update { $0.append(event.isKnown ? "known" : "unknown") }
        }
        try await writer.write { try $0.insertWine() }
        try await writer.lock()
        try await writer.unlock(with: LockFixture.key)
        try await writer.write { try $0.insertWine() }
        #expect(events.value == ["known", "unknown", "known"])
        observation.cancel()
    }

    @Test(
        "of regions that begin while it is locked see all later writes", arguments: LockableKind.allCases,
        [Configuration.LockedAccesses.refuse, .wait(60)])
    func startWhileLocked(kind: LockableKind, accesses: Configuration.LockedAccesses) async throws {
        let fixture = try LockFixture(kind, LockFixture.configuration(accesses)), writer = fixture.writer
        for round in 1...20 {
            let changes = (0..<50).map { _ in Shared(0) }
            try await writer.lock()
            let observations = changes.map { changes in
                DatabaseRegionObservation(tracking: Table("wine")).start(in: writer) { error in
                    Issue.record(error)
                } onChange: { _ in
                    changes.update { $0 += 1 }
                }
            }
            try await writer.unlock(with: LockFixture.key)
            try await writer.write { try $0.insertWine() }
            #expect(changes.allSatisfy { $0.value == 1 }, "round \(round)")
            for observation in observations { observation.cancel() }
        }
    }

    @Test(
        "of regions that begin while it is locked are notified of what others may have changed before the unlocking",
        arguments: LockableKind.allCases)
    func othersWhileLocked(kind: LockableKind) async throws {
        var configuration = LockFixture.configuration(.refuse)
        configuration.observesExternalChanges = true
        configuration.journalMode = .wal
        let fixture = try LockFixture(kind, configuration), writer = fixture.writer
        let events = Shared<[String]>([])
        try await writer.lock()
        let observation = DatabaseRegionObservation(tracking: Table("wine")).start(in: writer) { error in
            Issue.record(error)
        } onEvent: { event in
            events.update { $0.append(event.isKnown ? "known" : "unknown") }
        }
        try fixture.shell().insertWine()
        try await writer.unlock(with: LockFixture.key)
        try await writer.write { try $0.insertWine() }
        #expect(events.value == ["unknown", "known"])
        observation.cancel()
    }

    @Test("of regions that have begun while it is locked keep no database open", arguments: LockableKind.allCases)
    func releaseWhileLocked(kind: LockableKind) async throws {
        var fixture: LockFixture? = try LockFixture(kind, LockFixture.configuration(.refuse))
        try await fixture?.writer.lock()
        let isReleased = { [weak writer = fixture?.writer] in writer == nil }
        let observation = DatabaseRegionObservation(tracking: Table("wine"))
            .start(in: try #require(fixture).writer) {
                Issue.record($0)
            } onChange: { _ in
            }
        fixture = nil
        #expect(try await eventually { isReleased() })
        observation.cancel()
    }

    @Test("of regions that begin while it is unlocked have missed nothing", arguments: LockableKind.allCases)
    func startWhileUnlocked(kind: LockableKind) async throws {
        let events = Shared<[String]>([]), observations = Shared<[AnyDatabaseCancellable]>([])
        let locked = Shared<(any LockableWriter)?>(nil)
        var configuration = LockFixture.configuration()
        configuration.prepareDatabase { db in
            // The writer comes first.
            guard let writer = locked.update({ $0.take() }) else { return }
            let observation = DatabaseRegionObservation(tracking: Table("wine")).start(in: writer) { error in
                Issue.record(error)
            } onEvent: { event in
                events.update { $0.append(event.isKnown ? "known" : "unknown") }
            }
            observations.update { $0.append(observation) }
        }
        let fixture = try LockFixture(kind, configuration), writer = fixture.writer
        try await writer.lock()
        locked.update { $0 = writer }
        try await writer.unlock(with: LockFixture.key)
        try await writer.write { try $0.insertWine() }
        #expect(events.value == ["known"])
        for observation in observations.value { observation.cancel() }
    }

    @Test("of transactions stay where they were added", arguments: LockableKind.allCases)
    func transactions(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        let observer = CommitCounter()
        writer.add(transactionObserver: observer, extent: .databaseLifetime)
        try await writer.write { try $0.insertWine() }
        try await writer.lock()
        try await writer.unlock(with: LockFixture.key)
        try await writer.write { try $0.insertWine() }
        #expect(observer.rows.value == 2)
    }

    @Test("of other processes go on when it is unlocked", arguments: LockableKind.allCases)
    func externalChanges(kind: LockableKind) async throws {
        var configuration = LockFixture.configuration()
        configuration.observesExternalChanges = true
        configuration.journalMode = .wal
        configuration.busyMode = .timeout(20)
        let fixture = try LockFixture(kind, configuration), writer = fixture.writer, shell = try fixture.shell()
        let notified = Notified<Int>()
        let observation = trackingWineCount().notify(notified, in: writer)
        try await notified.reaches(0)
        for round in 0..<3 {
            try shell.insertWine()
            try await notified.reaches(4 * round + 1)
            try await writer.lock()
            try shell.insertWine()
            try shell.insertWine()
            try await writer.unlock(with: LockFixture.key)
            try await notified.reaches(4 * round + 3)
            try shell.insertWine()
            try await notified.reaches(4 * round + 4)
        }
        #expect(notified.errors.isEmpty)
        observation.cancel()
    }

    @Test("of other processes go on after a lock during a look for their changes", arguments: LockableKind.allCases)
    func lockDuringLook(kind: LockableKind) async throws {
        strongroom_faults_install()
        var configuration = LockFixture.configuration()
        configuration.observesExternalChanges = true
        configuration.journalMode = .wal
        let fixture = try LockFixture(kind, configuration), writer = fixture.writer, shell = try fixture.shell()
        let notified = Notified<Int>(), isLocked = Gate(), failure = Shared<(any Error)?>(nil)
        let observation = trackingWineCount().notify(notified, in: writer)
        try await notified.reaches(0)
        // The look has compared the log with its index, and not yet read the data version.
        at(STRONGROOM_MOMENT_LOG_HEADER_READ, fixture.path) {
            Thread.detachNewThread {
                do { try writer.lock() } catch { failure.update { $0 = error } }
                isLocked.open()
            }
            writer.awaitLock()
        }
        try shell.insertWine()
        try await onThread { isLocked.pass() }
        #expect(failure.value == nil)
        try await writer.unlock(with: LockFixture.key)
        try await notified.reaches(1)
        try shell.insertWine()
        try await notified.reaches(2)
        #expect(notified.errors.isEmpty)
        observation.cancel()
    }

    @MainActor
    @Test("that need a value immediately get the error", arguments: LockableKind.allCases)
    func immediate(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        try await writer.lock()
        let failures = Shared<[any Error]>([])
        let observation = trackingWineCount().start(in: writer, scheduling: .immediate) { error in
            failures.update { $0.append(error) }
        } onChange: { _ in
        }
        #expect(failures.value.count == 1)
        expectLocked(failures.value.first)
        observation.cancel()
    }
}

extension DatabaseRegionObservation.Event {
    var isKnown: Bool {
        if case .change = self { true } else { false }
    }
}

/// Counts rows of committed transactions.
private final class CommitCounter: TransactionObserver, Sendable {
    let rows = Shared(0)
    private let pending = Shared(0)

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }

    func databaseDidChange(with event: DatabaseEvent) {
        pending.update { $0 += 1 }
    }

    func databaseDidCommit(_ db: Database) {
        let count = pending.update { count in
            defer { count = 0 }
            return count
        }
        rows.update { $0 += count }
    }

    func databaseDidRollback(_ db: Database) {}
}
