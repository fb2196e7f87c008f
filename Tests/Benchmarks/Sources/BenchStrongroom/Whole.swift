import Foundation
import Workload

// Work on whole databases: opening, closing, changing the key.

extension Work {
    func openings(_ key: String) throws -> Outcome {
        let configuration = Self.configuration(key)
        var queue: DatabaseQueue!
        return try .timing(count: call.size) {
            queue = try DatabaseQueue(path: call.path, configuration: configuration)
            return try queue.read { try Int64.fetchOne($0, sql: Workload.selectSeven)! }
        } then: {
            try queue.close()
        }
    }

    func openFiveThreads() throws -> Outcome {
        try .timing {
            let pool = try DatabasePool(path: call.path, configuration: Self.configuration(Workload.passphrase))
            // Each read waits for the others: five connections.
            let all = Rendezvous(5)
            let sum = onThreads(5) { _ in
                try pool.read { db in
                    all.wait()
                    return try Int64.fetchOne(db, sql: Workload.selectSeven)!
                }
            }
            try pool.close()
            return sum
        }
    }

    func rotation() throws -> Outcome {
        let pool = try DatabasePool(path: call.path, configuration: Self.configuration("x'\(call.oldRotationKey)'"))
        _ = try pool.read { try Int64.fetchOne($0, sql: Workload.countPayload) }
        let outcome = try Outcome.timing {
            try pool.changeKey(to: call.newRotationKey)
            return 0
        }
        try pool.close()
        let again = try DatabaseQueue(path: call.path, configuration: Self.configuration("x'\(call.newRotationKey)'"))
        let check = try again.read { try Int64.fetchOne($0, sql: Workload.countPayload)! }
        try again.close()
        return Outcome(check: check, values: outcome.values)
    }
}
