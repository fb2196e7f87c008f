import Foundation
import Testing

@testable import StrongroomReplica

/// A folder whose requests can fail.
private final class FaultyDestination: Destination, @unchecked Sendable {
    enum Fault {
        case fails
        /// The request has its effect, and an error is answered.
        case failsAfterwards
    }

    let name: String
    private let folder: FolderDestination
    private let lock = NSLock()
    private var count = 0
    private var failures: [Int64] = []
    private let fault: @Sendable (Int) -> Fault?

    init(_ path: String, _ fault: @escaping @Sendable (_ request: Int) -> Fault?) throws {
        folder = try FolderDestination(path)
        (name, self.fault) = (path, fault)
    }

    private func request<T>(_ body: () throws -> T) throws -> T {
        let found = lock.withLock {
            count += 1
            let found = fault(count)
            if found != nil { failures.append(steadyMilliseconds()) }
            return found
        }
        if found == .fails { throw ReplicaError(.destinationUnavailable, name, "it is down.") }
        let result = try body()
        if found != nil { throw ReplicaError(.destinationUnavailable, name, "the answer was lost.") }
        return result
    }

    /// The longest time between two failures, in milliseconds.
    var longestPause: Int64 {
        let times = lock.withLock { failures }
        return zip(times, times.dropFirst()).map { $1 - $0 }.max() ?? 0
    }

    func put(_ name: String, _ bytes: [UInt8]) throws { try request { try folder.put(name, bytes) } }
    func get(_ name: String) throws -> [UInt8]? { try request { try folder.get(name) } }
    func list(_ prefix: String, after: String?) throws -> [StoredObject] {
        try request { try folder.list(prefix, after: after) }
    }
    func folders(_ prefix: String) throws -> [String] { try request { try folder.folders(prefix) } }
    func delete(_ names: [String]) throws { try request { try folder.delete(names) } }
    func another() throws -> any Destination { self }
}

/// A state that does something before its release.
private final class SlowState: LocalState, @unchecked Sendable {
    var beforeRelease: (@Sendable () -> Void)?

    override func release() {
        beforeRelease?()
        beforeRelease = nil
        super.release()
    }

    /// True if a replicator has the lock of a state.
    static func isHeld(_ lock: String) -> Bool {
        let descriptor = open(lock, O_RDONLY)
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }
}

@Suite("A replica whose destination fails")
struct FaultTests {
    private func replica(
        _ scratch: Scratch, _ place: any Destination, pauses: (first: Int64, longest: Int64)? = (5, 20)
    ) throws -> DatabaseReplica {
        var options = DatabaseReplica.Options(), settings = Engine.Settings()
        options.interval = 0
        if let pauses { (settings.pause, settings.longestPause) = pauses }
        let replica = try DatabaseReplica(path: scratch.database, to: place, options: options, engineSettings: settings)
        replica.start()
        return replica
    }

    @Test("at any request, before or after its effect, goes on and has one history", arguments: [false, true])
    func each(afterwards: Bool) async throws {
        for failing in 1...12 {
            let scratch = try Scratch(), db = try Connection(scratch.database)
            try db.createTables()
            let place = try FaultyDestination(scratch.destination) {
                $0 == failing ? (afterwards ? .failsAfterwards : .fails) : nil
            }
            let replica = try replica(scratch, place)
            for _ in 0..<3 {
                try db.insert(10)
                try await replica.sync()
            }
            try await replica.stop()
            #expect(try scratch.restoredRows() == ["30", "30"])
            #expect(try DatabaseReplica.verify(scratch.destination).problems.isEmpty)
            #expect(try DatabaseReplica.histories(in: scratch.destination).count == 1)
        }
    }

    @Test("for a while merges what is committed meanwhile, and the log stays short")
    func outage() async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database), isDown = Flag()
        try db.createTables()
        let place = try FaultyDestination(scratch.destination) { _ in isDown.isSet ? .fails : nil }
        let replica = try replica(scratch, place)
        try db.insert(100)
        try await replica.sync()
        let before = try DatabaseReplica.histories(in: scratch.destination)[0].points.count
        isDown.set()
        for _ in 0..<200 {
            try db.insert(20, size: 1000)
            usleep(2000)
        }
        // Twelve megabytes of frames. One look can see what is committed in 20 ms.
        #expect(scratch.size("notes.db-wal") < 9 << 20)
        isDown.clear()
        try await replica.stop()
        #expect(try scratch.restoredRows() == ["4100", "4100"])
        let points = try DatabaseReplica.histories(in: scratch.destination)[0].points
        // The point on its way, and one with everything else.
        #expect(points.count <= before + 3)
    }

    @Test("for so long that pauses are longest is tried every two seconds, and whole again after its return")
    func recovery() async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database), isDown = Flag()
        try db.createTables()
        let place = try FaultyDestination(scratch.destination) { _ in isDown.isSet ? .fails : nil }
        let replica = try replica(scratch, place, pauses: nil)
        try await replica.sync()
        isDown.set()
        for _ in 0..<80 {
            try db.insert(5)
            usleep(100_000)
        }
        isDown.clear()
        try await replica.sync()
        try await replica.stop()
        #expect((1500..<3500).contains(place.longestPause))
        #expect(try scratch.restoredRows() == ["400", "400"])
    }

    @Test("at a stop reports that not everything is durable")
    func stop() async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database)
        try db.createTables()
        let replica = try replica(scratch, FaultyDestination(scratch.destination) { _ in .fails })
        let error = await #expect(throws: ReplicaError.self) { try await replica.stop() }
        #expect(error?.reason == .destinationUnavailable)
    }

    @Test("cannot be replicated twice with one state")
    func busy() async throws {
        let scratch = try Scratch(), db = try Connection(scratch.database)
        try db.createTables()
        let replica = try scratch.replica()
        let error = #expect(throws: ReplicaError.self) { try scratch.replica() }
        #expect(error?.reason == .busy)
        try await replica.stop()
        try await scratch.replica().stop()
    }

    @Test("gives its state back before it answers a stop that meets its end")
    func givenBack() async throws {
        let scratch = try Scratch()
        let state = try SlowState(folder: scratch.path("state"))
        let engine = try Engine(
            Capture(path: scratch.database, folder: state.spoolFolder, settings: Capture.Settings()), state,
            Shipper(FolderDestination(scratch.destination), state), Engine.Settings(), report: { _ in })
        let isAnswered = Flag(), isHeld = Flag(), lock = scratch.path("state/lock")
        state.beforeRelease = { [unowned engine] in
            // On another thread, as a program would: the engine's own may hold what the answer needs.
            Thread.detachNewThread {
                engine.stop { _ in
                    if SlowState.isHeld(lock) { isHeld.set() }
                    isAnswered.set()
                }
            }
            for _ in 0..<20 where !isAnswered.isSet { usleep(10_000) }
        }
        engine.start()
        await withCheckedContinuation { continuation in engine.stop { _ in continuation.resume() } }
        while !isAnswered.isSet { try await Task.sleep(for: .milliseconds(1)) }
        #expect(!isHeld.isSet)
    }

    @Test("gives its state back while a process that starts has a copy of its descriptors")
    func copied() throws {
        let scratch = try Scratch(), folder = scratch.path("state")
        let state = try LocalState(folder: folder)
        var status = stat()
        try #require(stat(folder + "/lock", &status) == 0)
        let own = (0..<1024).filter { descriptor in
            var found = stat()
            return fstat(Int32(descriptor), &found) == 0 && found.st_ino == status.st_ino
                && found.st_dev == status.st_dev
        }
        let copies = own.map { dup(Int32($0)) }
        defer { for copy in copies { close(copy) } }
        #expect(copies.count == 1)
        state.release()
        _ = try LocalState(folder: folder)
    }

    @Test("with a damaged signing key can begin in the same process once the key is moved away")
    func damagedSigner() throws {
        let scratch = try Scratch(), folder = scratch.path("state"), signer = folder + "/signer"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("no key".utf8).write(to: URL(fileURLWithPath: signer))
        let error = #expect(throws: ReplicaError.self) { try LocalState(folder: folder) }
        #expect(error?.reason == .damaged)
        try FileManager.default.removeItem(atPath: signer)
        _ = try LocalState(folder: folder)
    }
}
