/// One piece of work that all programs do alike.
public enum Item: String, CaseIterable, Sendable {
    case openRawKey, openKeySpec, openPassphrase, openFiveThreads
    case pointReadInAccess, pointReadPool, pointReadAwait, pointReadMainActor
    case rowsByIndex, rowsByName, rowsAsRecords, rowsAsCodable, rowsAsGenerated
    case rowsInArray, recordsInArray, codableInArray, generatedInArray
    case mixedRecords, mixedCodable, mixedGenerated
    case rowsOfText, rowsOfBlobs, joinedTracks, joinedInvoices
    case insertsPositional, insertsRecords, insertsCodable, insertsGenerated, insertsOfText, insertsOfBlobs,
        smallTransactions
    case cursorMemory
    case concurrentReaders, concurrentScans, readsBesideWrite, writeLatency
    case observedInserts, observedTransactions
    case rotation

    public var title: String {
        switch self {
        case .openRawKey: "openings with a raw key, first read included"
        case .openKeySpec: "openings with a derived key"
        case .openPassphrase: "openings with a passphrase"
        case .openFiveThreads: "pool opened with a passphrase, first read on 5 threads"
        case .pointReadInAccess: "point reads inside one access"
        case .pointReadPool: "point reads through a pool, each its own transaction"
        case .pointReadAwait: "the same with await, from a task"
        case .pointReadMainActor: "the same with await, from the main actor; in C handed to another thread and back"
        case .rowsByIndex: "rows of ten integers, by index"
        case .rowsByName: "rows of ten integers, by name"
        case .rowsAsRecords: "rows of ten integers, as records"
        case .rowsAsCodable: "rows of ten integers, as Codable records"
        case .rowsAsGenerated: "rows of ten integers, as generated records"
        case .rowsInArray: "rows of ten integers, all in an array, by name"
        case .recordsInArray: "rows of ten integers, as records in an array"
        case .codableInArray: "rows of ten integers, as Codable records in an array"
        case .generatedInArray: "rows of ten integers, as generated records in an array"
        case .mixedRecords: "rows of mixed columns, as records in an array"
        case .mixedCodable: "rows of mixed columns, as Codable records in an array"
        case .mixedGenerated: "rows of mixed columns, as generated records in an array"
        case .rowsOfText: "rows of two texts, by index"
        case .rowsOfBlobs: "rows of one blob of 16 kB, by index"
        case .joinedTracks: "chinook: tracks with album, artist and genre, as records"
        case .joinedInvoices: "chinook: the invoice lines of a customer, each its own access"
        case .insertsPositional: "inserts of ten integers, positional arguments"
        case .insertsRecords: "inserts of ten integers, as records"
        case .insertsCodable: "inserts of ten integers, as Codable records"
        case .insertsGenerated: "inserts of ten integers, as generated records"
        case .insertsOfText: "inserts of two texts"
        case .insertsOfBlobs: "inserts of one blob of 16 kB"
        case .smallTransactions: "small write transactions"
        case .cursorMemory: "peak memory of a cursor over that many rows"
        case .concurrentReaders: "readers at the same time, 4,000 accesses to 20 rows each"
        case .concurrentScans: "readers at the same time, 100 accesses to 10,000 rows each"
        case .readsBesideWrite: "reads by two readers beside a long write"
        case .writeLatency: "small write transactions beside two readers"
        case .observedInserts: "inserts while another table is observed, against the same unobserved"
        case .observedTransactions: "small transactions while another table is observed, against the same unobserved"
        case .rotation: "megabytes whose key is changed"
        }
    }

    /// The repetitions of the work, from small to large; the last one counts for the budget.
    public var sizes: [Int] {
        switch self {
        case .openRawKey, .openKeySpec: [1, 10, 100]
        case .openPassphrase: [1, 2, 3]
        case .openFiveThreads: [1]
        case .pointReadInAccess: [1_000, 10_000, 100_000]
        case .pointReadPool: [500, 5_000, 50_000]
        case .pointReadAwait, .pointReadMainActor: [300, 3_000, 30_000]
        case .rowsByIndex, .rowsByName, .rowsAsRecords, .rowsAsCodable, .rowsAsGenerated: [2_000, 20_000, 200_000]
        case .rowsInArray, .recordsInArray, .codableInArray, .generatedInArray: [2_000, 20_000, 200_000]
        case .mixedRecords, .mixedCodable, .mixedGenerated: [500, 5_000, 50_000]
        case .rowsOfText: [200, 2_000, 20_000]
        case .rowsOfBlobs: [20, 200, 2_000]
        case .joinedTracks: [35, 350, 3_500]
        case .joinedInvoices: [10, 100, 1_000]
        case .insertsPositional, .insertsRecords, .insertsCodable, .insertsGenerated: [500, 5_000, 50_000]
        case .insertsOfText: [200, 2_000, 20_000]
        case .insertsOfBlobs: [20, 200, 2_000]
        case .smallTransactions: [20, 200, 2_000]
        case .cursorMemory: [10_000, 100_000, 1_000_000]
        case .concurrentReaders: [1, 2, 4, 8]
        case .concurrentScans: [1, 2, 4]
        case .readsBesideWrite: [1_000, 4_000, 16_000]
        case .writeLatency: [200, 1_000, 5_000]
        case .observedInserts: [100, 1_000, 10_000]
        case .observedTransactions: [10, 100, 1_000]
        case .rotation: [10, 100, 1_000]
        }
    }

    /// Returns the number of rounds that are worth their time, when `rounds` were requested.
    public func rounds(of rounds: Int, size: Int) -> Int {
        switch self {
        case .cursorMemory: min(rounds, 2)
        case .rotation: size > 100 ? 1 : min(rounds, 3)
        default: rounds
        }
    }

    public func warmsUp(size: Int) -> Bool { self != .rotation || size <= 100 }

    public var measures: [Measure] {
        switch self {
        case .openRawKey, .openKeySpec:
            [Measure(name: "open", unit: .seconds, budget: .atMost(0.002)), Measure(name: "close", unit: .seconds)]
        case .openPassphrase:
            [Measure(name: "open", unit: .seconds, budget: .timesC(1.05)), Measure(name: "close", unit: .seconds)]
        case .openFiveThreads: [.time(1.05)]
        case .pointReadInAccess: [.time(1.25)]
        case .pointReadPool: [.time(1.5)]
        case .pointReadAwait: [.time(4)]
        case .pointReadMainActor: [.time(0.7)]
        case .rowsByIndex: [.time(1.05)]
        case .rowsByName: [.time(1.1)]
        case .rowsInArray: [.time()]
        case .rowsAsRecords, .recordsInArray: [.time(1.15)]
        case .rowsAsCodable, .codableInArray: [.time(1.5)]
        case .rowsAsGenerated, .generatedInArray: [.time(1.08)]
        case .mixedRecords: [.time(1.25)]
        case .mixedCodable: [.time(1.5)]
        case .mixedGenerated: [.time(1.15)]
        case .rowsOfText, .rowsOfBlobs, .joinedTracks, .joinedInvoices, .insertsOfText, .insertsOfBlobs: [.time()]
        case .concurrentReaders, .concurrentScans: [.time()]
        case .insertsPositional: [.time(1.2)]
        case .insertsRecords: [.time(1.5)]
        case .insertsCodable: [.time(2)]
        case .insertsGenerated: [.time(1.3)]
        case .smallTransactions: [.time(1.05)]
        case .cursorMemory: [Measure(name: "peak", unit: .bytes, budget: .growth(1.05))]
        case .readsBesideWrite: [.time(), Measure(name: "a row written", unit: .seconds)]
        case .writeLatency: [Measure(name: "p50", unit: .seconds), Measure(name: "p99", unit: .seconds)]
        case .observedInserts, .observedTransactions: [Measure(name: "cost", unit: .ratio, budget: .atMost(1.05))]
        case .rotation: [.time(1.1)]
        }
    }

    /// The required result of the work, so that no program is fast by doing nothing; nil where it is C's result.
    public func expectedCheck(size: Int) -> Int64? {
        let n = Int64(size)
        switch self {
        case .openRawKey, .openKeySpec, .openPassphrase: return n * 49
        case .openFiveThreads: return 5 * 49
        case .pointReadInAccess, .pointReadPool, .pointReadAwait, .pointReadMainActor:
            return (0..<n).reduce(0) { $0 + Workload.pointID($1) * 7 }
        case .rowsByIndex, .rowsByName, .rowsAsRecords, .rowsAsCodable, .rowsAsGenerated, .rowsInArray, .recordsInArray,
            .codableInArray, .generatedInArray:
            return n * (n - 1) / 2 * 10 + n * 45
        case .mixedRecords, .mixedCodable, .mixedGenerated: return nil
        case .rowsOfText: return n * Int64(Workload.title.utf8.count + Workload.body.utf8.count)
        case .rowsOfBlobs: return n * Int64(Workload.blobSize)
        case .joinedTracks, .joinedInvoices: return nil
        case .insertsPositional, .insertsRecords, .insertsCodable, .insertsGenerated, .insertsOfText,
            .insertsOfBlobs, .smallTransactions, .writeLatency:
            return n
        case .cursorMemory: return n * (n - 1) / 2 * 8
        case .concurrentReaders: return n * Workload.rangesSum(Workload.accessesPerReader)
        case .concurrentScans:
            return n * Workload.scansPerReader * 7 * Workload.pointCount * (Workload.pointCount - 1) / 2
        case .readsBesideWrite: return 2 * Workload.rangesSum(n / 2)
        case .observedInserts, .observedTransactions: return 2 * Int64(Workload.turns) * n
        case .rotation: return n * Int64(Workload.payloadRowsPerMegabyte)
        }
    }
}

/// One figure that an item gives.
public struct Measure: Sendable {
    public enum Unit: String, Sendable {
        case seconds, bytes, ratio
    }

    public enum Budget: Sendable, Equatable {
        /// A multiple of what plain C needs.
        case timesC(Double)
        /// A value of its own.
        case atMost(Double)
        /// The value at the largest size over the one at the smallest.
        case growth(Double)
    }

    public let name: String
    public let unit: Unit
    public var budget: Budget?
    /// The most that it may be of GRDB's value.
    public var mostOfPeer: Double?

    static func time(_ timesC: Double? = nil, ofPeer mostOfPeer: Double? = nil) -> Measure {
        Measure(name: "time", unit: .seconds, budget: timesC.map(Budget.timesC), mostOfPeer: mostOfPeer)
    }
}

extension Item {
    /// A query that touches the rows which the work needs, done before the clock starts; nil where opening is the work.
    public var warmUp: String? {
        switch self {
        case .rowsByIndex, .rowsByName, .rowsAsRecords, .rowsAsCodable, .rowsAsGenerated, .rowsInArray, .recordsInArray,
            .codableInArray, .generatedInArray:
            "SELECT SUM(i0) FROM wide"
        case .mixedRecords, .mixedCodable, .mixedGenerated: "SELECT SUM(LENGTH(body_text)) FROM mixed"
        case .rowsOfText: "SELECT SUM(LENGTH(body)) FROM texts"
        case .rowsOfBlobs: "SELECT SUM(LENGTH(data)) FROM blobs"
        case .joinedTracks: "SELECT COUNT(*) FROM Track"
        case .joinedInvoices: "SELECT COUNT(*) FROM InvoiceLine"
        case .cursorMemory: "SELECT SUM(b) FROM many"
        case .openRawKey, .openKeySpec, .openPassphrase, .openFiveThreads, .rotation: nil
        default: "SELECT SUM(value) FROM point"
        }
    }
}
