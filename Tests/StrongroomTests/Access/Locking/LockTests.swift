import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A lock", .timeLimit(.minutes(2)))
struct LockTests {
    @Test("closes the files, and an unlocking opens them again with all rows", arguments: LockableKind.allCases)
    func roundTrip(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        try await writer.write { try $0.insertWine() }
        #expect(try await writer.read { try $0.countWines() } == 1)
        for count in 1...3 {
            try await writer.lock()
            #expect(writer.isLocked)
            #expect(try openDescriptors(of: fixture.path) == 0)
            try await writer.unlock(with: LockFixture.key)
            #expect(!writer.isLocked)
            #expect(try await writer.read { try $0.countWines() } == count)
            try await writer.write { try $0.insertWine() }
        }
    }

    @Test("and an unlocking block a thread that does not await them", arguments: LockableKind.allCases)
    func synchronous(kind: LockableKind) throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        try writer.lock()
        #expect(writer.isLocked)
        expectLocked { _ = try writer.read { try $0.countWines() } }
        try writer.unlock(with: LockFixture.key)
        #expect(try writer.read { try $0.countWines() } == 0)
    }

    @Test("interrupts a running write, rolls it back, and keeps no lock", arguments: LockableKind.allCases)
    func runningWrite(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        let write = Shared<EndlessWrite?>(nil)
        try await onThread { write.update { $0 = EndlessWrite(writer) } }
        try await writer.lock()
        try await onThread { #expect((write.value?.end() as? DatabaseError)?.reason == .interrupted) }
        #expect(try fixture.shell().run("SELECT count(*) FROM wine;") == ["0"])
        try await writer.unlock(with: LockFixture.key)
        #expect(try await writer.read { try $0.countWines() } == 0)
    }

    @Test("refuses the next statement of a running access", arguments: LockableKind.allCases)
    func betweenStatements(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        let isInside = Gate(), lockHasBegun = Gate()
        let write = start {
            expectLocked {
                try writer.write { db in
                    try db.insertWine()
                    isInside.open()
                    lockHasBegun.pass()
                    try awaitRefusal {
                        // The lock may come during a statement: the next one is refused.
                        do { _ = try db.countWines() } catch let error as DatabaseError
                            where error.reason == .interrupted
                        {}
                    }
                }
            }
        }
        try await onThread { isInside.pass() }
        let lock = start { #expect(throws: Never.self) { try writer.lock() } }
        lockHasBegun.open()
        try await onThread {
            write.pass()
            lock.pass()
        }
        try await writer.unlock(with: LockFixture.key)
        #expect(try await writer.read { try $0.countWines() } == 0)
    }

    @Test("ends a running read of a pool, which a suspension would let go on")
    func runningRead() async throws {
        let fixture = try LockFixture(.pool), writer = fixture.writer
        let isReading = Gate()
        let read = start {
            let error = #expect(throws: DatabaseError.self) {
                try writer.read { db in
                    isReading.open()
                    try db.runForever()
                }
            }
            // The lock may come before the statement, or interrupt it.
            #expect(error?.reason == .interrupted || error?.reason == .locked)
        }
        try await onThread { isReading.pass() }
        try await writer.lock()
        try await onThread { read.pass() }
        #expect(try openDescriptors(of: fixture.path) == 0)
    }

    @Test("lets a commit that has begun finish: nothing that returned is lost", arguments: LockableKind.allCases)
    func commits(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        let committed = Shared(0), mayStop = Shared(false)
        let writes = start {
            while !mayStop.value {
                do {
                    try writer.write { try $0.insertWine() }
                    committed.update { $0 += 1 }
                } catch {}
            }
        }
        for _ in 0..<20 {
            let before = committed.value
            #expect(try await eventually { committed.value > before })
            try await writer.lock()
            try await writer.unlock(with: LockFixture.key)
        }
        mayStop.update { $0 = true }
        try await onThread { writes.pass() }
        #expect(try await writer.read { try $0.countWines() } == committed.value)
    }

    @Test("is left by no wrong key, and by the right one after it", arguments: LockableKind.allCases)
    func wrongKey(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        try await writer.lock()
        let wrong = try DatabaseKey.random()
        for _ in 0..<2 {
            let error = await #expect(throws: DatabaseError.self) { try await writer.unlock(with: wrong) }
            #expect(error?.reason == .wrongKey)
            #expect(writer.isLocked)
            await expectLockedOut { _ = try await writer.read { try $0.countWines() } }
            #expect(try openDescriptors(of: fixture.path) == 0)
        }
        try await writer.unlock(with: LockFixture.key)
        #expect(try await writer.read { try $0.countWines() } == 0)
    }

    @Test("is left by no key at all if the database has no page yet, except by its own")
    func emptyDatabase() async throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let queue = try DatabaseQueue(path: path, configuration: LockFixture.configuration())
        try await queue.lock()
        let wrong = try DatabaseKey.random()
        let error = await #expect(throws: DatabaseError.self) { try await queue.unlock(with: wrong) }
        #expect(error?.reason == .wrongKey)
        try await queue.unlock(with: LockFixture.key)
        try await queue.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        try queue.close()
        #expect(try StockShell(path: path, rawKey: LockFixture.rawKey).lines("SELECT count(*) FROM t;") == ["0"])
    }

    @Test("does not create a database in the place of one that was removed", arguments: LockableKind.allCases)
    func removedFile(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind)
        try await fixture.writer.lock()
        try FileManager.default.removeItem(atPath: fixture.path)
        let error = await #expect(throws: DatabaseError.self) {
            try await fixture.writer.unlock(with: LockFixture.key)
        }
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
        #expect(!FileManager.default.fileExists(atPath: fixture.path))
        #expect(fixture.writer.isLocked)
    }

    @Test("keeps functions that were added, and the set-up of the configuration", arguments: LockableKind.allCases)
    func setUps(kind: LockableKind) async throws {
        var configuration = LockFixture.configuration()
        configuration.prepareDatabase { $0.add(function: DatabaseFunction("prepared", argumentCount: 0) { _ in 1 }) }
        let fixture = try LockFixture(kind, configuration), writer = fixture.writer
        writer.add(function: DatabaseFunction("added", argumentCount: 0) { _ in 2 })
        try await writer.lock()
        writer.add(function: DatabaseFunction("late", argumentCount: 0) { _ in 4 })
        try await writer.unlock(with: LockFixture.key)
        let sql = "SELECT prepared() + added() + late()"
        #expect(try await writer.read { try Int.fetchOne($0, sql: sql) } == 7)
        #expect(try await writer.write { try Int.fetchOne($0, sql: sql) } == 7)
    }

    @Test("makes a transaction that was left open known to the next access as aborted")
    func openTransaction() async throws {
        var configuration = LockFixture.configuration()
        configuration.allowsUnsafeTransactions = true
        let fixture = try LockFixture(.queue, configuration), writer = fixture.writer
        try await writer.writeWithoutTransaction { db in
            try db.beginTransaction()
            try db.insertWine()
        }
        try await writer.lock()
        try await writer.unlock(with: LockFixture.key)
        let error = await #expect(throws: DatabaseError.self) {
            try await writer.writeWithoutTransaction { try $0.insertWine() }
        }
        #expect(error?.reason == .transactionAborted)
        #expect(try await writer.read { try $0.countWines() } == 0)
    }

    @Test("ends snapshots")
    func snapshots() async throws {
        let fixture = try LockFixture(.pool), pool = try #require(fixture.pool)
        let snapshot = try pool.makeSnapshot()
        #expect(try await snapshot.read { try $0.countWines() } == 0)
        try await pool.lock()
        #expect(try openDescriptors(of: fixture.path) == 0)
        await expectLockedOut { _ = try await snapshot.read { try $0.countWines() } }
        expectLocked { _ = try pool.makeSnapshot() }
        try await pool.unlock(with: LockFixture.key)
        let error = await #expect(throws: DatabaseError.self) { _ = try await snapshot.read { try $0.countWines() } }
        #expect(error?.reason == .closed)
        #expect(error?.recoverySuggestion == "make another snapshot")
        let other = try pool.makeSnapshot()
        #expect(try await other.read { try $0.countWines() } == 0)
    }

    @Test("stops a migration in progress, which goes on after the unlocking", arguments: LockableKind.allCases)
    func migration(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        let isMigrating = Gate(), isFirst = Shared(true)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("one") { try $0.execute(sql: "CREATE TABLE one (a)") }
        migrator.registerMigration("two") { db in
            try db.execute(sql: "CREATE TABLE two (a)")
            isMigrating.open()
            if isFirst.update({
                let first = $0
                $0 = false
                return first
            }) {
                try db.writeForever()
            }
        }
        let sent = migrator
        let migration = start { #expect(throws: DatabaseError.self) { try sent.migrate(writer) } }
        try await onThread { isMigrating.pass() }
        try await writer.lock()
        try await onThread { migration.pass() }
        try await writer.unlock(with: LockFixture.key)
        #expect(try await writer.read { try sent.appliedIdentifiers($0) } == ["one"])
        try sent.migrate(writer)
        #expect(try await writer.read { try sent.hasCompletedMigrations($0) })
    }

    @Test("stops a change of the key between two pages: the former key unlocks", arguments: LockableKind.allCases)
    func rotation(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer
        try await writer.write { db in for _ in 0..<2000 { try db.insertWine(String(repeating: "x", count: 300)) } }
        let isRotating = Gate(), rotation = Gate()
        Task {
            await #expect(throws: (any Error).self) {
                try await writer.rotateKey(to: .random()) { _ in
                    isRotating.open()
                    // The next look at the stops comes after this.
                    writer.awaitLock()
                }
            }
            rotation.open()
        }
        try await onThread { isRotating.pass() }
        try await writer.lock()
        try await onThread { rotation.pass() }
        try await writer.unlock(with: LockFixture.key)
        #expect(try await writer.read { try $0.countWines() } == 2000)
    }

    @Test("after a change of the key needs the new one", arguments: LockableKind.allCases)
    func rotatedKey(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer, new = try DatabaseKey.random()
        try await writer.rotateKey(to: new)
        try await writer.lock()
        let error = await #expect(throws: DatabaseError.self) { try await writer.unlock(with: LockFixture.key) }
        #expect(error?.reason == .wrongKey)
        try await writer.unlock(with: new)
        #expect(try await writer.read { try $0.countWines() } == 0)
    }

    @Test("leaves the other process alone, whose rows are there afterwards", arguments: LockableKind.allCases)
    func otherProcess(kind: LockableKind) async throws {
        let fixture = try LockFixture(kind), writer = fixture.writer, shell = try fixture.shell()
        #expect(try shell.run("SELECT count(*) FROM wine;") == ["0"])
        try await writer.lock()
        try shell.insertWine()
        try await writer.unlock(with: LockFixture.key)
        #expect(try await writer.read { try $0.countWines() } == 1)
        try await writer.write { try $0.insertWine() }
        #expect(try shell.run("SELECT count(*) FROM wine;") == ["2"])
    }

    @Test("of a shared pool keeps the log for processes that only read")
    func sharedPool() async throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var migrator = DatabaseMigrator()
        migrator.registerMigration("one") { try $0.execute(sql: "CREATE TABLE wine (id INTEGER PRIMARY KEY, name)") }
        let pool = try DatabasePool.openShared(
            path: path, configuration: LockFixture.configuration(), migrator: migrator)
        try await pool.write { try $0.insertWine() }
        try await pool.lock()
        #expect(FileManager.default.fileExists(atPath: path + "-wal"))
        let reader = try #require(
            try DatabasePool.openSharedReadOnly(
                path: path, configuration: LockFixture.configuration(), migrator: migrator))
        #expect(try await reader.read { try $0.countWines() } == 1)
        try await pool.unlock(with: LockFixture.key)
        try await pool.write { try $0.insertWine() }
        #expect(try await reader.read { try $0.countWines() } == 2)
    }
}

extension LockableWriter {
    /// Blocks until a lock has begun to stop the accesses, those of readers included.
    func awaitLock() {
        let end = Date().addingTimeInterval(60)
        while !stopsAccesses, Date() < end { Thread.sleep(forTimeInterval: 0.001) }
    }

    private var stopsAccesses: Bool {
        guard let served, served.writer.handle.handle.stops.contains(.locked) else { return false }
        // The readers are stopped after the writer.
        return served.databaseLock.readers?.state.withLock { $0.hold != nil } ?? true
    }
}

/// Repeats what is not refused yet. An error ends it.
private func awaitRefusal(_ body: () throws -> Void) throws {
    let end = Date().addingTimeInterval(60)
    while Date() < end { try body() }
}

/// The number of descriptors that this process has for the files of a database.
func openDescriptors(of path: String) throws -> Int {
    let folder = "/proc/self/fd"
    let targets = try FileManager.default.contentsOfDirectory(atPath: folder).compactMap {
        try? FileManager.default.destinationOfSymbolicLink(atPath: "\(folder)/\($0)")
    }
    let name = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    return targets.filter { [name, name + "-wal", name + "-shm", name + "-journal"].contains($0) }.count
}
