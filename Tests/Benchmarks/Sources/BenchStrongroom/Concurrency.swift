import Foundation
import Workload

extension Work {
    /// One access that reads twenty points.
    func range(_ pool: DatabasePool, _ n: Int64) throws -> Int64 {
        try points(pool, from: Workload.rangeStart(n), count: Workload.rangeLength)
    }

    /// One access that reads all points.
    func scan(_ pool: DatabasePool) throws -> Int64 {
        try points(pool, from: 0, count: Workload.pointCount)
    }

    private func points(_ pool: DatabasePool, from first: Int64, count: Int64) throws -> Int64 {
        try pool.read { db in
            let values = try Int64.fetchCursor(db, sql: Workload.selectRange, arguments: [first, first + count])
            var sum: Int64 = 0
            while let value = try values.next() { sum += value }
            return sum
        }
    }

    /// Opens that many readers, by keeping them busy simultaneously.
    func openReaders(_ count: Int, _ pool: DatabasePool) {
        let all = Rendezvous(count)
        _ = onThreads(count) { _ in
            try pool.read { db in
                all.wait()
                return try Int64.fetchOne(db, sql: Workload.selectSeven)!
            }
        }
    }

    func concurrentReaders(
        _ pool: DatabasePool, accesses: Int64, _ read: @escaping @Sendable (Int64) throws -> Int64
    ) throws -> Outcome {
        openReaders(call.size, pool)
        return .timing {
            onThreads(call.size) { _ in try (0..<accesses).reduce(0) { try $0 + read($1) } }
        }
    }

    func readsBesideWrite(_ pool: DatabasePool) throws -> Outcome {
        openReaders(2, pool)
        return .besideWrite { progress in
            try pool.writeWithoutTransaction { db in
                try db.inTransaction {
                    try progress.insert { try insert(db, $0) }
                    return .rollback
                }
            }
        } read: { _ in
            let sum = try (0..<size / 2).reduce(0) { try $0 + range(pool, $1) }
            // Nothing of the write is to be seen.
            return try sum + pool.read { try Int64.fetchOne($0, sql: Workload.countInserted)! }
        }
    }

    func writeLatency(_ pool: DatabasePool) throws -> Outcome {
        openReaders(2, pool)
        return try .latencies(of: call.size) { n in
            try pool.write { try insert($0, n) }
        } read: { _, n in
            try range(pool, n)
        } check: {
            try pool.read { try Int64.fetchOne($0, sql: Workload.countInserted)! }
        }
    }
}
