import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("Closing")
struct ClosingTests {
    @Test("logs the statements that keep the connection open, without their keys")
    func logged() async {
        await #expect(processExitsWith: .success) {
            let lines = Shared<[String]>([])
            Database.logError = { code, line in lines.update { $0.append("\(code.rawValue) \(line)") } }
            let folder = try TemporaryFolder()
            let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: .encrypted())
            let statements = try queue.inDatabase { db in
                try [db.makeStatement(sql: "SELECT 1"), db.makeStatement(sql: "ATTACH 'other' AS o KEY 'secret'")]
            }
            let error = #expect(throws: DatabaseError.self) { try queue.close() }
            #expect(error?.resultCode == .SQLITE_BUSY)
            let logged = lines.value
            #expect(logged.contains("5 unfinalized statement: SELECT 1"))
            #expect(logged.count { $0.hasPrefix("5 unfinalized statement") } == 2)
            #expect(!logged.joined().contains("secret"))
            try withExtendedLifetime(statements) { try queue.inDatabase { try $0.execute(sql: "SELECT 1") } }
        }
    }

    @Test("leaves no file open, although another thread releases memory", arguments: [false, true])
    func releasedMemory(isPersistent: Bool) async throws {
        var configuration = Configuration.encrypted()
        configuration.persistentReadOnlyConnections = isPersistent
        for _ in 0..<50 {
            let pool = try PoolFixture(configuration).pool, isClosed = Shared(false)
            let accesses: [@Sendable () -> Void] = [
                { pool.releaseMemory() }, { pool.releaseMemory() }, { _ = try? pool.read { try $0.countWines() } },
            ]
            let threads = accesses.map { access in start { while !isClosed.value { access() } } }
            let descriptors = try await onThread {
                _ = try pool.read { try $0.countWines() }
                try pool.close()
                return try openDescriptors(of: pool.path)
            }
            #expect(descriptors == 0)
            isClosed.update { $0 = true }
            try await onThread { for thread in threads { thread.pass() } }
        }
    }

    @Test("waits for the readers that another thread is closing")
    func invalidatedReaders() async throws {
        let pool = try PoolFixture().pool, isReleasing = Gate(), mayEnd = Gate(), events = Shared<[String]>([])
        try await pool.read { db in
            let farewell = Farewell {
                isReleasing.open()
                mayEnd.pass()
                events.update { $0.append("released") }
            }
            db.add(function: DatabaseFunction("one", argumentCount: 0) { _ in withExtendedLifetime(farewell) { 1 } })
        }
        let closing = start {
            // Between the barrier of the close and the closing of the readers.
            try! pool.close { _ in
                start { pool.invalidateReadOnlyConnections() }
                isReleasing.pass()
            }
            events.update { $0.append("closed") }
        }
        #expect(
            try await eventually {
                pool.readers.state.withLock { $0.turnstile.lastVisitor != nil } || !events.value.isEmpty
            })
        mayEnd.open()
        try await onThread { closing.pass() }
        #expect(events.value == ["released", "closed"])
    }

    @Test(
        "a pool that a statement keeps open is whole: readers, writer, observers and functions",
        arguments: ["reader", "writer"])
    func livingStatement(of connection: String) async throws {
        let pool = try PoolFixture().pool
        pool.add(function: DatabaseFunction("one", argumentCount: 0) { _ in 1 })
        let notified = Notified<Int>()
        let cancellable = trackingWineCount().notify(notified, in: pool)
        try await notified.reaches(0)
        let statement = Shared<Statement?>(nil)
        let keep: @Sendable (Database) -> Void = { db in
            statement.update { $0 = try! db.makeStatement(sql: "SELECT 1") }
        }
        // Two readers, one of which may have the statement.
        let first = Gate(), second = Gate()
        let threads = [(first, second), (second, first)].map { own, other in
            start {
                try! pool.unsafeRead { db in
                    own.open()
                    other.pass()
                    if own === first, connection == "reader" { keep(db) }
                }
            }
        }
        try await onThread { for thread in threads { thread.pass() } }
        if connection == "writer" { try await pool.writeWithoutTransaction(keep) }
        for _ in 0..<2 {
            let error = #expect(throws: DatabaseError.self) { try pool.close() }
            #expect(error?.resultCode == .SQLITE_BUSY)
            let count = notified.values.last! + 1
            try await pool.write { try $0.insertWine() }
            try await notified.reaches(count)
            for _ in 0..<3 {
                #expect(
                    try await pool.read { try Int.fetchOne($0, sql: "SELECT one() + COUNT(*) FROM wine") } == 1 + count)
            }
        }
        cancellable.cancel()
        statement.update { $0 = nil }
        try pool.close()
        let read = await #expect(throws: DatabaseError.self) { try await pool.read { try $0.countWines() } }
        let write = await #expect(throws: DatabaseError.self) { try await pool.write { try $0.insertWine() } }
        #expect(read?.reason == .closed)
        #expect(write?.reason == .closed)
    }

    @Test("a snapshot with a living statement fails, and the snapshot can still be used")
    func livingSnapshot() throws {
        let fixture = try PoolFixture()
        let snapshot = try fixture.pool.makeSnapshot()
        let statement = try snapshot.read { try $0.makeStatement(sql: "SELECT count(*) FROM wine") }
        let error = #expect(throws: DatabaseError.self) { try snapshot.close() }
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(try snapshot.read { try $0.countWines() } == 0)
        withExtendedLifetime(statement) {}
    }

    /// An object that is released with a connection uses one of these.
    enum LastCall: String, CaseIterable, CustomTestStringConvertible {
        case read, write, barrier, erase, reentrantWrite, close, suspend, interrupt, releaseMemory, snapshot, asyncRead,
            asyncBarrier

        var testDescription: String { rawValue }

        func make(_ writer: any DatabaseWriter) throws {
            switch self {
            case .read: _ = try writer.read { try $0.countWines() }
            case .write: try writer.write { try $0.insertWine() }
            case .barrier: try writer.barrierWriteWithoutTransaction { try $0.insertWine() }
            case .erase: try writer.erase()
            case .reentrantWrite: try writer.unsafeReentrantWrite { try $0.insertWine() }
            case .close: try writer.close()
            case .suspend: writer.suspend()
            case .interrupt: writer.interrupt()
            case .releaseMemory: (writer as? DatabasePool)?.releaseMemory()
            case .snapshot: _ = try (writer as? DatabasePool)?.makeSnapshot()
            case .asyncRead: writer.asyncRead { _ in }
            case .asyncBarrier: writer.asyncBarrierWriteWithoutTransaction { _ in }
            }
        }

        /// True if it needs a database that is open.
        var isRefused: Bool { [.read, .write, .barrier, .erase, .reentrantWrite].contains(self) }
    }

    @Test(
        "Objects that a connection releases can use the database, which is closed by then",
        arguments: LastCall.allCases, ["queue", "pool", "reader of a pool"])
    func farewells(call: LastCall, place: String) async throws {
        let (writer, folder) = try (place == "queue" ? WriterKind.queue : .pool).make()
        let box = Shared<(any DatabaseWriter)?>(writer), outcome = Shared<Result<Void, any Error>?>(nil)
        let addFunction: @Sendable (Database) -> Void = { db in
            let farewell = Farewell {
                guard let writer = box.value else { return }
                outcome.update { $0 = Result { try call.make(writer) } }
            }
            db.add(function: DatabaseFunction("one", argumentCount: 0) { _ in withExtendedLifetime(farewell) { 1 } })
        }
        try await onThread {
            try place == "reader of a pool"
                ? writer.unsafeRead(addFunction) : writer.writeWithoutTransaction(addFunction)
        }
        try await onThread { start { try! writer.close() }.pass() }
        let result = try #require(outcome.value)
        if call.isRefused {
            let error = #expect(throws: DatabaseError.self) { try result.get() }
            #expect(error?.reason == .closed)
        } else {
            try result.get()
        }
        box.update { $0 = nil }
        _ = folder
    }

    @Test("An observer that is released with its database can use it", arguments: WriterKind.allCases)
    func farewellOfObserver(kind: WriterKind) async throws {
        final class Observer: TransactionObserver, @unchecked Sendable {
            let farewell: Farewell
            init(_ farewell: Farewell) { self.farewell = farewell }
            func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
            func databaseDidChange(with event: DatabaseEvent) {}
            func databaseDidCommit(_ db: Database) {}
            func databaseDidRollback(_ db: Database) {}
        }
        let (writer, folder) = try kind.make()
        let box = Shared<(any DatabaseWriter)?>(writer), errors = Shared<[any Error]>([])
        writer.add(
            transactionObserver: Observer(
                Farewell {
                    do { _ = try box.value?.read { try $0.countWines() } } catch { errors.update { $0.append(error) } }
                }), extent: .databaseLifetime)
        try await onThread { start { try! writer.close() }.pass() }
        #expect((errors.value.first as? DatabaseError)?.reason == .closed)
        box.update { $0 = nil }
        _ = folder
    }

    @Test("Objects that an unclosed connection releases can interrupt the database")
    func farewellOfAbandoned() async throws {
        let pool = try PoolFixture().pool
        let isSaid = Gate()
        try await pool.writeWithoutTransaction { db in
            let farewell = Farewell { [weak pool] in
                pool?.interrupt()
                isSaid.open()
            }
            db.add(function: DatabaseFunction("one", argumentCount: 0) { _ in withExtendedLifetime(farewell) { 1 } })
        }
        try await onThread { start { pool.writer.retire() }.pass() }
        try await onThread { isSaid.pass() }
    }
}

@Suite("Opening a queue or a pool")
struct OpeningAccessTests {
    @Test("leaves a write-ahead log and its index, for programs that can't make them", arguments: [true, false])
    func logs(isNew: Bool) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        if !isNew {
            try DatabaseQueue(path: path, configuration: .encrypted()).write {
                try $0.execute(sql: "CREATE TABLE t(a)")
            }
        }
        let pool = try DatabasePool(path: path, configuration: .encrypted())
        for ending in ["-wal", "-shm"] { #expect(FileManager.default.fileExists(atPath: path + ending)) }
        try pool.close()
    }
}
