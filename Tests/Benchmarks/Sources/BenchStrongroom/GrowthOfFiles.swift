import Foundation
import Workload

// Costs that may grow with the size of a file, which BenchC has filled.

extension GrowthWork {
    private var configuration: Configuration { Work.configuration("x'\(Workload.rotationKeys[turn % 2])'") }

    private var rowCount: Int { size * Workload.payloadRowsPerMegabyte }

    func opening() throws -> Double {
        try cost(of: Growth.openingCount) {
            for _ in 0..<Growth.openingCount {
                let queue = try DatabaseQueue(path: path, configuration: configuration)
                let bytes = try queue.read { try length($0, row: rowCount / 2) }
                precondition(bytes == Workload.payloadSize)
                try queue.close()
            }
        }
    }

    func reads() throws -> Double {
        let pool = try DatabasePool(path: path, configuration: configuration)
        return try cost(of: Growth.readCount) {
            let bytes = try (0..<Growth.readCount).reduce(0) { sum, n in
                // 7,919 is prime, so that reads are scattered.
                try sum + pool.read { try length($0, row: 1 + n * 7_919 % rowCount) }
            }
            precondition(bytes == Growth.readCount * Workload.payloadSize)
        }
    }

    private func length(_ db: Database, row: Int) throws -> Int {
        try Data.fetchOne(db, sql: "SELECT data FROM payload WHERE rowid = ?", arguments: [row])!.count
    }

    func backup() throws -> Double {
        let pool = try DatabasePool(path: path, configuration: configuration)
        let copy = try DatabaseQueue(path: path + ".backup", configuration: configuration)
        return try cost(of: size) { try pool.backup(to: copy) }
    }

    /// Done once: it can't be repeated.
    func rotation() throws -> Double {
        let pool = try DatabasePool(path: path, configuration: configuration)
        let start = now()
        try pool.changeKey(to: Workload.rotationKeys[(turn + 1) % 2])
        return (now() - start) / Double(size)
    }
}
