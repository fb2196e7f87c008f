import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A lock in the middle of other work", .timeLimit(.minutes(2)))
struct LockWorkTests {
    @Test("ends a backup of the database, and one that replaces it", arguments: LockableKind.allCases, [true, false])
    func backup(kind: LockableKind, isSource: Bool) async throws {
        let locked = try LockFixture(kind), other = try LockFixture(kind)
        for fixture in [locked, other] {
            try await fixture.writer.write { db in
                for _ in 0..<200 { try db.insertWine(String(repeating: "x", count: 300)) }
            }
        }
        let (source, destination) = isSource ? (locked, other) : (other, locked)
        let hasBegun = Gate()
        let backup = start {
            #expect(throws: DatabaseError.self) {
                try source.writer.backup(to: destination.writer, pagesPerStep: 1) { _ in
                    hasBegun.open()
                    locked.writer.awaitLock()
                }
            }
        }
        try await onThread { hasBegun.pass() }
        try await locked.writer.lock()
        try await onThread { backup.pass() }
        #expect(try openDescriptors(of: locked.path) == 0)
        #expect(try await other.writer.read { try $0.countWines() } == 200)
        try await locked.writer.unlock(with: LockFixture.key)
        #expect(try await locked.writer.read { try $0.countWines() } == 200)
        try source.writer.backup(to: destination.writer)
    }

    @Test("is ended while the access of a snapshot waits for the writer")
    func snapshotWaitsForWriter() async throws {
        let fixture = try LockFixture(.pool, LockFixture.configuration(.wait(600))), pool = try #require(fixture.pool)
        let snapshot = try pool.makeSnapshot(), isReading = Gate()
        try await pool.lock()
        let read = start {
            try? snapshot.unsafeRead { _ in
                isReading.open()
                try pool.write { try $0.insertWine() }
            }
        }
        try await onThread { isReading.pass() }
        #expect(try await eventually { pool.writer.waiting == 1 })
        try await pool.unlock(with: LockFixture.key)
        try await onThread { read.pass() }
        #expect(try await pool.read { try $0.countWines() } == 1)
    }

    @Test("ends a check of the whole file, which has a connection of its own", arguments: LockableKind.allCases)
    func check(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        try await writer.write { db in for _ in 0..<2000 { try db.insertWine(String(repeating: "x", count: 2000)) } }
        let failure = Shared<(any Error)?>(nil)
        let checks = start {
            while failure.value == nil {
                do { _ = try writer.checkIntegrity() } catch { failure.update { $0 = error } }
            }
        }
        let databaseLock = try #require(writer.served?.databaseLock)
        #expect(try await eventually { databaseLock.state.withLock(\.workCount) > 0 })
        try await writer.lock()
        try await onThread { checks.pass() }
        let error = failure.value as? DatabaseError
        #expect(error?.reason == .locked || error?.isInterruptionError == true)
        #expect(try openDescriptors(of: fixture.path) == 0)
        try await writer.unlock(with: LockFixture.key)
        #expect(try await writer.checkIntegrity().isIntact)
    }

    @Test("ends an access with an open cursor", arguments: LockableKind.allCases)
    func cursor(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        try await writer.write { db in for _ in 0..<100 { try db.insertWine() } }
        let hasBegun = Gate()
        let read = start {
            let error = #expect(throws: DatabaseError.self) {
                try writer.unsafeRead { db in
                    let cursor = try String.fetchCursor(db, sql: "SELECT a.name FROM wine a, wine b, wine c, wine d")
                    while try cursor.next() != nil { hasBegun.open() }
                }
            }
            #expect(error?.reason == .interrupted || error?.reason == .locked)
        }
        try await onThread { hasBegun.pass() }
        try await writer.lock()
        try await onThread { read.pass() }
        #expect(try openDescriptors(of: fixture.path) == 0)
    }

    @Test("ends a restricted access, and a later one works", arguments: LockableKind.allCases)
    func restricted(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        let hasBegun = Gate(), restrictions = Restrictions()
        let read = start {
            #expect(throws: DatabaseError.self) {
                try writer.read(restrictedTo: restrictions) { db in
                    hasBegun.open()
                    try db.runForever()
                }
            }
        }
        try await onThread { hasBegun.pass() }
        try await writer.lock()
        try await onThread { read.pass() }
        try await onThread {
            expectLocked { _ = try writer.read(restrictedTo: restrictions) { try $0.countWines() } }
        }
        try await writer.unlock(with: LockFixture.key)
        #expect(try await onThread { try writer.read(restrictedTo: restrictions) { try $0.countWines() } } == 0)
    }

    @Test("by an observer, a function or the set-up of a connection is an error", arguments: LockableKind.allCases)
    func callbacks(kind: LockableKind) async throws {
        let locker = Locker()
        var configuration = LockFixture.configuration()
        configuration.prepareDatabase { _ in locker.attempt() }
        let fixture = try LockFixture(kind, configuration), writer = fixture.writer
        locker.writer.update { $0 = writer }
        try await writer.lock()
        try await writer.unlock(with: LockFixture.key)
        let inSetUp = locker.refusals.value
        #expect(inSetUp > 0)
        writer.add(transactionObserver: locker, extent: .databaseLifetime)
        writer.add(
            function: DatabaseFunction("lock_now", argumentCount: 0) { _ in
                locker.attempt()
                return nil
            })
        try await writer.write { db in
            try db.insertWine()
            _ = try Row.fetchOne(db, sql: "SELECT lock_now()")
        }
        #expect(locker.refusals.value >= inSetUp + 2)
        #expect(locker.others.value == 0)
        #expect(!writer.isLocked)
        locker.writer.update { $0 = nil }
    }
}

/// Locks a database inside of its accesses.
private final class Locker: TransactionObserver, Sendable {
    let writer = Shared<(any LockableWriter)?>(nil)
    let refusals = Shared(0)
    let others = Shared(0)

    func attempt() {
        guard let writer = writer.value else { return }
        do {
            try writer.lock()
            others.update { $0 += 1 }
        } catch {
            let isRefusal = (error as? DatabaseError)?.reason == .notLockable
            (isRefusal ? refusals : others).update { $0 += 1 }
        }
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseDidCommit(_ db: Database) { attempt() }
    func databaseDidRollback(_ db: Database) {}
}
