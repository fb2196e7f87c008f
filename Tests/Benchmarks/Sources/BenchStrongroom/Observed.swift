import Foundation
import Workload

extension Work {
    /// What an observation costs a writer that changes another table.
    func observed(_ pool: DatabasePool) throws -> Outcome {
        try .comparing {
            try observedWork(pool)
        } observed: { measure in
            let (first, changed) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let count = Sum()
            let sum = try pool.read { try Int64.fetchOne($0, sql: sumOfPoints)! }
            let observation = ValueObservation.tracking { db in try Int64.fetchOne(db, sql: sumOfPoints)! }
            let cancellable = observation.start(
                in: pool, scheduling: .async(onQueue: .global()),
                onError: { fatalError("\($0)") },
                onChange: { value in
                    count.add(1)
                    (value == sum ? first : changed).signal()
                })
            first.wait()
            let check = try measure { try observedWork(pool) }
            // It watched all the while, and had nothing to tell; GRDB may tell the first value twice.
            precondition(count.value <= 2)
            try pool.write { try $0.execute(sql: "UPDATE point SET value = value + 1 WHERE id = 7") }
            changed.wait()
            cancellable.cancel()
            try pool.write { try $0.execute(sql: "UPDATE point SET value = value - 1 WHERE id = 7") }
            return check
        }
    }

    private func observedWork(_ pool: DatabasePool) throws -> Int64 {
        let count: (Database) throws -> Int64 = { try Int64.fetchOne($0, sql: Workload.countInserted)! }
        let before = try pool.read(count)
        if call.item == .observedInserts {
            try pool.write { db in for n in 0..<size { try insert(db, n) } }
        } else {
            for n in 0..<size { try pool.write { try insert($0, n) } }
        }
        return try pool.read(count) - before
    }
}

private let sumOfPoints = "SELECT SUM(value) FROM point"
