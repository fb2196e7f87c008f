import Foundation
import Workload

extension Work {
    /// The cost of an observation for a writer that changes another table.
    func observed(_ pool: DatabasePool) throws -> Outcome {
        try .comparing {
            try pool.write { try $0.execute(sql: Workload.clearInserted) }
        } plain: {
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
        guard call.item == .observedInserts else { return try smallTransactions(pool) }
        return try pool.write(insertsPositional)
    }
}

private let sumOfPoints = "SELECT SUM(value) FROM point"
