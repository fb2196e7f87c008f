import Foundation
import Workload

// Costs that may grow with the number of readers and observations.

extension GrowthWork {
    private var select: String { "SELECT i FROM growing WHERE rowid > ? AND rowid <= ?" }

    func readers() throws -> Double {
        let pool = try pool(columns: ["i"], rows: Int(Workload.pointCount))
        // The first accesses open the readers: each waits for the others.
        let all = Rendezvous(size)
        _ = onThreads(size) { _ in
            try pool.read { db in
                all.wait()
                return try range(db, 0)
            }
        }
        let start = Usage.soFar()
        let sum = onThreads(size) { _ in
            try (0..<Growth.accessCount).reduce(0) { sum, n in try sum + pool.read { try range($0, n) } }
        }
        precondition(sum > 0)
        return Usage.soFar().since(start).figures[.processorTime]! / Double(size * Growth.accessCount)
    }

    private func range(_ db: Database, _ n: Int) throws -> Int64 {
        let first = Workload.rangeStart(Int64(n))
        let values = try Int64.fetchCursor(db, sql: select, arguments: [first, first + Workload.rangeLength])
        var sum: Int64 = 0
        while let value = try values.next() { sum += value }
        return sum
    }

    /// From a write until all observations have its value.
    func observations() throws -> Double {
        let pool = try pool(columns: ["value"], rows: 1)
        let changed = DispatchSemaphore(value: 0)
        let all = observe("growing", in: pool) { changed.signal() }
        let start = now()
        for _ in 0..<Growth.observedWriteCount {
            try pool.write { try $0.execute(sql: "UPDATE growing SET value = value + 1") }
            for _ in 0..<size { changed.wait() }
        }
        let time = now() - start
        for observation in all { observation.cancel() }
        return time / Double(size * Growth.observedWriteCount)
    }

    func otherObservations() throws -> Double {
        let pool = try pool(columns: ["value"], rows: 1)
        try pool.write { try $0.execute(sql: "CREATE TABLE written (value); INSERT INTO written VALUES (0)") }
        let all = observe("growing", in: pool) {}
        let cost = try cost(of: Growth.otherWriteCount) {
            for _ in 0..<Growth.otherWriteCount {
                try pool.write { try $0.execute(sql: "UPDATE written SET value = value + 1") }
            }
        }
        for observation in all { observation.cancel() }
        return cost
    }

    /// Starts the observations, and returns when each has had its first value.
    private func observe(
        _ table: String, in pool: DatabasePool, onChange: @escaping @Sendable () -> Void
    ) -> [AnyDatabaseCancellable] {
        let first = DispatchSemaphore(value: 0)
        let observation =
            ValueObservation
            .tracking { try Int.fetchOne($0, sql: "SELECT SUM(value) FROM \(table)")! }
            .removeDuplicates()
        let all = (0..<size).map { _ in
            observation.start(
                in: pool, scheduling: .async(onQueue: DispatchQueue.global()), onError: { fatalError("\($0)") },
                onChange: { value in
                    if value == 0 { first.signal() } else { onChange() }
                })
        }
        for _ in 0..<size { first.wait() }
        return all
    }
}
