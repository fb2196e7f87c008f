import Foundation
import Testing

@testable import StrongroomReplica

/// A folder whose deletions end after a number of objects, as those of a killed process do.
private final class CutShort: Destination, @unchecked Sendable {
    let name: String
    private let folder: FolderDestination
    private var rest: Int

    init(_ path: String, after count: Int) throws {
        folder = try FolderDestination(path)
        (name, rest) = (path, count)
    }

    func put(_ name: String, _ bytes: [UInt8]) throws { try folder.put(name, bytes) }
    func get(_ name: String) throws -> [UInt8]? { try folder.get(name) }
    func list(_ prefix: String, after: String?) throws -> [StoredObject] { try folder.list(prefix, after: after) }
    func folders(_ prefix: String) throws -> [String] { try folder.folders(prefix) }
    func another() throws -> any Destination { self }

    func delete(_ names: [String]) throws {
        for name in names {
            guard rest > 0 else { throw ReplicaError(.stopped, self.name, "it was killed.") }
            rest -= 1
            try folder.delete([name])
        }
    }
}

@Suite("The removal of restore points")
struct PruningTests {
    let scratch: Scratch
    let db: Connection

    init() throws {
        (scratch, db) = try Scratch.withDatabase(rows: 100)
    }

    /// Stores a full restore point with its pages in parts, and two more.
    private func replicate(_ key: String = Connection.key) async throws {
        var options = DatabaseReplica.Options(), shipping = Shipper.Settings()
        options.interval = 0
        (shipping.inlineLimit, shipping.partSize) = (0, 4 * 4096)
        let replica = try DatabaseReplica(
            path: scratch.database, to: FolderDestination(scratch.destination), options: options,
            shipperSettings: shipping)
        replica.start()
        try await replica.sync()
        for _ in 0..<2 {
            try Connection(scratch.database, key: key).insert(1)
            try await replica.sync()
        }
        try await replica.stop()
    }

    /// Begins another history with the next replicator.
    private func loseState() throws {
        try FileManager.default.removeItem(atPath: scratch.database + "-replica")
        usleep(10_000)
    }

    /// Stores what a replicator stores before its first restore point. Returns the history.
    private func beginHistory() throws -> Lineage.ID {
        let id = try Lineage.ID.random(), key = try SigningKey(path: scratch.path("signer"))
        let line = Lineage(id: id, signer: key.signer, begun: currentMilliseconds() + 1000)
        try FolderDestination(scratch.destination).put(ObjectNames.lineage(id), line.signed(by: key))
        return id
    }

    private func forget() throws -> Int { try DatabaseReplica.forgetFormerGenerations(scratch.destination) }

    private func expectRefusal() throws {
        let before = try scratch.objects()
        #expect(before.contains { $0.contains("/parts/") })
        let error = #expect(throws: ReplicaError.self) { try forget() }
        #expect(error?.reason == .noPoint)
        #expect(try scratch.objects() == before)
    }

    @Test("before a rotation is refused while the newest history has no restore point")
    func emptyHistory() async throws {
        try await replicate()
        _ = try beginHistory()
        try expectRefusal()
        #expect(try scratch.restoredRows() == ["102", "102"])
    }

    @Test("before a rotation is refused while the newest history has no full restore point")
    func incompleteHistory() async throws {
        try await replicate()
        try loseState()
        try await replicate()
        let newest = try #require(DatabaseReplica.histories(in: scratch.destination).last?.points.first).milliseconds
        try scratch.remove(try #require(scratch.objects("/full/").first { $0.contains(".\(newest).") }))
        try expectRefusal()
    }

    @Test("before a rotation that is refused has removed no history")
    func refused() async throws {
        try await replicate()
        try loseState()
        try await replicate()
        let last = try #require(
            scratch.objects("/points/").compactMap(PointName.init).max { $0.time < $1.time })
        var renamed = last
        renamed.generation += 1
        try scratch.write(scratch.bytes(last.name), renamed.name)
        try scratch.remove(last.name)
        try expectRefusal()
    }

    @Test("by a retention keeps a restore point that can be restored")
    func restorable() async throws {
        try await replicate()
        try loseState()
        try await replicate()
        let histories = try DatabaseReplica.histories(in: scratch.destination)
        let newest = try #require(histories.last?.points.first).milliseconds
        try scratch.remove(try #require(scratch.objects("/full/").first { $0.contains(".\(newest).") }))
        try DatabaseReplica.prune(scratch.destination, keeping: ReplicaRetention([.hour: 1]))
        let last = try #require(histories.first?.points.last)
        #expect(try scratch.restoredRows(.time(last.milliseconds)) == ["102", "102"])
    }

    enum Removal: CaseIterable { case forget, prune, age }

    private func run(_ removal: Removal, _ destination: any Destination) throws {
        let pruning = Pruning(archive: Archive(destination: destination, signer: nil))
        switch removal {
        case .forget: _ = try pruning.removeFormerGenerations(isDryRun: false)
        case .prune:
            let retention = ReplicaRetention([.hour: 1])
            _ = try pruning.removePoints(notKeptBy: retention, now: currentMilliseconds(), isDryRun: false)
        case .age: _ = try pruning.removePoints(before: .max, isDryRun: false)
        }
    }

    @Test("that was cut short anywhere is completed by the next one", arguments: Removal.allCases, [false, true])
    func cutShort(removal: Removal, isOtherHistory: Bool) async throws {
        try await replicate()
        if isOtherHistory { try loseState() }
        try db.rekey(Connection.otherKey)
        try await replicate(Connection.otherKey)
        for sealed in try scratch.objects("/points/").compactMap(PointName.init) {
            try FolderDestination(scratch.destination).put(ObjectNames.seal(sealed.lineage, sealed.position), [0])
        }
        let kept = scratch.path("kept")
        try FileManager.default.copyItem(atPath: scratch.destination, toPath: kept)
        try run(removal, FolderDestination(scratch.destination))
        let expected = try scratch.objects()
        for count in 0... {
            try FileManager.default.removeItem(atPath: scratch.destination)
            try FileManager.default.copyItem(atPath: kept, toPath: scratch.destination)
            let isCut = (try? run(removal, CutShort(scratch.destination, after: count))) == nil
            try run(removal, FolderDestination(scratch.destination))
            #expect(try scratch.objects() == expected, "after \(count) objects")
            guard isCut else { break }
        }
        #expect(try scratch.restoredRows(key: Connection.otherKey) == ["104", "104"])
    }

    @Test("keeps the pages of a restore point that is on its way", arguments: Removal.allCases)
    func onItsWay(removal: Removal) async throws {
        try await replicate()
        let history = try #require(scratch.objects("/points/").compactMap(PointName.init).last)
        let place = try FolderDestination(scratch.destination)
        let next = ObjectNames.part(history.lineage, history.position + 1, Digest(of: [1]))
        // The first pages of a history are stored before its beginning.
        let first = ObjectNames.part(try Lineage.ID.random(), 1, Digest(of: [2]))
        for name in [next, first] { try place.put(name, [1]) }
        try run(removal, place)
        for name in [next, first] { #expect(try place.get(name) == [1]) }
    }
}
