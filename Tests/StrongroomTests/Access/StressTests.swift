import Dispatch
import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("Under stress", .timeLimit(.minutes(5)), .serialized)
struct StressTests {
    /// Numbers that look random, the same in each run.
    struct Dice: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }

    /// The observations of the tasks.
    struct Tally {
        var committed = Set<Int>()
        var unexpected: [String] = []
        var accesses = 0
    }

    @Test(
        "10 000 accesses from 64 tasks, cancelled, suspended and closed at random, lose no row and leave nothing behind"
    )
    func randomAccesses() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("db.sqlite")
        let tally = Shared(Tally())
        let descriptorsBefore = try openDescriptors()
        try await run(on: path, tally)

        let committed = tally.value.committed
        #expect(tally.value.unexpected == [])
        #expect(tally.value.accesses >= 10_000)
        #expect(!committed.isEmpty)
        // No connection, no lock, no transaction is left.
        #expect(try await eventually { try self.openDescriptors(on: path).isEmpty && Locks.all(on: path).isEmpty })
        #expect(try openDescriptors().count <= descriptorsBefore.count + 8)
        let queue = try DatabaseQueue(path: path, configuration: .encrypted())
        let stored = try await queue.write { try Set(Int.fetchAll($0, sql: "SELECT id FROM wine")) }
        // A write that fails has written nothing: cancelled, suspended or closed.
        #expect(stored == committed)
        #expect(try await queue.read { try String.fetchOne($0, sql: "PRAGMA integrity_check") } == "ok")
    }

    private func run(on path: String, _ tally: Shared<Tally>) async throws {
        var configuration = Configuration.encrypted()
        configuration.maximumReaderCount = 4
        configuration.busyMode = .timeout(10)
        let first = try DatabasePool(path: path, configuration: configuration)
        try await first.write { try $0.execute(sql: "CREATE TABLE wine (id INTEGER PRIMARY KEY, name TEXT)") }
        let pool = Shared(first)
        let ids = Shared(0)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    var dice = Dice(state: UInt64(number))
                    for _ in 0..<160 {
                        await self.access(
                            pool.value,
                            ids.update {
                                $0 += 1
                                return $0
                            }, tally, &dice)
                    }
                }
            }
            // Two tasks that suspend, and one that closes and opens again.
            for number in 0..<2 {
                group.addTask {
                    var dice = Dice(state: UInt64(1000 + number))
                    for _ in 0..<40 {
                        pool.value.suspend()
                        try? await Task.sleep(nanoseconds: UInt64.random(in: 0...2_000_000, using: &dice))
                        pool.value.resume()
                        try? await Task.sleep(nanoseconds: UInt64.random(in: 0...20_000_000, using: &dice))
                    }
                }
            }
            group.addTask { [configuration] in
                for _ in 0..<5 {
                    try? await Task.sleep(nanoseconds: 100_000_000)
                    let next = try! DatabasePool(path: path, configuration: configuration)
                    let former = pool.update { current in
                        let former = current
                        current = next
                        return former
                    }
                    try! await onThread { try former.close() }
                }
            }
        }
        try await onThread { try pool.value.close() }
    }

    private func access(_ pool: DatabasePool, _ id: Int, _ tally: Shared<Tally>, _ dice: inout Dice) async {
        tally.update { $0.accesses += 1 }
        let isWrite = Int.random(in: 0..<3, using: &dice) == 0
        let isCancelled = Int.random(in: 0..<4, using: &dice) == 0
        let pause = UInt64.random(in: 0...500_000, using: &dice)
        let task = Task {
            if isWrite {
                try await pool.write { db in
                    try db.execute(sql: "INSERT INTO wine (id, name) VALUES (?, 'Chinon')", arguments: [id])
                    try db.execute(sql: "UPDATE wine SET name = 'Bourgueil' WHERE id = ?", arguments: [id])
                }
            } else {
                try await pool.read { db in
                    let first = try db.countWines()
                    guard try db.countWines() == first else { throw NotIsolated() }
                }
            }
        }
        if isCancelled {
            if pause > 250_000 { try? await Task.sleep(nanoseconds: pause) }
            task.cancel()
        }
        record(await task.result, isWrite ? id : nil, tally)
    }

    struct NotIsolated: Error {}

    private func record(_ result: Result<Void, any Error>, _ id: Int?, _ tally: Shared<Tally>) {
        tally.update { tally in
            switch result {
            case .success:
                if let id { tally.committed.insert(id) }
            case .failure(let error):
                let expected =
                    error is CancellationError
                    || (error as? DatabaseError)?.isInterruptionError == true
                    || (error as? DatabaseError)?.resultCode == .SQLITE_MISUSE
                if !expected { tally.unexpected.append("\(error)") }
            }
        }
    }

    private func openDescriptors(on path: String? = nil) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { name in
            try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + name)
        }.filter { path.map($0.hasPrefix) ?? true }
    }

    @Test("neither readers nor a writer are starved by a stream of the others")
    func noStarvation() async throws {
        let fixture = try PoolFixture()
        let pool = fixture.pool
        let stops = Shared(false)
        let reads = Shared<[Double]>([]), writes = Shared<[Double]>([])
        @Sendable func measure(_ access: () throws -> Void) rethrows -> Double {
            let start = DispatchTime.now().uptimeNanoseconds
            try access()
            return Double(DispatchTime.now().uptimeNanoseconds - start) / 1_000_000
        }
        let readers = (0..<8).map { _ in
            start {
                while !stops.value {
                    let time = measure { _ = try! pool.read { try $0.countWines() } }
                    reads.update { $0.append(time) }
                }
            }
        }
        let writers = (0..<4).map { _ in
            start {
                for _ in 0..<250 {
                    let time = measure { try! pool.write { try $0.insertWine() } }
                    writes.update { $0.append(time) }
                }
            }
        }
        try await onThread {
            for writer in writers { writer.pass() }
            stops.update { $0 = true }
            for reader in readers { reader.pass() }
        }
        func percentile(_ p: Double, of times: [Double]) -> Double {
            times.sorted()[min(times.count - 1, Int(Double(times.count) * p))]
        }
        for (name, times) in [("reads", reads.value), ("writes", writes.value)] {
            print(
                """
                \(name): \(times.count), ms: p50 \(percentile(0.5, of: times)), p99 \(percentile(0.99, of: times)), \
                max \(times.max()!)
                """
            )
            #expect(times.max()! < 5000)
        }
        #expect(writes.value.count == 1000)
        // A reader each time that a writer has written, and not only when writers are done.
        #expect(reads.value.count > 100)
    }
}
