import Dispatch
import Foundation

@testable import Strongroom

/// Where a program may be inside of an access.
enum NestedPlace: String, CaseIterable, Codable, Sendable {
    case read, write, writeWithoutTransaction, barrier, migration
    case databaseDidCommit, databaseDidRollback, databaseWillCommit, databaseDidChange
    case function, trace, rotation, backup, prepareDatabase

    /// True if SQLite allows no use of the connection there.
    var isBarred: Bool {
        [.databaseWillCommit, .databaseDidChange, .trace, .rotation, .backup].contains(self)
    }

    var isReader: Bool { [.read, .prepareDatabase].contains(self) }

    /// True if a transaction is open, as far as the program can tell.
    var isInTransaction: Bool { [.write, .migration].contains(self) }

    /// Calls `body` once in that place.
    func enter(_ fixture: NestedFixture, _ body: @escaping @Sendable () throws -> Void) throws {
        let writer = fixture.writer
        let hasRun = Shared(false)
        let once: @Sendable () throws -> Void = {
            if hasRun.update({ former in
                defer { former = true }
                return former
            }) {
                return
            }
            try body()
        }
        switch self {
        case .read: try writer.read { _ in try once() }
        case .write: try writer.write { _ in try once() }
        case .writeWithoutTransaction: try writer.writeWithoutTransaction { _ in try once() }
        case .barrier: try writer.barrierWriteWithoutTransaction { _ in try once() }
        case .migration:
            var migrator = DatabaseMigrator()
            migrator.registerMigration("v1") { _ in try once() }
            try migrator.migrate(writer)
        case .databaseDidCommit, .databaseDidRollback, .databaseWillCommit, .databaseDidChange:
            let observer = NestedObserver(self, once)
            writer.add(transactionObserver: observer, extent: .databaseLifetime)
            try writer.writeWithoutTransaction { db in
                try db.inTransaction {
                    try db.insertWine()
                    return self == .databaseDidRollback ? .rollback : .commit
                }
            }
        case .function:
            try writer.writeWithoutTransaction { db in
                db.add(
                    function: DatabaseFunction("nested", argumentCount: 0) { _ in
                        try once()
                        return 1
                    })
                _ = try Int.fetchOne(db, sql: "SELECT nested()")
            }
        case .trace:
            try writer.writeWithoutTransaction { db in
                db.trace { _ in try! once() }
                _ = try Int.fetchOne(db, sql: "SELECT 1")
                db.trace()
            }
        case .rotation: try writer.rotateKey(to: .passphrase("another")) { _ in try once() }
        case .backup:
            let source = try QueueFixture()
            try source.queue.backup(to: writer, pagesPerStep: 1) { _ in try once() }
        case .prepareDatabase:
            fixture.preparation.update { $0 = once }
            try writer.read { _ in }
        }
        guard hasRun.value else { fatalError("\(self) was not entered") }
    }
}

/// An operation of a program at that place.
enum NestedCall: String, CaseIterable, Codable, Sendable {
    case read, unsafeRead, unsafeReentrantRead, write, unsafeReentrantWrite, barrier, close, releaseMemory, erase
    case concurrentRead, makeSnapshot, addFunction, checkpoint
    case asyncRead, asyncUnsafeRead, asyncWrite, asyncBarrier, awaitedRead, awaitedBarrier
    case invalidateReadOnlyConnections, releaseMemoryEventually, interrupt

    func make(_ writer: any DatabaseWriter) throws {
        let (pool, queue) = (writer as? DatabasePool, writer as? DatabaseQueue)
        switch self {
        case .read: _ = try writer.read { try $0.countWines() }
        case .unsafeRead: _ = try writer.unsafeRead { try $0.countWines() }
        case .unsafeReentrantRead: _ = try writer.unsafeReentrantRead { try $0.countWines() }
        case .write: _ = try writer.write { try $0.countWines() }
        case .unsafeReentrantWrite: _ = try writer.unsafeReentrantWrite { try $0.countWines() }
        case .barrier: _ = try writer.barrierWriteWithoutTransaction { try $0.countWines() }
        case .close: try writer.close()
        case .releaseMemory: pool != nil ? pool?.releaseMemory() : queue?.releaseMemory()
        case .erase: try writer.erase()
        case .concurrentRead: _ = writer.concurrentRead { try $0.countWines() }
        case .makeSnapshot: _ = try pool?.makeSnapshot()
        case .addFunction:
            let function = DatabaseFunction("nested", argumentCount: 0) { _ in 2 }
            pool != nil ? pool?.add(function: function) : queue?.add(function: function)
        case .checkpoint: writer.unsafeReentrantWrite { db in _ = try? db.checkpoint(.passive) }
        case .asyncRead: writer.asyncRead { _ in }
        case .asyncUnsafeRead: writer.asyncUnsafeRead { _ in }
        case .asyncWrite: writer.asyncWriteWithoutTransaction { _ in }
        case .asyncBarrier: writer.asyncBarrierWriteWithoutTransaction { _ in }
        case .awaitedRead: Task { try await writer.read { try $0.countWines() } }
        case .awaitedBarrier: Task { try await writer.barrierWriteWithoutTransaction { try $0.countWines() } }
        case .invalidateReadOnlyConnections: writer.invalidateReadOnlyConnections()
        case .releaseMemoryEventually: pool?.releaseMemoryEventually()
        case .interrupt: writer.interrupt()
        }
    }

    /// Words of the message that stops the program; nil when the call is served.
    func refusal(in place: NestedPlace, of kind: WriterKind) -> String? {
        let reentrancy = "Database methods are not reentrant", barred = "was used inside of"
        switch self {
        case .read, .unsafeRead:
            return kind == .queue || place.isReader ? reentrancy : nil
        case .unsafeReentrantRead:
            if kind == .queue { return place.isBarred ? barred : nil }
            return place == .prepareDatabase ? reentrancy : nil
        case .write:
            return kind == .queue || !place.isReader ? reentrancy : nil
        case .unsafeReentrantWrite, .checkpoint:
            return place.isBarred ? barred : nil
        case .barrier, .close, .releaseMemory, .erase:
            return reentrancy
        case .concurrentRead:
            if place.isBarred { return barred }
            if kind == .queue, place == .read { return "inside a transaction" }
            return place.isReader ? "outside of a write" : place.isInTransaction ? "inside a transaction" : nil
        case .makeSnapshot:
            if kind == .queue { return nil }
            return place.isBarred ? barred : place.isInTransaction ? "inside a transaction" : nil
        case .addFunction:
            if place == .function { return "no statement may run meanwhile" }
            return place.isBarred ? barred : nil
        default:
            return nil
        }
    }
}

/// A database whose set-up function is a place as well.
final class NestedFixture: Sendable {
    let writer: any DatabaseWriter
    let preparation = Shared<(@Sendable () throws -> Void)?>(nil)

    init(_ kind: WriterKind) throws {
        var configuration = Configuration.encrypted()
        configuration.prepareDatabase { [preparation] db in
            if db.configuration.readonly { try preparation.value?() }
        }
        writer = try kind.make(configuration).0
    }
}

private final class NestedObserver: TransactionObserver {
    private let place: NestedPlace
    private let body: () throws -> Void

    init(_ place: NestedPlace, _ body: @escaping () throws -> Void) {
        self.place = place
        self.body = body
    }

    private func enter(_ place: NestedPlace) throws {
        if place == self.place { try body() }
    }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) { try! enter(.databaseDidChange) }
    func databaseWillCommit() throws { try enter(.databaseWillCommit) }
    func databaseDidCommit(_ db: Database) { try! enter(.databaseDidCommit) }
    func databaseDidRollback(_ db: Database) { try! enter(.databaseDidRollback) }
}
