import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("The life of a pool's connections", .timeLimit(.minutes(2)))
struct PoolLifeTests {
    @Test("a read sees the state of the moment at which its block begins", arguments: ["read", "await", "asyncRead"])
    func stateOfTheBeginning(_ spelling: String) async throws {
        let pool = try PoolFixture().pool
        let block: @Sendable (Database) throws -> Int = { db in
            start { try! pool.write { try $0.insertWine() } }.pass()
            return try db.countWines()
        }
        let count =
            switch spelling {
            case "read": try await onThread { try pool.read(block) }
            case "await": try await pool.read(block)
            default:
                await withCheckedContinuation { continuation in
                    pool.asyncRead { db in continuation.resume(returning: try! block(db.get())) }
                }
            }
        #expect(count == 0)
        #expect(try await pool.unsafeRead(block) == 2)
    }

    @Test("the thread of an asynchronous read goes on with the reads that wait, and has released their blocks")
    func readsThatFollow() async throws {
        var configuration = Configuration.encrypted()
        configuration.maximumReaderCount = 1
        let pool = try PoolFixture(configuration).pool
        let threads = Shared<Set<String>>([]), released = Shared(0), mayEnd = Gate(), isDone = Gate()
        func read(_ body: @escaping @Sendable () -> Void) {
            let farewell = Farewell { released.update { $0 += 1 } }
            pool.asyncRead { _ in
                withExtendedLifetime(farewell) { _ = threads.update { $0.insert("\(pthread_self())") } }
                body()
            }
        }
        read { mayEnd.pass() }
        for _ in 1...20 { read {} }
        read {
            #expect(released.value == 21)
            isDone.open()
        }
        mayEnd.open()
        try await onThread { isDone.pass() }
        #expect(threads.value.count == 1)
    }

    @Test("a read has its usual trace")
    func traceOfRead() throws {
        let log = Shared<[String]>([])
        var configuration = Configuration.encrypted()
        configuration.prepareDatabase { db in db.trace { event in log.update { $0.append("\(event)") } } }
        let pool = try PoolFixture(configuration).pool
        for _ in 0..<2 {
            _ = try pool.read { _ in log.update { $0 = [] } }
            _ = try pool.read { try $0.countWines() }
        }
        #expect(
            log.value.suffix(3) == [
                "BEGIN DEFERRED TRANSACTION", "SELECT COUNT(*) FROM wine", "COMMIT TRANSACTION",
            ])
        #expect(!log.value.contains { $0.contains("data_version") })
    }

    @Test("an asynchronous read that fails has given its reader back", arguments: ["opening", "beginning"])
    func failingRead(_ moment: String) async throws {
        struct Refusal: Error {}
        let refuses = Shared(false)
        var configuration = Configuration.encrypted()
        configuration.maximumReaderCount = 1
        configuration.prepareDatabase { db in
            guard refuses.value else { return }
            if moment == "opening" { throw Refusal() }
            try db.beginTransaction(.deferred)
        }
        configuration.allowsUnsafeTransactions = moment == "beginning"
        let pool = try PoolFixture(configuration).pool
        refuses.update { $0 = true }
        let count = await withCheckedContinuation { continuation in
            pool.asyncRead { db in
                guard case .failure = db else { return continuation.resume(returning: -1) }
                refuses.update { $0 = false }
                pool.invalidateReadOnlyConnections()
                // The only reader is free.
                continuation.resume(returning: try! pool.read { try $0.countWines() })
            }
        }
        #expect(count == 0)
    }

    @Test("objects that a reader releases with its memory can read", arguments: [false, true])
    func farewellOfReader(_ invalidates: Bool) async throws {
        let pool = try PoolFixture().pool
        let counts = Shared<[Int]>([])
        try await onThread {
            try pool.unsafeRead { db in
                let farewell = Farewell {
                    let count = try! pool.read { try $0.countWines() }
                    counts.update { $0.append(count) }
                }
                db.add(
                    function: DatabaseFunction("one", argumentCount: 0) { _ in withExtendedLifetime(farewell) { 1 } })
            }
        }
        let isReleased = start { invalidates ? pool.invalidateReadOnlyConnections() : pool.releaseMemory() }
        try await onThread { isReleased.pass() }
        #expect(counts.value == [0])
        try pool.close()
    }

    @Test("a function that is added again and again is set up once")
    func setups() throws {
        let pool = try PoolFixture().pool
        for number in 0..<100 {
            pool.add(function: DatabaseFunction("latest", argumentCount: 0) { _ in number })
            pool.add(function: DatabaseFunction("LATEST", argumentCount: 1) { _ in -number })
            pool.add(collation: DatabaseCollation("same") { $0.compare($1) })
            if number == 50 { _ = try pool.read { try Int.fetchOne($0, sql: "SELECT latest()") } }
        }
        #expect(pool.readers.setupCount == 3)
        #expect(try pool.read { try String.fetchOne($0, sql: "SELECT latest() || Latest(0)") } == "99-99")
        pool.remove(function: DatabaseFunction("latest", argumentCount: 0) { _ in nil })
        #expect(throws: DatabaseError.self) { try pool.read { try Int.fetchOne($0, sql: "SELECT latest()") } }
        #expect(throws: DatabaseError.self) {
            try pool.makeSnapshot().read { try Int.fetchOne($0, sql: "SELECT latest()") }
        }
        #expect(pool.readers.setupCount == 3)
    }

    @Test(
        "a read-only opening that misses them, and can't create them, names the remedy", arguments: WriterKind.allCases)
    func missingLog(_ kind: WriterKind) async throws {
        let folder = try TemporaryFolder()
        try DatabasePool(path: folder.path("db.sqlite"), configuration: .encrypted()).close()
        await #expect(processExitsWith: .success) {
            [path = folder.path as String, isQueue = (kind == .queue) as Bool] in
            // The user "nobody", who can read the file and not write to its folder.
            chmod(path, 0o755)
            chmod(path + "/db.sqlite", 0o644)
            guard geteuid() != 0 || seteuid(65534) == 0 else { exit(2) }
            if geteuid() != 65534 { chmod(path, 0o555) }
            var configuration = Configuration.encrypted()
            configuration.readonly = true
            do {
                if isQueue {
                    _ = try DatabaseQueue(path: path + "/db.sqlite", configuration: configuration)
                } else {
                    _ = try DatabasePool(path: path + "/db.sqlite", configuration: configuration)
                }
                exit(3)
            } catch let error as DatabaseError {
                guard error.reason == .missingLog, "\(error)".contains("Configuration.persistentWAL") else {
                    fatalError("\(error)")
                }
            }
        }
    }
}
