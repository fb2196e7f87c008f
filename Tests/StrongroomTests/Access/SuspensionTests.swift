import Foundation
import Strongroom
import Testing

/// The error of a suspended database, whichever of its three forms.
private func expectSuspension(_ error: (any Error)?, sourceLocation: SourceLocation = #_sourceLocation) {
    let error = error as? DatabaseError
    #expect(error?.isInterruptionError == true, sourceLocation: sourceLocation)
    #expect([.SQLITE_INTERRUPT, .SQLITE_ABORT].contains(error?.resultCode), sourceLocation: sourceLocation)
    let messages = ["Database is suspended", "Transaction was aborted", "interrupted"]
    #expect(messages.contains(error?.message ?? ""), sourceLocation: sourceLocation)
}

@Suite("Suspension", .timeLimit(.minutes(2)))
struct SuspensionTests {
    static func wal() -> Configuration {
        var configuration = Configuration.encrypted()
        configuration.journalMode = .wal
        return configuration
    }

    @Test("refuses new writes, does not stop reads in WAL mode, and ends", arguments: WriterKind.allCases)
    func refusals(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make(Self.wal())
        try await writer.write { try $0.insertWine() }
        writer.suspend()
        expectSuspension(await #expect(throws: (any Error).self) { try await writer.write { try $0.insertWine() } })
        try await onThread {
            expectSuspension(#expect(throws: (any Error).self) { try writer.write { try $0.insertWine() } })
            expectSuspension(
                #expect(throws: (any Error).self) { try writer.writeWithoutTransaction { try $0.insertWine() } })
            expectSuspension(
                #expect(throws: (any Error).self) {
                    try writer.writeWithoutTransaction { db in
                        try db.inTransaction(.deferred) {
                            try db.insertWine()
                            return .commit
                        }
                    }
                })
            expectSuspension(
                #expect(throws: (any Error).self) {
                    try writer.writeWithoutTransaction { try $0.execute(sql: "CREATE TABLE t (a)") }
                })
            #expect(try writer.read { try $0.countWines() } == 1)
            let count = try writer.writeWithoutTransaction { try $0.countWines() }
            #expect(count == 1)
        }
        #expect(try await writer.read { try $0.countWines() } == 1)
        writer.resume()
        try await writer.write { try $0.insertWine() }
        #expect(try await writer.read { try $0.countWines() } == 2)
        _ = folder
    }

    @Test("also refuses reads that would take a lock: those without a write-ahead log")
    func readsWithoutWAL() throws {
        let fixture = try QueueFixture()
        fixture.queue.suspend()
        expectSuspension(#expect(throws: (any Error).self) { try fixture.queue.read { try $0.countWines() } })
        fixture.queue.resume()
        #expect(try fixture.queue.read { try $0.countWines() } == 0)
    }

    @Test("interrupts a running write, rolls it back, and leaves no lock within 100 ms", arguments: WriterKind.allCases)
    func runningWrite(kind: WriterKind) throws {
        let (writer, folder) = try kind.make()
        let isInTime = try Self.onceInTime { try suspendWrite(writer, folder.path("db.sqlite"), kind) }
        #expect(isInTime)
    }

    private func suspendWrite(_ writer: any DatabaseWriter, _ path: String, _ kind: WriterKind) throws -> Bool {
        let write = EndlessWrite(writer)
        #expect(try !Locks.exclusive(on: path).isEmpty)
        let isInTime = try suspend(writer, path)
        expectSuspension(write.end())
        if kind == .queue { #expect(try Locks.all(on: path) == []) }
        writer.resume()
        #expect(try writer.read { try $0.countWines() } == 0)
        return isInTime
    }

    /// Answers whether the locks were gone within 100 ms. They go in any case.
    private func suspend(_ writer: any DatabaseWriter, _ path: String) throws -> Bool {
        let start = Date()
        writer.suspend()
        while try !Locks.exclusive(on: path).isEmpty {
            try #require(-start.timeIntervalSinceNow < 20, "the lock stays")
        }
        return -start.timeIntervalSinceNow < 0.1
    }

    /// A machine that has much else to do may leave a thread without a processor for longer than that: once in many
    /// times must do.
    private static func onceInTime(_ isInTime: () throws -> Bool) rethrows -> Bool {
        for _ in 1...20 where try isInTime() { return true }
        return false
    }

    @Test("that arrives between two statements is not lost", arguments: WriterKind.allCases)
    func betweenStatements(kind: WriterKind) throws {
        let (writer, folder) = try kind.make()
        let error = Shared<[(any Error)?]>([])
        #expect(throws: (any Error).self) {
            try writer.write { db in
                try db.insertWine()
                start { writer.suspend() }.pass()
                do { try db.insertWine() } catch let failure { error.update { $0.append(failure) } }
                #expect(try Locks.exclusive(on: folder.path("db.sqlite")) == [])
                do { try db.insertWine() } catch let failure { error.update { $0.append(failure) } }
                do { _ = try db.countWines() } catch let failure { error.update { $0.append(failure) } }
            }
        }
        #expect(error.value.count == 3)
        for error in error.value { expectSuspension(error) }
        #expect(
            error.value.map { ($0 as? DatabaseError)?.message } == [
                "Database is suspended", "Transaction was aborted", "Transaction was aborted",
            ])
        writer.resume()
        #expect(try writer.read { try $0.countWines() } == 0)
    }

    @Test("lets COMMIT, ROLLBACK and the end of savepoints pass")
    func transactionEnds() throws {
        let fixture = try PoolFixture()
        let pool = fixture.pool
        try pool.writeWithoutTransaction { db in
            try db.inTransaction {
                try db.insertWine()
                pool.suspend()
                return .commit
            }
            pool.resume()
            try db.inTransaction {
                try db.insertWine()
                pool.suspend()
                return .rollback
            }
            pool.resume()
            try db.execute(sql: "SAVEPOINT tasting")
            try db.insertWine()
            pool.suspend()
            try db.execute(sql: "ROLLBACK TO tasting")
            try db.execute(sql: "RELEASE tasting")
            pool.resume()
        }
        #expect(try pool.read { try $0.countWines() } == 1)
    }

    @Test("also refuses functions that take locks")
    func otherLocks() throws {
        let source = try PoolFixture(), fixture = try PoolFixture()
        fixture.pool.suspend()
        expectSuspension(
            #expect(throws: (any Error).self) { try fixture.pool.writeWithoutTransaction { _ = try $0.checkpoint() } })
        expectSuspension(#expect(throws: (any Error).self) { try source.pool.backup(to: fixture.pool) })
        expectSuspension(
            #expect(throws: (any Error).self) { try fixture.pool.rotateKey(to: .passphrase("battery staple")) })
        expectSuspension(#expect(throws: (any Error).self) { try fixture.pool.vacuum() })
        expectSuspension(#expect(throws: (any Error).self) { try fixture.pool.erase() })
        fixture.pool.resume()
        try source.pool.backup(to: fixture.pool)
    }

    @Test("does not interrupt a pool's readers", arguments: [WriterKind.pool, .anyWriter])
    func runningRead(kind: WriterKind) throws {
        let (writer, folder) = try kind.make(Self.wal())
        try writer.read { db in
            let cursor = try Int.fetchCursor(
                db,
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i FROM n
                    """)
            #expect(try cursor.next() == 1)
            start { writer.suspend() }.pass()
            var last = 0
            while let number = try cursor.next() { last = number }
            #expect(last == 100_000)
            #expect(try db.countWines() == 0)
        }
        writer.resume()
        _ = folder
    }

    @Test("rolls back a transaction that an access has left open")
    func unsafeTransaction() throws {
        var configuration = Configuration.encrypted()
        configuration.allowsUnsafeTransactions = true
        let fixture = try PoolFixture(configuration)
        let pool = fixture.pool
        let isInTime = try Self.onceInTime {
            try pool.writeWithoutTransaction { db in
                try db.beginTransaction()
                try db.insertWine()
            }
            #expect(try !Locks.exclusive(on: fixture.path).isEmpty)
            let isInTime = try suspend(pool, fixture.path)
            pool.resume()
            #expect(try pool.read { try $0.countWines() } == 0)
            // The access knows.
            try pool.writeWithoutTransaction { try $0.rollback() }
            return isInTime
        }
        #expect(isInTime)
    }

    @Test("ends the wait for another writer's lock")
    func busyWait() throws {
        var configuration = Configuration.encrypted()
        configuration.busyMode = .timeout(60)
        let fixture = try PoolFixture(configuration)
        let other = try DatabasePool(path: fixture.path, configuration: .encrypted())
        let error = Shared<(any Error)?>(nil)
        try other.write { db in
            try db.insertWine()
            let wait = LockWait()
            let waiting = start {
                do { try fixture.pool.write { try $0.insertWine() } } catch let failure {
                    error.update { $0 = failure }
                }
            }
            wait.pass()
            fixture.pool.suspend()
            waiting.pass()
        }
        expectSuspension(error.value)
    }

    @Test("ends the wait for another writer's lock, although the program's own function would wait on")
    func busyCallback() throws {
        let isWaiting = Gate()
        var configuration = Configuration.encrypted()
        configuration.busyMode = .callback { _ in
            isWaiting.open()
            return true
        }
        let fixture = try PoolFixture(configuration)
        let other = try DatabasePool(path: fixture.path, configuration: .encrypted())
        let error = Shared<(any Error)?>(nil)
        try other.write { db in
            try db.insertWine()
            let waiting = start {
                do { try fixture.pool.write { try $0.insertWine() } } catch let failure {
                    error.update { $0 = failure }
                }
            }
            isWaiting.pass()
            fixture.pool.suspend()
            waiting.pass()
        }
        expectSuspension(error.value)
    }

    /// A pool that is suspended by its own wait for a lock, once it is the value of `pool`.
    private func makePoolThatWaitsSuspended() throws -> (fixture: PoolFixture, pool: Shared<DatabasePool?>) {
        let pool = Shared<DatabasePool?>(nil)
        var configuration = Configuration.encrypted()
        configuration.busyMode = .callback { _ in
            pool.value?.suspend()
            return true
        }
        return (try PoolFixture(configuration), pool)
    }

    @Test("ends a wait for a lock as an interruption, even when it is over before the wait is")
    func suspensionEndsBeforeTheWait() throws {
        let (fixture, pool) = try makePoolThatWaitsSuspended()
        // Called when a run has failed, before the library reacts to the failure.
        fixture.pool.writeWithoutTransaction { db in
            db.trace(options: .profile) { _ in pool.value?.resume() }
        }
        pool.update { $0 = fixture.pool }
        let other = try DatabasePool(path: fixture.path, configuration: .encrypted())
        var error: (any Error)?
        try other.write { db in
            try db.insertWine()
            do { try fixture.pool.write { try $0.insertWine() } } catch let failure { error = failure }
        }
        expectSuspension(error)
        try fixture.pool.write { try $0.insertWine() }
        #expect(try fixture.pool.read { try $0.countWines() } == 2)
    }

    @Test("ends a checkpoint's wait for a reader as an interruption")
    func checkpoint() throws {
        let (fixture, pool) = try makePoolThatWaitsSuspended()
        pool.update { $0 = fixture.pool }
        let other = try DatabasePool(path: fixture.path, configuration: .encrypted())
        var error: (any Error)?
        try other.read { db in
            _ = try db.countWines()
            try fixture.pool.write { try $0.insertWine() }
            do { try fixture.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } } catch let failure {
                error = failure
            }
        }
        expectSuspension(error)
        fixture.pool.resume()
        try fixture.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
    }

    // A notification stops all work of the process on files: these two tests run in processes of their own.

    @Test("follows the notifications, if the configuration wants it", arguments: [true, false])
    func notifications(observes: Bool) async {
        await #expect(processExitsWith: .success) { [observes] in
            var configuration = Self.wal()
            configuration.observesSuspensionNotifications = observes
            let pool = try PoolFixture(configuration).pool, queue = try QueueFixture(configuration).queue
            let writers: [any DatabaseWriter] = [pool, queue]
            NotificationCenter.default.post(name: Database.suspendNotification, object: nil)
            for writer in writers {
                if observes {
                    expectSuspension(#expect(throws: (any Error).self) { try writer.write { try $0.insertWine() } })
                } else {
                    try writer.write { try $0.insertWine() }
                }
            }
            NotificationCenter.default.post(name: Database.resumeNotification, object: nil)
            for writer in writers { try writer.write { try $0.insertWine() } }
        }
    }

    @Test("does not keep a database alive, and ignores released ones")
    func lifetime() async {
        await #expect(processExitsWith: .success) {
            var configuration = Configuration.encrypted()
            configuration.observesSuspensionNotifications = true
            weak var pool: DatabasePool?
            do {
                let fixture = try PoolFixture(configuration)
                pool = fixture.pool
            }
            #expect(pool == nil)
            NotificationCenter.default.post(name: Database.suspendNotification, object: nil)
            NotificationCenter.default.post(name: Database.resumeNotification, object: nil)
        }
    }

    @Test(
        "an interruption that comes after closing has no effect: the rows stay, and the database opens again",
        arguments: WriterKind.allCases)
    func lateInterruption(kind: WriterKind) throws {
        let (writer, folder) = try kind.make()
        let stops = Shared(false), calls = Shared(0), hasCalled = Gate()
        let interrupter = start {
            while !stops.value {
                writer.interrupt()
                writer.suspend()
                writer.resume()
                calls.update { $0 += 1 }
                hasCalled.open()
            }
        }
        hasCalled.pass()
        let isWritten = (try? writer.write { try $0.insertWine() }) != nil
        // A statement of the closing itself may be interrupted: that is an error like others.
        while (try? writer.close()) == nil {}
        let before = calls.value
        // At least one whole turn meets the closed connection.
        while calls.value < before + 2 { hasCalled.pass() }
        stops.update { $0 = true }
        interrupter.pass()
        writer.interrupt()
        let closed = #expect(throws: DatabaseError.self) { try writer.read { try $0.countWines() } }
        #expect(closed?.reason == .closed)
        let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: .encrypted())
        #expect(try queue.read { try $0.countWines() } == (isWritten ? 1 : 0))
    }
}
