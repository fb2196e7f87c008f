import Foundation
import Strongroom
import Testing

@Suite("Queues and pools as a whole", .timeLimit(.minutes(2)))
struct AccessMaintenanceTests {
    @Test("erase leaves an empty database with the same key", arguments: WriterKind.allCases)
    func erase(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        try await writer.write { db in
            try db.insertWine()
            try db.execute(sql: "CREATE VIEW names AS SELECT name FROM wine; PRAGMA user_version = 7")
        }
        #expect(try await writer.read { try $0.countWines() } == 1)
        try await writer.erase()
        #expect(try await writer.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM sqlite_master") } == 0)
        #expect(try await writer.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == 0)
        try await writer.write { try $0.execute(sql: "CREATE TABLE cheese (name)") }
        try await onThread { try writer.erase() }
        #expect(try await writer.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM sqlite_master") } == 0)
        try await onThread { try writer.close() }
        let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: .encrypted())
        #expect(try await queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM sqlite_master") } == 0)
    }

    @Test("vacuum frees unused pages", arguments: WriterKind.allCases)
    func vacuum(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        try await writer.write { db in
            for _ in 0..<200 { try db.insertWine(String(repeating: "long ", count: 400)) }
            try db.execute(sql: "DELETE FROM wine WHERE id > 1")
        }
        let pages = try await writer.read { try Int.fetchOne($0, sql: "PRAGMA page_count")! }
        try await writer.vacuum()
        let pagesLeft = try await writer.read { try Int.fetchOne($0, sql: "PRAGMA page_count")! }
        #expect(pagesLeft < pages / 4)
        try await onThread { try writer.vacuum() }
        #expect(try await writer.read { try $0.countWines() } == 1)
        _ = folder
    }

    @Test("vacuum(into:) writes a copy that has the same key", arguments: WriterKind.allCases)
    func vacuumInto(kind: WriterKind) async throws {
        let (writer, folder) = try kind.make()
        try await writer.write { try $0.insertWine() }
        let copy = folder.path("copy.sqlite"), second = folder.path("it's a copy.sqlite")
        try await writer.vacuum(into: copy)
        try await onThread { try writer.vacuum(into: second) }
        for path in [copy, second] {
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)).prefix(6) != Data("SQLite".utf8))
            let queue = try DatabaseQueue(path: path, configuration: .encrypted())
            #expect(try await queue.read { try $0.countWines() } == 1)
        }
        await #expect(throws: DatabaseError.self) { try await writer.vacuum(into: copy) }
    }

    @Test("backup replaces the content of another writer", arguments: WriterKind.allCases)
    func backup(kind: WriterKind) throws {
        let source = try PoolFixture()
        try source.pool.write { try $0.insertWine() }
        let (destination, folder) = try kind.make()
        let steps = Shared<[Int]>([])
        try source.pool.backup(to: destination, pagesPerStep: 1) { progress in
            steps.update { $0.append(progress.remainingPageCount) }
        }
        #expect(steps.value.last == 0)
        #expect(steps.value.count > 1)
        #expect(try destination.read { try $0.countWines() } == 1)
        try destination.write { try $0.insertWine() }
        #expect(try source.pool.read { try $0.countWines() } == 1)
        _ = folder
    }

    @Test("copies in memory and temporary copies have the content, and leave the file alone")
    func copies() throws {
        let fixture = try QueueFixture()
        try fixture.queue.write { try $0.insertWine() }
        let copies = [
            try DatabaseQueue.inMemoryCopy(fromPath: fixture.queue.path, configuration: .encrypted()),
            try DatabaseQueue.temporaryCopy(fromPath: fixture.queue.path, configuration: .encrypted()),
        ]
        for copy in copies {
            #expect(try copy.read { try $0.countWines() } == 1)
            try copy.write { try $0.insertWine() }
            #expect(try copy.read { try $0.countWines() } == 2)
        }
        #expect(try fixture.queue.read { try $0.countWines() } == 1)
        #expect(throws: DatabaseError.self) {
            try DatabaseQueue.inMemoryCopy(fromPath: fixture.folder.path("absent"), configuration: .encrypted())
        }
    }

    @Test("copies for a read-only configuration refuse writes")
    func readOnlyCopies() throws {
        let fixture = try QueueFixture()
        var configuration = Configuration.encrypted()
        configuration.readonly = true
        for copy in [
            try DatabaseQueue.inMemoryCopy(fromPath: fixture.queue.path, configuration: configuration),
            try DatabaseQueue.temporaryCopy(fromPath: fixture.queue.path, configuration: configuration),
        ] {
            let error = try #require(throws: DatabaseError.self) { try copy.write { try $0.insertWine() } }
            #expect(error.resultCode == .SQLITE_READONLY)
            #expect(try copy.read { try $0.countWines() } == 0)
            #expect(try copy.write { try $0.countWines() } == 0)
        }
    }

    @Test("a backup is stopped by its progress function as long as pages are missing")
    func backupProgress() throws {
        struct Refusal: Error {}
        let source = try QueueFixture(), destination = try DatabaseQueue(configuration: .encrypted())
        try source.queue.write { try $0.insertWine() }
        #expect(throws: Refusal.self) {
            try source.queue.backup(to: destination, pagesPerStep: 1) { _ in throw Refusal() }
        }
        #expect(try destination.read { try !$0.tableExists("wine") })
        try source.queue.backup(to: destination, pagesPerStep: 1) { if $0.isCompleted { throw Refusal() } }
        #expect(try destination.read { try $0.countWines() } == 1)
    }

    @Test(
        "functions and collations reach connections that are open, and those that open later",
        arguments: ["pool", "queue"])
    func functionsAndCollations(kind: String) throws {
        let succ = DatabaseFunction("succ", argumentCount: 1) { values in
            Int.fromDatabaseValue(values[0]).map { $0 + 1 }
        }
        let backwards = DatabaseCollation("backwards") {
            $0 < $1 ? .orderedDescending : $0 > $1 ? .orderedAscending : .orderedSame
        }
        let writer: any DatabaseWriter
        let add: () -> Void, remove: () -> Void
        if kind == "pool" {
            let pool = try PoolFixture().pool
            add = {
                pool.add(function: succ)
                pool.add(collation: backwards)
            }
            remove = {
                pool.remove(function: succ)
                pool.remove(collation: backwards)
            }
            writer = pool
        } else {
            let queue = try QueueFixture().queue
            add = {
                queue.add(function: succ)
                queue.add(collation: backwards)
            }
            remove = {
                queue.remove(function: succ)
                queue.remove(collation: backwards)
            }
            writer = queue
        }
        func use(_ db: Database) throws -> [Int] {
            try Int.fetchAll(
                db,
                sql: "SELECT succ(a) FROM (SELECT 'a' AS s, 1 AS a UNION SELECT 'b', 2) ORDER BY s COLLATE backwards")
        }
        try writer.read { _ in }
        add()
        #expect(try writer.read(use) == [3, 2])
        #expect(try writer.write(use) == [3, 2])
        (writer as? DatabasePool)?.invalidateReadOnlyConnections()
        #expect(try writer.read(use) == [3, 2])
        if let snapshot = try (writer as? DatabasePool)?.makeSnapshot() { #expect(try snapshot.read(use) == [3, 2]) }
        remove()
        #expect(throws: DatabaseError.self) { try writer.read(use) }
        #expect(throws: DatabaseError.self) { try writer.write(use) }
    }

    @Test("the key of a pool can be changed under its readers")
    func rotation() async throws {
        let fixture = try PoolFixture()
        let pool = fixture.pool
        try await pool.write { try $0.insertWine() }
        #expect(try await pool.read { try $0.countWines() } == 1)
        let stops = Shared(false)
        let reader = start { while !stops.value { _ = try! pool.read { try $0.countWines() } } }
        try await pool.rotateKey(to: .passphrase("battery staple"))
        stops.update { $0 = true }
        try await onThread { reader.pass() }
        #expect(try await pool.read { try $0.countWines() } == 1)
        try await pool.write { try $0.insertWine() }
        #expect(try await pool.makeSnapshot().read { try $0.countWines() } == 2)
    }

    @Test("values behind AnyDatabaseReader are those of its base")
    func anyReader() async throws {
        let fixture = try PoolFixture()
        try await fixture.pool.write { try $0.insertWine() }
        let reader = AnyDatabaseReader(fixture.pool)
        #expect(reader.path == fixture.path)
        #expect(reader.configuration.maximumReaderCount == 5)
        #expect(try await reader.read { try $0.countWines() } == 1)
        #expect(try await reader.unsafeRead { try $0.countWines() } == 1)
        let counts = try await onThread {
            [
                try reader.read { try $0.countWines() }, try reader.unsafeRead { try $0.countWines() },
                try reader.unsafeReentrantRead { try $0.countWines() },
            ]
        }
        #expect(counts == [1, 1, 1])
        let asyncCounts = await withCheckedContinuation { continuation in
            reader.asyncRead { first in
                let count = try! first.get().countWines()
                reader.asyncUnsafeRead { continuation.resume(returning: [count, try! $0.get().countWines()]) }
            }
        }
        #expect(asyncCounts == [1, 1])
        reader.interrupt()
        try reader.close()
        await #expect(throws: DatabaseError.self) { try await fixture.pool.read { try $0.countWines() } }
    }
}
