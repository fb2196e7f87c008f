import Foundation
import Testing

@testable import StrongroomReplica

@Suite("The promises of a replica")
struct InvariantTests {
    @Test("A replica keeps no writer and no reader waiting, and needs not the write lock")
    func locks() async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database), reader = try Connection(scratch.database)
        try db.createTables()
        try db.insert(10)
        let replica = try scratch.replica { $0.logThreshold = 1 << 16 }
        for connection in [db, reader] { try connection.run("PRAGMA busy_timeout = 0") }
        // Each of these would fail immediately.
        for _ in 0..<500 {
            try db.insert(2, size: 500)
            _ = try reader.value("SELECT count(*) FROM b")
        }
        // A writer with an open transaction, and a reader with an old state.
        try reader.run("BEGIN")
        let old = try reader.value("SELECT count(*) FROM a")
        try db.insert(5)
        try db.run("BEGIN IMMEDIATE; INSERT INTO a (text) VALUES ('uncommitted')")
        try await replica.sync()
        #expect(try scratch.restoredRows() == ["1015", "1015"])
        #expect(try reader.value("SELECT count(*) FROM a") == old)
        try db.run("ROLLBACK")
        try await replica.stop()
    }

    @Test("A replica writes no table and no row, and what is committed is not changed")
    func rows() async throws {
        let (scratch, db) = try Scratch.withDatabase(rows: 50)
        let sql = "SELECT group_concat(name || sql) FROM sqlite_master", version = "PRAGMA data_version"
        let before = try [db.value(sql), db.value(version), db.value("SELECT count(*) FROM a")]
        let replica = try scratch.replica()
        try await replica.sync()
        try await replica.stop()
        #expect(try [db.value(sql), db.value(version), db.value("SELECT count(*) FROM a")] == before)
        #expect(try db.value("PRAGMA integrity_check") == "ok")
    }

    @Test("A restore point has the sidecars that were valid for its pages")
    func sidecars() async throws {
        let (scratch, _) = try Scratch.withDatabase(rows: 50)
        func write(_ text: String, _ suffix: String) throws {
            try Data(text.utf8).write(to: URL(fileURLWithPath: scratch.database + suffix))
        }
        try write("one", "-salt")
        let replica = try scratch.replica()
        let first = try #require(try await replica.sync())
        try write("two", "-salt-next")
        try write("slots", "-keys")
        // No page changes.
        let second = try #require(try await replica.sync())
        try write("two", "-salt")
        try FileManager.default.removeItem(atPath: scratch.database + "-salt-next")
        let third = try #require(try await replica.stop())
        #expect(first < second && second < third)
        let expected: [ReplicaPosition: [String: String]] = [
            first: ["-salt": "one"], second: ["-salt": "one", "-salt-next": "two", "-keys": "slots"],
        ]
        .merging([third: ["-salt": "two", "-keys": "slots"]]) { $1 }
        for (position, sidecars) in expected {
            let path = scratch.path("at-\(position).db")
            try DatabaseReplica.restore(from: scratch.destination, to: path, target: .position(position))
            for suffix in ["-salt", "-salt-next", "-keys", "-keys-next"] {
                let found = FileManager.default.contents(atPath: path + suffix).map {
                    String(decoding: $0, as: UTF8.self)
                }
                #expect(found == sidecars[suffix])
            }
        }
    }

    @Test(
        "Databases of other formats are replicated as they are",
        arguments: [
            ("", []), (Connection.key, ["PRAGMA cipher_page_size = 65536"]),
            (Connection.key, ["PRAGMA cipher_compatibility = 3"]),
            (Connection.key, ["PRAGMA cipher_compatibility = 1"]),
            (Connection.key + String(repeating: "77", count: 16), ["PRAGMA cipher_plaintext_header_size = 32"]),
        ])
    func formats(key: String, settings: [String]) async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database, key: key, settings: settings)
        try db.createTables()
        let replica = try scratch.replica()
        for _ in 0..<3 {
            try db.insert(100)
            try await replica.sync()
        }
        try await replica.stop()
        let path = scratch.path("restored.db")
        try DatabaseReplica.restore(from: scratch.destination, to: path)
        let restored = try Connection(path, key: key, journal: nil, settings: settings)
        #expect(try restored.value("SELECT count(*) FROM b") == "300")
        #expect(try restored.value("PRAGMA integrity_check") == "ok")
        #expect(try DatabaseReplica.verify(scratch.destination).problems.isEmpty)
    }

    @Test("A clock that goes back a day does not change the order of restore points")
    func clock() async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database)
        try db.createTables()
        try await scratch.replica().stop()
        // The last restore point seems to be of tomorrow.
        try scratch.dateLastPoint(laterBy: 86_400_000)
        for _ in 0..<2 {
            try db.insert(1)
            try await scratch.replica().stop()
        }
        let times = try DatabaseReplica.histories(in: scratch.destination)[0].points.map(\.milliseconds)
        #expect(times == times.sorted() && Set(times).count == 3)
        #expect(times[2] == times[1] + 1)
    }

    @Test("A restore point has the bytes that the article describes")
    func format() async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database)
        try db.createTables()
        let replica = try scratch.replica()
        try await replica.stop()
        let name = try #require(try scratch.objects("/full/").first), bytes = try scratch.bytes(name)
        func number(_ offset: Int, _ size: Int) -> UInt64 {
            var value: UInt64 = 0
            for byte in bytes[offset..<offset + size] { value = value << 8 | UInt64(byte) }
            return value
        }
        let size = Int(number(8, 4)), part = Array(bytes[size...])
        #expect(String(decoding: bytes[..<8], as: UTF8.self) == "SRPOINT1")
        #expect(name.hasPrefix(Array(bytes[12..<28]).hex + "/full/0000000000000001."))
        #expect(number(28, 8) == 1)
        #expect(name.contains(".\(number(36, 8)).1."))
        for (offset, size, expected) in [(44, 4, 4096), (48, 4, 3), (52, 4, 1), (56, 1, 1), (57, 1, 6), (58, 2, 0)] {
            #expect(number(offset, size) == UInt64(expected), "at \(offset)")
        }
        #expect(bytes[60..<124].allSatisfy { $0 == 0 })
        #expect(number(184, 4) == 1)
        #expect(Array(bytes[188..<220]) == Digest(of: part).bytes)
        #expect(number(220, 4) == UInt64(part.count))
        #expect(number(224, 4) == 3)
        #expect(size == 228 + 64)
        #expect(replica.signer.hasSigned(Array(bytes[..<228]), Array(bytes[228..<292])))
        #expect(name.hasSuffix(Digest(of: Array(bytes[..<size])).short))
        #expect(String(decoding: part[..<8], as: UTF8.self) == "SRPAGES1")
        #expect(part.count == 28 + 3 * 4096)
        var leaves: [UInt8] = []
        for page in 0..<3 {
            let start = 28 + page * 4096, content = Array(part[start..<start + 4096])
            leaves += Digest(of: [0, 0, 0, 0, UInt8(page + 1)] + content).bytes
        }
        let branch = Digest(of: [1] + leaves).bytes
        let root: [UInt8] = [2, 0, 0, 16, 0, 0, 0, 0, 3] + branch
        #expect(Array(bytes[124..<156]) == Digest(of: root).bytes)
    }
}
