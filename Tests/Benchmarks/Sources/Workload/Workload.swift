import Foundation

/// One piece of work that all programs do alike.
public enum Item: String, CaseIterable, Sendable {
    case rowsByIndex
    case rowsByName
    case rowsAsRecords
    case rowsAsCodable
    case pointReadInAccess
    case insertsPositional
    case insertsRecords
    case insertsCodable
    case smallTransactions
    case pointReadPool
    case pointReadAwait
    case openFiveThreads

    public var title: String {
        switch self {
        case .rowsByIndex: "rows of ten integers, by index"
        case .rowsByName: "rows of ten integers, by name"
        case .rowsAsRecords: "rows of ten integers, as records"
        case .rowsAsCodable: "rows of ten integers, as Codable records"
        case .pointReadInAccess: "point reads inside one access"
        case .insertsPositional: "inserts of ten integers, positional arguments"
        case .insertsRecords: "inserts of ten integers, as records"
        case .insertsCodable: "inserts of ten integers, as Codable records"
        case .smallTransactions: "small write transactions"
        case .pointReadPool: "point reads through a pool, each its own transaction"
        case .pointReadAwait: "the same with await"
        case .openFiveThreads: "pool opened with a passphrase, first read on 5 threads"
        }
    }

    /// How often the work is done, from small to large; the last one counts for the budget.
    public var sizes: [Int] {
        switch self {
        case .rowsByIndex, .rowsByName, .rowsAsRecords, .rowsAsCodable: [2_000, 20_000, 200_000]
        case .pointReadInAccess: [2_000, 20_000, 200_000]
        case .insertsPositional, .insertsRecords, .insertsCodable: [500, 5_000, 50_000]
        case .smallTransactions: [200, 2_000]
        case .pointReadPool: [1_000, 10_000, 100_000]
        case .pointReadAwait: [1_000, 10_000, 50_000]
        case .openFiveThreads: [1]
        }
    }

    /// The time allowed, as a multiple of plain C's.
    public var budget: Double {
        switch self {
        case .rowsByIndex: 1.1
        case .rowsByName: 1.3
        case .rowsAsRecords: 1.4
        case .rowsAsCodable: 2
        case .pointReadInAccess: 1.5
        case .insertsPositional: 1.3
        case .insertsRecords: 2
        case .insertsCodable: 2.5
        case .smallTransactions: 1.2
        case .pointReadPool: 2
        case .pointReadAwait: 8
        case .openFiveThreads: 1.15
        }
    }

    /// What the work must have computed, so that nobody is fast by doing nothing.
    public func expectedCheck(size: Int) -> Int64 {
        let n = Int64(size)
        switch self {
        case .rowsByIndex, .rowsByName, .rowsAsRecords, .rowsAsCodable:
            return n * (n - 1) / 2 * 10 + n * 45
        case .pointReadInAccess, .pointReadPool, .pointReadAwait:
            return (0..<n).reduce(0) { $0 + Workload.pointID($1) * 7 }
        case .insertsPositional, .insertsRecords, .insertsCodable, .smallTransactions:
            return n
        case .openFiveThreads:
            return 5
        }
    }
}

public enum Workload {
    public static let passphrase = "open sesame"

    /// A key that needs no derivation, for all work that is not about opening.
    public static let keySpec = "x'2dd29ca851e7b56e4697b0e1f08507293d761a05ce4d1b628663f411a8086d99'"

    public static let columns = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]
    public static let createWide = "CREATE TABLE wide (a, b, c, d, e, f, g, h, i, j)"
    public static let createPoint = "CREATE TABLE point (id INTEGER PRIMARY KEY, value INTEGER)"
    public static let createInserted = "CREATE TABLE inserted (a, b, c, d, e, f, g, h, i, j)"
    public static let insertWide = "INSERT INTO wide VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    public static let insertPoint = "INSERT INTO point VALUES (?, ?)"
    public static let insert = "INSERT INTO inserted VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    public static let selectWide = "SELECT a, b, c, d, e, f, g, h, i, j FROM wide LIMIT ?"
    public static let selectPoint = "SELECT value FROM point WHERE id = ?"
    public static let countInserted = "SELECT COUNT(*) FROM inserted"
    public static let pointCount = 10_000

    /// Which row the `n`th point read asks for; its value is seven times its id.
    public static func pointID(_ n: Int64) -> Int64 {
        (n * 7919) % Int64(pointCount)
    }
}

/// The command line that the programs share: ITEM SIZE FILE. Prints seconds and the check.
public struct Call: Sendable {
    public let item: Item
    public let size: Int
    public let path: String

    public init() {
        let words = CommandLine.arguments
        guard words.count == 4, let item = Item(rawValue: words[1]), let size = Int(words[2]) else {
            fatalError("usage: \(words[0]) ITEM SIZE FILE")
        }
        self.item = item
        self.size = size
        self.path = words[3]
    }

    public func report(seconds: Double, check: Int64) {
        print(seconds, check)
    }
}

/// Seconds of a steady clock.
public func now() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Runs `work` and gives its time beside its result.
public func timed(_ work: () throws -> Int64) rethrows -> (seconds: Double, check: Int64) {
    let start = now()
    let check = try work()
    return (now() - start, check)
}
