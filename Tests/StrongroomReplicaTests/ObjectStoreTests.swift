import Foundation
import Testing

@testable import StrongroomReplica

@Suite(
    "A replica in object storage", .serialized,
    .enabled(if: ObjectStore.isInstalled, "moto is not installed: pip install 'moto[server]'"))
struct ObjectStoreTests {
    private static let environment = [
        "AWS_ACCESS_KEY_ID": "trial", "AWS_SECRET_ACCESS_KEY": "trial", "AWS_REGION": "us-east-1",
    ]

    private func destination(_ store: ObjectStore, _ name: String) throws -> S3Destination {
        var options = S3Options()
        options.endpoint = store.endpoint
        return try S3Destination(name, options, environment: Self.environment)
    }

    @Test("is followed and restored as one in a folder is")
    func roundTrip() async throws {
        let store = try ObjectStore(), scratch = try Scratch(), db = try Connection(scratch.database)
        try db.createTables()
        let place = try destination(store, "s3://bucket/some/prefix")
        var options = DatabaseReplica.Options()
        options.interval = 0
        let replica = try DatabaseReplica(path: scratch.database, to: place, options: options)
        replica.start()
        for _ in 0..<5 {
            try db.insert(20)
            try await replica.sync()
        }
        try db.insert(3000, size: 4000)
        let last = try #require(try await replica.stop())
        let archive = Archive(destination: try place.another(), signer: replica.signer)
        let restored = scratch.path("restored.db")
        _ = try Restoration(archive: archive, path: restored).run(.newest, atLeast: last.number)
        #expect(try StockShell(path: restored).rows() == ["3100", "3100"])
        let verification = Verification(archive: archive, folder: scratch.folder)
        #expect(try verification.run { Issue.record($0) } == Int(last.number))
    }

    @Test("lists more objects than an answer holds, and deletes them")
    func many() throws {
        let store = try ObjectStore(), place = try destination(store, "s3://bucket/many")
        defer { withExtendedLifetime(store) {} }
        let names = (0..<1010).map { "folder/\(10_000 + $0)" }
        for name in names { try place.put(name, [1]) }
        try place.put("other/1", [1, 2, 3])
        #expect(try place.list("folder/", after: nil).map(\.name) == names)
        #expect(try place.list("folder/", after: names[1005]).map(\.name) == Array(names[1006...]))
        #expect(try place.list("other/", after: nil) == [StoredObject(name: "other/1", size: 3)])
        #expect(try place.folders("") == ["folder", "other"])
        try place.delete(Array(names[..<3]))
        #expect(try place.get(names[0]) == nil)
        #expect(try place.get(names[3]) == [1])
    }

    @Test("in a bucket that does not exist is refused, and named")
    func absent() throws {
        let store = try ObjectStore(), place = try destination(store, "s3://missing/prefix")
        defer { withExtendedLifetime(store) {} }
        for work in [{ try place.put("a", [1]) }, { _ = try place.get("a") }, { _ = try place.list("", after: nil) }] {
            let error = #expect(throws: ReplicaError.self) { try work() }
            #expect(error?.reason == .invalidDestination)
            #expect(error?.description.contains("s3://missing/prefix") == true)
        }
    }

    @Test("at a server that is down is unavailable")
    func down() throws {
        var options = S3Options()
        options.endpoint = "http://127.0.0.1:9"
        let place = try S3Destination("s3://bucket", options, environment: Self.environment)
        let error = #expect(throws: ReplicaError.self) { try place.put("a", [1]) }
        #expect(error?.reason == .destinationUnavailable)
    }

    @Test(
        "with a name or an endpoint that is none is refused",
        arguments: [
            ("s3://", nil), ("s3://b", nil), ("s3://Bucket/x", nil), ("s3://user@bucket/x", nil),
            ("s3://bucket/x?y", nil), ("s3://bucket", "ftp://host"), ("s3://bucket", "http://user:pass@host"),
        ] as [(String, String?)])
    func names(name: String, endpoint: String?) {
        var options = S3Options()
        options.endpoint = endpoint
        let error = #expect(throws: ReplicaError.self) {
            try S3Destination(name, options, environment: Self.environment)
        }
        #expect(error?.reason == .invalidDestination)
        #expect(error?.description.contains("pass") == false)
    }
}
