import Foundation
import StrongroomReplica
import Testing

@Suite("A database that follows a replica")
struct FollowedTests {
    let scratch: Scratch
    let db: Connection

    init() throws {
        (scratch, db) = try Scratch.withDatabase(rows: 200)
    }

    private var out: String { scratch.path("followed.db") }

    /// Follows up to the newest point. Returns the points.
    @discardableResult
    private func follow() throws -> [ReplicaPoint] {
        var rounds = 0, points: [ReplicaPoint] = []
        try DatabaseReplica.follow(
            from: scratch.destination, to: out, interval: 20,
            until: {
                rounds += 1
                return rounds > 4
            }, report: { points.append($0) })
        return points
    }

    @Test("goes on with each restore point, and with what a later run finds")
    func points() async throws {
        let replica = try scratch.replica()
        try await replica.sync()
        #expect(try follow().map(\.position.number) == [1])
        for _ in 0..<2 {
            try db.insert(10)
            try await replica.sync()
        }
        #expect(try follow().map(\.position.number) == [2, 3])
        #expect(try StockShell(path: out).rows() == ["220", "220"])
        // Fewer pages, and other ones.
        try db.run("BEGIN; DELETE FROM a WHERE id > 20; DELETE FROM b WHERE id > 20; COMMIT; VACUUM")
        try await replica.stop()
        try follow()
        #expect(try StockShell(path: out).rows() == ["20", "20"])
    }

    @Test("waits while a program has it open, and has one state for it")
    func reader() async throws {
        let replica = try scratch.replica()
        try await replica.sync()
        try follow()
        do {
            let reader = try Connection(out, journal: nil)
            #expect(try reader.value("SELECT count(*) FROM a") == "200")
            try db.insert(10)
            try await replica.sync()
            #expect(try follow().isEmpty)
            #expect(try reader.value("SELECT count(*) FROM a") == "200")
        }
        #expect(try follow().count == 1)
        #expect(try StockShell(path: out).rows() == ["210", "210"])
        try await replica.stop()
    }

    @Test("takes the key and the sidecars of each restore point")
    func rotation() async throws {
        let replica = try scratch.replica()
        try Data("old".utf8).write(to: URL(fileURLWithPath: scratch.database + "-keys"))
        try await replica.sync()
        try follow()
        try db.rekey(Connection.otherKey)
        try Data("new".utf8).write(to: URL(fileURLWithPath: scratch.database + "-keys"))
        try await replica.stop()
        try follow()
        #expect(try StockShell(path: out, key: Connection.otherKey).rows() == ["200", "200"])
        #expect(try String(contentsOfFile: out + "-keys", encoding: .utf8) == "new")
    }

    @Test("that another program has changed is left as it is, and said so")
    func changed() async throws {
        let replica = try scratch.replica()
        try await replica.sync()
        try follow()
        do {
            let other = try Connection(out)
            try other.insert(1)
        }
        let before = try Data(contentsOf: URL(fileURLWithPath: out))
        try db.insert(1)
        try await replica.stop()
        let error = #expect(throws: ReplicaError.self) { try follow() }
        #expect(error?.reason == .unreadable)
        #expect(try Data(contentsOf: URL(fileURLWithPath: out)) == before)
    }

    @Test("that another program changes between two restore points is left as it is")
    func changedMeanwhile() async throws {
        let replica = try scratch.replica()
        try await replica.sync()
        var rounds = 0, before = Data(), failure: ReplicaError?
        do {
            try DatabaseReplica.follow(
                from: scratch.destination, to: out, interval: 20,
                until: {
                    rounds += 1
                    return rounds > 500
                },
                report: { [self] _ in
                    guard before.isEmpty else { return }
                    // The same number of pages, and an empty log.
                    try? Connection(out).run("UPDATE b SET bytes = zeroblob(length(bytes)) WHERE id = 1")
                    before = (try? Data(contentsOf: URL(fileURLWithPath: out))) ?? Data()
                    try? db.insert(1)
                })
        } catch let error as ReplicaError {
            failure = error
        }
        #expect(failure?.reason == .unreadable, "\(rounds)")
        #expect(try Data(contentsOf: URL(fileURLWithPath: out)) == before)
        try await replica.stop()
    }

    @Test("is never another one: a file that is there is refused")
    func foreign() async throws {
        try await scratch.replica().stop()
        try Data("mine".utf8).write(to: URL(fileURLWithPath: out))
        let error = #expect(throws: ReplicaError.self) { try follow() }
        #expect(error?.reason == .exists)
        #expect(try String(contentsOfFile: out, encoding: .utf8) == "mine")
    }

    @Test("takes nothing that was forged")
    func forged() async throws {
        let replica = try scratch.replica()
        try await replica.sync()
        try follow()
        try db.insert(10)
        try await replica.stop()
        let name = try scratch.objects("/points/")[0]
        var bytes = try scratch.bytes(name)
        bytes[bytes.count - 10] ^= 1
        try scratch.write(bytes, name)
        let error = #expect(throws: ReplicaError.self) { try follow() }
        #expect(error?.reason == .damaged)
        #expect(try StockShell(path: out).rows() == ["200", "200"])
    }

    @Test("goes on with a new history of the replicator, from its full restore point")
    func newHistory() async throws {
        try await scratch.replica().stop()
        try follow()
        try FileManager.default.removeItem(atPath: scratch.database + "-replica")
        try db.insert(5)
        usleep(10_000)
        try await scratch.replica().stop()
        try follow()
        #expect(try StockShell(path: out).rows() == ["205", "205"])
    }

    @Test("goes on with a new history when its own was removed")
    func removedHistory() async throws {
        try await scratch.replica().stop()
        try follow()
        let old = try #require(scratch.objects("/lineage").first?.prefix { $0 != "/" })
        try FileManager.default.removeItem(atPath: scratch.database + "-replica")
        try db.insert(5)
        usleep(10_000)
        try await scratch.replica().stop()
        try scratch.remove(String(old))
        try follow()
        #expect(try StockShell(path: out).rows() == ["205", "205"])
    }

    @Test("says that its history was removed if only an older one is left, and is left as it is")
    func olderHistory() async throws {
        try await scratch.replica().stop()
        try FileManager.default.removeItem(atPath: scratch.database + "-replica")
        try db.insert(5)
        usleep(10_000)
        let older = try scratch.objects("/lineage")
        try await scratch.replica().stop()
        try follow()
        let newer = try #require(scratch.objects("/lineage").first { !older.contains($0) })
        try scratch.remove(String(newer.prefix { $0 != "/" }))
        let error = #expect(throws: ReplicaError.self) { try follow() }
        #expect(error?.reason == .behind)
        #expect(try StockShell(path: out).rows() == ["205", "205"])
    }
}
