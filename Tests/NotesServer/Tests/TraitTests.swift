import Foundation
import InMemoryTracing
import Logging
import MetricsTestKit
import ServiceLifecycle
import ServiceLifecycleTestKit
import Strongroom
import Testing
import Tracing

private func configuration(_ change: (inout Configuration) -> Void = { _ in }) throws -> Configuration {
    var configuration = Configuration()
    configuration.encryption = Encryption(key: try .rawKey([UInt8](repeating: 42, count: 32)))
    configuration.label = "notes"
    change(&configuration)
    return configuration
}

private func makePool(_ folder: NotesFolder, _ change: (inout Configuration) -> Void = { _ in }) throws -> DatabasePool
{
    let pool = try DatabasePool(path: folder.database, configuration: configuration(change))
    try pool.write { try $0.execute(sql: "CREATE TABLE note (text TEXT UNIQUE)") }
    return pool
}

/// Runs a blocking access in a test that is asynchronous.
private func blocking<T>(_ access: () throws -> T) rethrows -> T { try access() }

@Suite("The service of a database")
struct LifecycleTests {
    private let folder: NotesFolder

    init() throws { folder = try NotesFolder() }

    @Test("is shut down by its group")
    func group() async throws {
        let path = folder.database
        let service = DatabaseService { try DatabasePool(path: path, configuration: configuration()) }
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await service.run() }
                let pool = try await service.database
                try await pool.write { try $0.execute(sql: "CREATE TABLE note (text TEXT)") }
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
                #expect(pool.health == .closed)
            }
        }
    }

    @Test("is shut down when its task is cancelled")
    func cancelled() async throws {
        let path = folder.database
        let service = DatabaseService { try DatabasePool(path: path, configuration: configuration()) }
        let running = Task { try await service.run() }
        let pool = try await service.database
        running.cancel()
        try await running.value
        #expect(pool.health == .closed)
    }
}

@Suite("Metrics of a database")
struct MetricsTests {
    private let folder: NotesFolder

    init() throws { folder = try NotesFolder() }

    @Test("are its figures since the last report")
    func figures() throws {
        let backend = TestMetrics(), pool = try makePool(folder)
        let metrics = DatabaseMetrics(pool, dimensions: [("database", "notes")], factory: backend)
        for _ in 0..<3 { _ = try pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM note") } }
        metrics.report()
        let reads = try backend.expectCounter(
            "strongroom_accesses_total", [("database", "notes"), ("kind", "read")])
        #expect(reads.totalValue == 3)
        metrics.report()
        #expect(reads.totalValue == 3)
        #expect(
            try backend.expectCounter("strongroom_commits_total", [("database", "notes")]).totalValue
                == Int64(pool.statistics.commits))
        #expect(try backend.expectGauge("strongroom_log_bytes", [("database", "notes")]).lastValue ?? 0 > 0)
        #expect(
            try backend.expectGauge("strongroom_readers", [("database", "notes"), ("state", "open")]).lastValue == 1)
    }

    @Test("have the duration of each wait and each observation")
    func durations() async throws {
        let backend = TestMetrics(), pool = try makePool(folder)
        let metrics = DatabaseMetrics(pool, factory: backend)
        try await pool.barrierWriteWithoutTransaction { _ in }
        let counts = ValueObservation.tracking { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM note") ?? 0 }
        for try await count in counts.values(in: pool) {
            if count == 1 { break }
            try await pool.write { try $0.execute(sql: "INSERT INTO note VALUES ('a')") }
        }
        #expect(try backend.expectTimer("strongroom_access_wait", [("kind", "barrier")]).values.count == 1)
        #expect(try backend.expectTimer("strongroom_observation_fetch").values.count >= 2)
        #expect(try backend.expectTimer("strongroom_observation_latency").values.count >= 1)
        withExtendedLifetime(metrics) {}
    }

    @Test("are reported until the group of services stops")
    func service() async throws {
        let backend = TestMetrics(), pool = try makePool(folder)
        let metrics = DatabaseMetrics(pool, interval: 0.01, factory: backend)
        try await testGracefulShutdown { trigger in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await metrics.run() }
                try await pool.read { _ in }
                trigger.triggerGracefulShutdown()
                try await group.waitForAll()
            }
        }
        #expect(try backend.expectCounter("strongroom_accesses_total", [("kind", "read")]).totalValue == 1)
    }
}

@Suite("Spans of accesses")
struct TracingTests {
    private let folder: NotesFolder
    private let tracer = InMemoryTracer()

    init() throws { folder = try NotesFolder() }

    private func pool(showsSQL: Bool = false) throws -> DatabasePool {
        let tracer = tracer
        let pool = try makePool(folder) { $0.tracing = DatabaseTracing(showsSQL: showsSQL, tracer: tracer) }
        _ = tracer.popFinishedSpans()
        return pool
    }

    @Test("are children of the caller's span, and parents of those of the block")
    func family() async throws {
        let pool = try pool(), tracer = tracer
        try await tracer.withSpan("request") { _ in
            try await pool.read { _ in tracer.withSpan("inside") { _ in } }
            try blocking { try pool.write { _ in tracer.withSpan("inside") { _ in } } }
        }
        let spans = tracer.popFinishedSpans()
        let names = spans.map(\.operationName)
        #expect(names == ["inside", "strongroom.read", "inside", "strongroom.write", "request"])
        for (child, parent) in [(0, 1), (1, 4), (2, 3), (3, 4)] {
            #expect(spans[child].parentSpanID == spans[parent].spanID)
        }
        #expect(spans[1].attributes.get("db.namespace") == .string("notes"))
    }

    @Test("are one for each access of every kind, ended when it ends")
    func kinds() async throws {
        let pool = try pool()
        try blocking { try pool.read { _ in } }
        try await pool.unsafeRead { _ in }
        try await pool.write { _ in }
        try blocking { try pool.barrierWriteWithoutTransaction { _ in pool.unsafeReentrantWrite { _ in } } }
        try await pool.barrierWriteWithoutTransaction { _ in }
        await withCheckedContinuation { continuation in pool.asyncRead { _ in continuation.resume() } }
        while !tracer.activeSpans.isEmpty { await Task.yield() }
        let names = tracer.popFinishedSpans().map { $0.operationName.replacing("strongroom.", with: "") }
        #expect(names == ["read", "read", "write", "barrier", "barrier", "read"])
    }

    @Test("contain no SQL and no values, not even of an error")
    func secrets() throws {
        let pool = try pool()
        let insert: (Database) throws -> Void = { db in
            try db.execute(sql: "INSERT INTO note VALUES (?)", arguments: ["a secret"])
        }
        try pool.write(insert)
        #expect(throws: DatabaseError.self) { try pool.write(insert) }
        let spans = tracer.popFinishedSpans()
        #expect(spans.count == 2 && spans[1].status?.code == .error)
        #expect(spans[1].attributes.get("error.type")?.text.hasPrefix("2067") == true)
        for word in ["INSERT", "note VALUES", "secret"] { #expect(!"\(spans)".contains(word)) }
    }

    @Test("contain the SQL without arguments where the configuration shows it")
    func sql() async throws {
        let pool = try pool(showsSQL: true)
        try await pool.write { try $0.execute(sql: "INSERT INTO note VALUES (?)", arguments: ["a secret"]) }
        try await pool.unsafeRead { _ = try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM note") }
        try await pool.writeWithoutTransaction { try $0.execute(sql: "ATTACH ':memory:' AS other KEY 'hidden'") }
        let texts = tracer.popFinishedSpans().map { $0.attributes.get("db.query.text")?.text ?? "" }
        #expect(texts[0].contains("INSERT INTO note VALUES (?)") && texts[1] == "SELECT COUNT(*) FROM note")
        #expect(!texts.joined().contains("secret") && !texts.joined().contains("hidden"))
    }
}

extension SpanAttribute {
    fileprivate var text: String {
        if case .string(let text) = self { text } else { "" }
    }
}
