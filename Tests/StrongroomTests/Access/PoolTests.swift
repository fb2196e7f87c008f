import Dispatch
import Foundation
import Strongroom
import TestSupport
import Testing

/// Of the current queue, for nil. Dispatch's Swift interface has no name for it.
@_silgen_name("dispatch_queue_get_label")
private func labelOfQueue(_ queue: UnsafeRawPointer?) -> UnsafePointer<CChar>

@Suite("A pool", .timeLimit(.minutes(2)))
struct PoolTests {
    @Test("A pool reads while it writes")
    func readsDuringWrites() throws {
        let fixture = try PoolFixture()
        let pool = fixture.pool
        try pool.write { db in
            try db.insertWine()
            let count = Shared(-1)
            start { count.update { $0 = try! pool.read { try $0.countWines() } } }.pass()
            #expect(count.value == 0)
        }
    }

    @Test("A pool reads on several connections simultaneously, and never on more than the configuration allows")
    func maximumReaderCount() throws {
        var configuration = Configuration.encrypted()
        configuration.maximumReaderCount = 3
        let fixture = try PoolFixture(configuration)
        let connections = Shared(Set<ObjectIdentifier>())
        let inside = DispatchSemaphore(value: 0)
        let mayLeave = Gate()
        let readers = (0..<3).map { _ in
            start {
                try! fixture.pool.read { db in
                    connections.update { _ = $0.insert(ObjectIdentifier(db)) }
                    inside.signal()
                    mayLeave.pass()
                }
            }
        }
        for _ in 0..<3 { #expect(inside.wait(timeout: .now() + 20) == .success) }
        #expect(connections.value.count == 3)
        let fourthIsIn = Gate()
        let fourth = start { try! fixture.pool.read { _ in fourthIsIn.open() } }
        #expect(!fourthIsIn.opens(within: 0.2))
        mayLeave.open()
        fourth.pass()
        for reader in readers { reader.pass() }
    }

    @Test("A pool keeps its file in WAL mode")
    func walMode() throws {
        let fixture = try PoolFixture()
        #expect(try fixture.pool.unsafeReentrantWrite { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        #expect(throws: DatabaseError.self) { try DatabasePool(path: ":memory:") }
        var configuration = Configuration.encrypted()
        configuration.journalMode = .wal
        let queue = try QueueFixture(configuration).queue
        #expect(try queue.unsafeRead { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "wal")
        let plain = try QueueFixture().queue
        #expect(try plain.unsafeRead { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "delete")
    }

    @Test("A pool names its connections after its label and their roles, and the dispatch queues likewise")
    func labels() throws {
        func currentQueue() -> String { String(cString: labelOfQueue(nil)) }
        var configuration = Configuration.encrypted()
        configuration.label = "cellar"
        let fixture = try PoolFixture(configuration)
        try fixture.pool.write { db in
            #expect(db.description == "cellar.writer")
            #expect(currentQueue() == "cellar.writer")
        }
        try fixture.pool.read { db in
            #expect(db.description == "cellar.reader.1")
            #expect(currentQueue() == "cellar.reader.1")
        }
        try fixture.pool.makeSnapshot().read { #expect($0.description == "cellar.snapshot.1") }
        try QueueFixture(configuration).queue.read { #expect($0.description == "cellar") }
        try PoolFixture().pool.write { #expect($0.description == "Strongroom.DatabasePool.writer") }
        try PoolFixture().pool.read { #expect($0.description == "Strongroom.DatabasePool.reader.1") }
        try QueueFixture().queue.read { #expect($0.description == "Strongroom.DatabaseQueue") }
    }

    @Test("A pool runs its connections on the target queues of the configuration")
    func targetQueues() throws {
        let key = DispatchSpecificKey<String>()
        let all = DispatchQueue(label: "all"), writes = DispatchQueue(label: "writes")
        all.setSpecific(key: key, value: "all")
        writes.setSpecific(key: key, value: "writes")
        var configuration = Configuration.encrypted()
        configuration.targetQueue = all
        let pool = try PoolFixture(configuration).pool
        try pool.write { _ in #expect(DispatchQueue.getSpecific(key: key) == "all") }
        try pool.read { _ in #expect(DispatchQueue.getSpecific(key: key) == "all") }
        configuration.writeTargetQueue = writes
        let other = try PoolFixture(configuration).pool
        try other.write { _ in #expect(DispatchQueue.getSpecific(key: key) == "writes") }
        try other.read { _ in #expect(DispatchQueue.getSpecific(key: key) == "all") }
    }

    @Test("A pool opens read-only, and then refuses to write")
    func readOnlyPool() throws {
        let fixture = try PoolFixture()
        try fixture.pool.write { try $0.insertWine() }
        var configuration = Configuration.encrypted()
        configuration.readonly = true
        let pool = try DatabasePool(path: fixture.path, configuration: configuration)
        #expect(pool.configuration.readonly)
        #expect(try pool.read { try $0.countWines() } == 1)
        let error = #expect(throws: DatabaseError.self) { try pool.write { try $0.insertWine() } }
        #expect(error?.resultCode == .SQLITE_READONLY)
        #expect(throws: DatabaseError.self) {
            try DatabasePool(path: fixture.folder.path("absent.sqlite"), configuration: configuration)
        }
    }

    @Test("A pool's set-up function can distinguish connections that only read")
    func readerConfiguration() throws {
        let roles = Shared<[String: Bool]>([:])
        var configuration = Configuration.encrypted()
        configuration.prepareDatabase { db in
            let (name, isReadOnly) = (db.description, db.configuration.readonly)
            roles.update { $0[name] = isReadOnly }
        }
        let fixture = try PoolFixture(configuration)
        try fixture.pool.read { _ in }
        #expect(roles.value == ["Strongroom.DatabasePool.writer": false, "Strongroom.DatabasePool.reader.1": true])
    }

    @Test("A pool needs a reader")
    func zeroReaders() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            var configuration = Configuration()
            configuration.maximumReaderCount = 0
            _ = try DatabasePool(path: TemporaryFolder().path("db.sqlite"), configuration: configuration)
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("maximumReaderCount"))
    }

    @Test("writeInTransaction commits or rolls back as its function answers")
    func writeInTransaction() throws {
        let fixture = try PoolFixture()
        try fixture.pool.writeInTransaction { db in
            try db.insertWine()
            return .rollback
        }
        #expect(try fixture.pool.read { try $0.countWines() } == 0)
        try fixture.pool.writeInTransaction(.exclusive) { db in
            try db.insertWine()
            return .commit
        }
        #expect(try fixture.pool.read { try $0.countWines() } == 1)
        struct Refusal: Error {}
        #expect(throws: Refusal.self) {
            try fixture.pool.writeInTransaction { db in
                try db.insertWine()
                throw Refusal()
            }
        }
        #expect(try fixture.pool.read { try $0.countWines() } == 1)
    }

    @Test("A reader that can't be opened is an error of that read, and the next one tries again")
    func readerThatFailsToOpen() throws {
        struct Refusal: Error {}
        let refuses = Shared(false)
        var configuration = Configuration.encrypted()
        configuration.maximumReaderCount = 1
        configuration.prepareDatabase { _ in if refuses.value { throw Refusal() } }
        let fixture = try PoolFixture(configuration)
        refuses.update { $0 = true }
        #expect(throws: Refusal.self) { try fixture.pool.read { _ in } }
        refuses.update { $0 = false }
        #expect(try fixture.pool.read { try $0.countWines() } == 0)
    }
    // MARK: - Concurrent reads
}
