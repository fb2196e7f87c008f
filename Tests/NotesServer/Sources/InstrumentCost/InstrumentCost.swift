import Foundation
import Metrics
import Strongroom
import Tracing

/// Prints the cost of metrics and spans for reads of one row, in percent: `InstrumentCost FOLDER LIMIT`.
///
/// Each round measures a pool without them, one with metrics, one with spans that nothing records, and the first again.
/// The median of the ratios counts. Fails when one of the two costs more than LIMIT percent in each of three attempts:
/// other programs only add to the costs.
@main
struct InstrumentCost {
    static let reads = 2000
    static let rounds = 150

    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let limit = Double(arguments[2]) else { exit(2) }
        let folder = arguments[1]
        let plain = try pool(folder + "/plain.db"), measured = try pool(folder + "/metrics.db")
        let traced = try pool(folder + "/spans.db") { $0.tracing = DatabaseTracing() }
        let metrics = DatabaseMetrics(measured)
        for _ in 0..<3 {
            var times: [Double] = [], withMetrics: [Double] = [], withSpans: [Double] = []
            for _ in 0..<rounds {
                let base = try time(plain), first = try time(measured), second = try time(traced)
                let mean = try (base + time(plain)) / 2
                times.append(mean)
                withMetrics.append(first / mean)
                withSpans.append(second / mean)
            }
            metrics.report()
            let costs = [withMetrics, withSpans].map { (median($0) - 1) * 100 }
            print("a read of one row: \(Int(median(times) / Double(reads) * 1e9)) ns,", terminator: " ")
            print(String(format: "with metrics %+.1f %%, with spans that nothing records %+.1f %%", costs[0], costs[1]))
            if costs.allSatisfy({ $0 <= limit }) { return }
        }
        exit(1)
    }

    private static func pool(_ path: String, _ change: (inout Configuration) -> Void = { _ in }) throws -> DatabasePool
    {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: try .rawKey([UInt8](repeating: 42, count: 32)))
        change(&configuration)
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.write { db in
            try db.execute(sql: "CREATE TABLE point (x INTEGER PRIMARY KEY, y INTEGER)")
            for x in 0..<1000 { try db.execute(sql: "INSERT INTO point VALUES (?, ?)", arguments: [x, 7 * x]) }
        }
        return pool
    }

    private static func time(_ pool: DatabasePool) throws -> Double {
        let start = DispatchTime.now().uptimeNanoseconds
        var sum = 0
        for x in 0..<reads {
            sum &+= try pool.read { db in
                try Int.fetchOne(db, sql: "SELECT y FROM point WHERE x = ?", arguments: [x % 1000]) ?? 0
            }
        }
        precondition(sum > 0)
        return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}
