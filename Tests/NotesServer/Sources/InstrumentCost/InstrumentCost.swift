import Foundation
import Metrics
import Strongroom
import Tracing

/// Prints the cost of metrics and spans for reads of one row, in percent: `InstrumentCost FOLDER`.
///
/// Each round measures a pool without them, with metrics, and with spans that go nowhere. The median of the ratios
/// counts.
@main
struct InstrumentCost {
    static let reads = 20_000
    static let rounds = 15

    static func main() throws {
        guard CommandLine.arguments.count == 2 else { exit(2) }
        let folder = CommandLine.arguments[1]
        let plain = try pool(folder + "/plain.db"), measured = try pool(folder + "/metrics.db")
        let traced = try pool(folder + "/spans.db") { $0.tracing = DatabaseTracing() }
        let metrics = DatabaseMetrics(measured)
        var ratios: [(metrics: Double, spans: Double)] = []
        var times: [Double] = []
        for round in 0..<rounds {
            let base = try time(plain), withMetrics = try time(measured) { metrics.report() }
            let withSpans = try time(traced), again = try time(plain)
            guard round > 0 else { continue }
            let mean = (base + again) / 2
            times.append(mean)
            ratios.append((withMetrics / mean, withSpans / mean))
        }
        print("read \(Int(median(times) / Double(reads) * 1e9)) ns")
        print("metrics \(percent(ratios.map(\.metrics)))")
        print("spans \(percent(ratios.map(\.spans)))")
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

    private static func time(_ pool: DatabasePool, _ end: () -> Void = {}) throws -> Double {
        let start = DispatchTime.now().uptimeNanoseconds
        var sum = 0
        for x in 0..<reads {
            sum &+= try pool.read { db in
                try Int.fetchOne(db, sql: "SELECT y FROM point WHERE x = ?", arguments: [x % 1000]) ?? 0
            }
        }
        end()
        precondition(sum > 0)
        return Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

    private static func percent(_ ratios: [Double]) -> String { String(format: "%.1f %%", (median(ratios) - 1) * 100) }
}
