import Foundation
import Testing

@testable import StrongroomReplica

@Suite("Two replicators with one destination")
struct WriterTests {
    let scratch: Scratch
    let db: Connection

    init() throws {
        (scratch, db) = try Scratch.withDatabase(rows: 20)
    }

    private func process(_ destination: String, _ state: String, _ environment: [String: String] = [:]) throws
        -> Workload
    {
        try Workload(["run", scratch.database, destination, scratch.path(state)], environment: environment)
    }

    private func replica(
        _ state: String, lifetime: Int64 = 180_000, heartbeat: Int64 = 60_000
    ) throws -> DatabaseReplica {
        var options = DatabaseReplica.Options(), settings = Engine.Settings(), shipping = Shipper.Settings()
        (options.interval, options.stateFolder) = (0, scratch.path(state))
        (settings.heartbeat, shipping.claimLifetime) = (heartbeat, lifetime)
        let replica = try DatabaseReplica(
            path: scratch.database, to: FolderDestination(scratch.destination), options: options,
            engineSettings: settings, shipperSettings: shipping)
        replica.start()
        return replica
    }

    @Test("are two processes, of which the second one ends, and the first one goes on")
    func processes() throws {
        let first = try process(scratch.destination, "first")
        try first.wait(for: "position 1")
        let second = try process(scratch.destination, "second")
        try second.wait(for: "stopped superseded")
        try db.insert(5)
        try first.wait(for: "position 2")
        #expect(try !first.end().contains("failing"))
        #expect(try !second.end().contains("position"))
        #expect(try DatabaseReplica.histories(in: scratch.destination).count == 1)
        #expect(try scratch.restoredRows() == ["25", "25"])
        // The first one has said that it ended.
        let third = try process(scratch.destination, "third")
        try third.wait(for: "position 1")
        _ = try third.end()
    }

    @Test(
        "in object storage are two processes, of which the second one ends",
        .enabled(if: ObjectStore.isInstalled, "moto is not installed: pip install 'moto[server]'"))
    func objectStorage() throws {
        let store = try ObjectStore(), destination = "s3://bucket/two"
        let environment = [
            "AWS_ACCESS_KEY_ID": "trial", "AWS_SECRET_ACCESS_KEY": "trial", "AWS_REGION": "us-east-1",
            "AWS_ENDPOINT_URL_S3": store.endpoint,
        ]
        let first = try process(destination, "first", environment)
        try first.wait(for: "position 1")
        let second = try process(destination, "second", environment)
        try second.wait(for: "stopped superseded")
        try db.insert(5)
        try first.wait(for: "position 2")
        #expect(try !first.end().contains("failing"))
        _ = try second.end()
    }

    @Test("are refused after a kill of the first one, until that counts as gone, but not with the same state")
    func killed() async throws {
        let first = try process(scratch.destination, "first")
        try first.wait(for: "position 1")
        first.die()
        let error = await #expect(throws: ReplicaError.self) { try await replica("second").sync() }
        #expect(error?.reason == .superseded)
        try await replica("first").stop()
        try await replica("second", lifetime: 0).stop()
    }

    @Test("are noticed by the one that began first, and no restore mixes them", arguments: ["second", "first-copy"])
    func noticed(state: String) async throws {
        let first = try replica("first", heartbeat: 50)
        try await first.sync()
        // As after a time without network, or with a copy of the state.
        if state == "first-copy" {
            try FileManager.default.copyItem(atPath: scratch.path("first"), toPath: scratch.path(state))
        }
        let second = try replica(state, lifetime: 0)
        try db.insert(5)
        try await second.sync()
        var last: ReplicaError?
        for await event in first.events { if case .stopped(let error) = event { last = error } }
        #expect(last?.reason == .superseded)
        try await second.stop()
        let problems = try DatabaseReplica.verify(scratch.destination).problems
        // With a copy, both may have stored the same position before the first one noticed.
        #expect(problems.allSatisfy { state == "first-copy" && [.forked, .damaged].contains($0.reason) })
        let histories = try DatabaseReplica.histories(in: scratch.destination)
        for point in histories.flatMap(\.points) {
            // What is ambiguous is refused.
            guard let rows = try? scratch.restoredRows(.position(point.position)) else { continue }
            #expect(rows == ["20", "20"] || rows == ["25", "25"])
        }
    }
}
