import Dispatch
import Foundation
import Workload

// One text for both programs; the manifest says whose.
#if PEER
import GRDB
#else
import Strongroom
#endif

@main
struct Program {
    static func main() async throws {
        let work = Work(call: Call())
        try await work.run()
    }
}

/// The work, in GRDB's interface.
struct Work: Sendable {
    let call: Call

    var size: Int64 { Int64(call.size) }

    func run() async throws {
        if call.item == .openFiveThreads {
            let (seconds, check) = try timed(openAndRead)
            return call.report(seconds: seconds, check: check)
        }
        let pool = try DatabasePool(path: call.path, configuration: configuration(passphrase: Workload.keySpec))
        try await pool.write { try $0.execute(sql: "DELETE FROM inserted") }
        // Warm the connections that will do the work.
        _ = try await pool.read { try Int64.fetchOne($0, sql: "SELECT SUM(a) FROM wide") }
        let start = now()
        let check = call.item == .pointReadAwait ? try await awaitPoints(pool) : try work(pool)
        call.report(seconds: now() - start, check: check)
    }

    func configuration(passphrase: String) -> Configuration {
        var configuration = Configuration()
        configuration.maximumReaderCount = 5
        configuration.prepareDatabase { db in
            try db.setKey(passphrase)
            try db.execute(sql: "PRAGMA synchronous = NORMAL")
        }
        return configuration
    }

    func point(_ db: Database, _ n: Int64) throws -> Int64 {
        try Int64.fetchOne(db, sql: Workload.selectPoint, arguments: [Workload.pointID(n)])!
    }

    func insert(_ db: Database, _ n: Int64) throws {
        try db.execute(sql: Workload.insert, arguments: [n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9])
    }

    func work(_ pool: DatabasePool) throws -> Int64 {
        switch call.item {
        case .rowsByIndex:
            return try pool.read { db in
                let rows = try Row.fetchCursor(db, sql: Workload.selectWide, arguments: [size])
                var sum: Int64 = 0
                while let row = try rows.next() {
                    for index in 0..<10 { sum += row[index] as Int64 }
                }
                return sum
            }
        case .rowsByName:
            return try pool.read { db in
                let rows = try Row.fetchCursor(db, sql: Workload.selectWide, arguments: [size])
                var sum: Int64 = 0
                while let row = try rows.next() {
                    let abc = (row["a"] as Int64) + (row["b"] as Int64) + (row["c"] as Int64)
                    let def = (row["d"] as Int64) + (row["e"] as Int64) + (row["f"] as Int64)
                    let ghij = (row["g"] as Int64) + (row["h"] as Int64) + (row["i"] as Int64) + (row["j"] as Int64)
                    sum += abc + def + ghij
                }
                return sum
            }
        case .pointReadInAccess:
            return try pool.read { db in
                var sum: Int64 = 0
                for n in 0..<size { sum += try point(db, n) }
                return sum
            }
        case .pointReadPool:
            var sum: Int64 = 0
            for n in 0..<size { sum += try pool.read { try point($0, n) } }
            return sum
        case .insertsPositional:
            return try pool.write { db in
                for n in 0..<size { try insert(db, n) }
                return try Int64.fetchOne(db, sql: Workload.countInserted)!
            }
        case .rowsAsRecords: return try pool.read { try fetch(PlainWide.self, $0) }
        case .rowsAsCodable: return try pool.read { try fetch(CodableWide.self, $0) }
        case .insertsRecords: return try pool.write { try insert(PlainWide.self, $0) }
        case .insertsCodable: return try pool.write { try insert(CodableWide.self, $0) }
        case .smallTransactions:
            for n in 0..<size { try pool.write { try insert($0, n) } }
            return try pool.read { try Int64.fetchOne($0, sql: Workload.countInserted)! }
        case .pointReadAwait, .openFiveThreads:
            return 0
        }
    }

    func awaitPoints(_ pool: DatabasePool) async throws -> Int64 {
        var sum: Int64 = 0
        for n in 0..<size { sum += try await pool.read { try point($0, n) } }
        return sum
    }

    func openAndRead() throws -> Int64 {
        let pool = try DatabasePool(path: call.path + "-passphrase", configuration: configuration(passphrase: Workload.passphrase))
        let sum = Sum()
        DispatchQueue.concurrentPerform(iterations: 5) { _ in
            try! sum.add(pool.read { try Int64.fetchOne($0, sql: "SELECT COUNT(*) FROM wide WHERE a = 7")! })
        }
        return sum.value
    }
}

final class Sum: @unchecked Sendable {
    private let lock = NSLock()
    private(set) var value: Int64 = 0
    func add(_ other: Int64) { lock.withLock { value += other } }
}
