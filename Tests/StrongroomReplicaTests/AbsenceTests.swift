import Foundation
import Testing

@testable import StrongroomReplica

@Suite("A replica in a folder that is absent for a while, as on a disk that is not mounted")
struct AbsenceTests {
    /// The content of the path meanwhile.
    enum Absence: CaseIterable {
        case nothing
        /// The mount point.
        case emptyFolder
    }

    let scratch: Scratch
    let db: Connection

    init() throws {
        (scratch, db) = try Scratch.withDatabase(rows: 20)
    }

    private var elsewhere: String { scratch.path("elsewhere") }

    private func unmount(_ absence: Absence = .nothing) throws {
        try FileManager.default.moveItem(atPath: scratch.destination, toPath: elsewhere)
        guard absence == .emptyFolder else { return }
        try FileManager.default.createDirectory(atPath: scratch.destination, withIntermediateDirectories: false)
    }

    private func mount() throws {
        try? FileManager.default.removeItem(atPath: scratch.destination)
        try FileManager.default.moveItem(atPath: elsewhere, toPath: scratch.destination)
    }

    private var isUntouched: Bool {
        get throws {
            guard FileManager.default.fileExists(atPath: scratch.destination) else { return true }
            return try scratch.objects().isEmpty
        }
    }

    private func replica(_ state: String = "state", attempts: Int? = nil) throws -> DatabaseReplica {
        var options = DatabaseReplica.Options(), settings = Engine.Settings()
        (options.interval, options.attempts, options.stateFolder) = (0, attempts, scratch.path(state))
        (settings.pause, settings.longestPause) = (5, 20)
        let replica = try DatabaseReplica(
            path: scratch.database, to: FolderDestination(scratch.destination), options: options,
            engineSettings: settings)
        replica.start()
        return replica
    }

    private func expectUnavailable(_ state: String = "state") async throws {
        let replica = try replica(state, attempts: 2)
        let error = await #expect(throws: ReplicaError.self) { try await replica.sync() }
        #expect(error?.reason == .destinationUnavailable)
        // Has ended, so that the next one can have the state.
        _ = try? await replica.stop()
    }

    @Test("writes nothing in its place, and goes on when it returns", arguments: Absence.allCases)
    func running(absence: Absence) async throws {
        let replica = try replica()
        try await replica.sync()
        try unmount(absence)
        try db.insert(5)
        var failure: ReplicaError?
        loop: for await event in replica.events {
            switch event {
            case .failing(let error):
                failure = error
                break loop
            case .durable(let point) where point.position.number > 1: break loop
            default: break
            }
        }
        #expect(failure?.reason == .destinationUnavailable)
        #expect(try isUntouched)
        try mount()
        try await replica.sync()
        try await replica.stop()
        #expect(try scratch.restoredRows() == ["25", "25"])
        #expect(try DatabaseReplica.histories(in: scratch.destination).count == 1)
        #expect(try DatabaseReplica.verify(scratch.destination).problems.isEmpty)
    }

    @Test(
        "is not begun anew by a replicator that starts meanwhile, with or without its leaves",
        arguments: Absence.allCases, [true, false])
    func starting(absence: Absence, hasLeaves: Bool) async throws {
        try await replica().stop()
        try unmount(absence)
        let leaves = scratch.path("state/tree")
        let kept = try Data(contentsOf: URL(fileURLWithPath: leaves))
        if !hasLeaves { try Data(count: kept.count).write(to: URL(fileURLWithPath: leaves)) }
        try db.insert(5)
        try await expectUnavailable()
        #expect(try isUntouched)
        try kept.write(to: URL(fileURLWithPath: leaves))
        try mount()
        try await replica().stop()
        #expect(try scratch.restoredRows() == ["25", "25"])
        #expect(try DatabaseReplica.histories(in: scratch.destination).count == 1)
    }

    @Test("is not taken for an older replica that is below its mount point")
    func older() async throws {
        try await replica("older").stop()
        try FileManager.default.moveItem(atPath: scratch.destination, toPath: scratch.path("below"))
        usleep(10_000)
        try await replica().stop()
        try unmount()
        try FileManager.default.moveItem(atPath: scratch.path("below"), toPath: scratch.destination)
        try await expectUnavailable()
        #expect(try DatabaseReplica.histories(in: scratch.destination).count == 1)
    }

    @Test("begins a history if that of a later replicator has taken the place of its own")
    func later() async throws {
        try await replica().stop()
        let own = try #require(scratch.objects("/lineage").first)
        usleep(10_000)
        try await replica("later").stop()
        try scratch.remove(String(own.dropLast("/lineage".count)))
        usleep(10_000)
        try await replica().stop()
        #expect(try DatabaseReplica.histories(in: scratch.destination).count == 2)
    }

    @Test("begins a history in an empty folder when its record was removed, with the same key")
    func emptied() async throws {
        let first = try replica()
        try await first.stop()
        try FileManager.default.removeItem(atPath: scratch.destination)
        try await expectUnavailable()
        try FileManager.default.removeItem(atPath: scratch.path("state/record"))
        let again = try replica()
        try await again.stop()
        #expect(again.signer == first.signer)
        #expect(try scratch.restoredRows() == ["20", "20"])
    }

    @Test("is waited for by a database that follows it", arguments: Absence.allCases)
    func following(absence: Absence) async throws {
        let replica = try replica()
        try await replica.sync()
        try db.insert(5)
        try await replica.stop()
        let out = scratch.path("followed.db")
        var errors: [ReplicaError] = [], points: [UInt64] = [], rounds = 0
        try DatabaseReplica.follow(
            from: scratch.destination, to: out, interval: 20,
            until: {
                rounds += 1
                return !errors.isEmpty && rounds > 5 || rounds > 300
            },
            failed: {
                errors.append($0)
                try? mount()
                rounds = 0
            },
            report: {
                points.append($0.position.number)
                try? unmount(absence)
            })
        #expect(errors.first?.reason == .destinationUnavailable)
        #expect(points == [2])
        #expect(try StockShell(path: out).rows() == ["25", "25"])
    }

    @Test("has a file in its place, which is no destination that may come back")
    func file() async throws {
        try await replica().stop()
        try unmount()
        try Data().write(to: URL(fileURLWithPath: scratch.destination))
        let error = #expect(throws: ReplicaError.self) { try DatabaseReplica.histories(in: scratch.destination) }
        #expect(error?.reason == .invalidDestination)
    }

    @Test("is rid of partial objects that a killed process left a day ago, and of no others")
    func remains() async throws {
        try await replica().stop()
        let points = try scratch.objects("/full/"), object = try #require(points.first)
        let place = URL(fileURLWithPath: scratch.destination + "/" + object).deletingLastPathComponent()
        for (name, age) in [(".partial-1-1", 100_000.0), (".partial-1-2", 1000), (".other", 100_000)] {
            let path = place.appendingPathComponent(name).path
            try Data("part".utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes(
                [.modificationDate: Date().addingTimeInterval(-age)], ofItemAtPath: path)
        }
        let destination = try FolderDestination(scratch.destination)
        try destination.put(object + "x", [1])
        let names = try FileManager.default.contentsOfDirectory(atPath: place.path).filter { $0.hasPrefix(".") }
        #expect(names.sorted() == [".other", ".partial-1-2"])
    }
}
