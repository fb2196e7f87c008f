import Foundation
import Workload

@main
struct Program {
    /// Not asynchronous: callgrind can't run a program whose main function is.
    static func main() throws {
        if let growth = GrowthWork(CommandLine.arguments) { return print(try growth.cost()) }
        let work = Work(call: Call())
        guard work.isAwaited else { return work.call.report(try work.outcome()) }
        Task {
            do {
                work.call.report(try await work.awaitedOutcome())
                exit(0)
            } catch {
                fatalError("\(error)")
            }
        }
        dispatchMain()
    }
}

/// The work, in the interface that GRDB and Strongroom share.
struct Work: Sendable {
    let call: Call

    var size: Int64 { Int64(call.size) }

    var isAwaited: Bool { call.item == .pointReadAwait || call.item == .pointReadMainActor }

    func awaitedOutcome() async throws -> Outcome {
        let pool = try warmPool()
        let start = now()
        let check = try await call.item == .pointReadAwait ? awaitedPoints(pool) : pointsAwaitedByMainActor(pool)
        return Outcome(check: check, values: [now() - start])
    }

    func outcome() throws -> Outcome {
        switch call.item {
        case .openRawKey: return try openings(Workload.keySpec)
        case .openKeySpec: return try openings(Workload.derivedKeySpec)
        case .openPassphrase: return try openings(Workload.passphrase)
        case .openFiveThreads: return try openFiveThreads()
        case .rotation: return try rotation()
        default: return try outcome(warmPool())
        }
    }

    private func warmPool() throws -> DatabasePool {
        let pool = try DatabasePool(path: call.path, configuration: Self.configuration(Workload.keySpec))
        try pool.write { try $0.execute(sql: Workload.clearInserted) }
        if let select = call.item.warmUp {
            _ = try pool.read { try Int64.fetchOne($0, sql: select) }
        }
        return pool
    }

    /// All that needs a pool and a thread of its own.
    func outcome(_ pool: DatabasePool) throws -> Outcome {
        switch call.item {
        case .cursorMemory: .memory(check: try cursor(pool))
        case .concurrentReaders:
            try concurrentReaders(pool, accesses: Workload.accessesPerReader) { try range(pool, $0) }
        case .concurrentScans: try concurrentReaders(pool, accesses: Workload.scansPerReader) { _ in try scan(pool) }
        case .readsBesideWrite: try readsBesideWrite(pool)
        case .writeLatency: try writeLatency(pool)
        case .observedInserts, .observedTransactions: try observed(pool)
        default: try .timing { try work(pool) }
        }
    }

    static func configuration(_ key: String) -> Configuration {
        var configuration = Configuration()
        configuration.maximumReaderCount = 8
        // A reader that meets the log's index while it changes takes the write lock for an instant.
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { db in
            try db.setKey(key)
            try db.execute(sql: "PRAGMA synchronous = NORMAL")
        }
        return configuration
    }

    func work(_ pool: DatabasePool) throws -> Int64 {
        switch call.item {
        case .pointReadInAccess: return try pool.read { db in try (0..<size).reduce(0) { try $0 + point(db, $1) } }
        case .pointReadPool:
            var sum: Int64 = 0
            for n in 0..<size { sum += try pool.read { try point($0, n) } }
            return sum
        case .rowsByIndex: return try pool.read(rowsByIndex)
        case .rowsByName: return try pool.read(rowsByName)
        case .rowsAsRecords: return try pool.read { try records(PlainWide.self, $0) }
        case .rowsAsCodable: return try pool.read { try records(CodableWide.self, $0) }
        case .rowsAsGenerated: return try pool.read { try records(GeneratedWide.self, $0) }
        case .rowsInArray: return try pool.read(rowsInArray)
        case .recordsInArray: return try pool.read { try recordsInArray(PlainWide.self, $0) }
        case .codableInArray: return try pool.read { try recordsInArray(CodableWide.self, $0) }
        case .generatedInArray: return try pool.read { try recordsInArray(GeneratedWide.self, $0) }
        case .mixedRecords: return try pool.read { try mixedInArray(PlainMixed.self, $0) }
        case .mixedCodable: return try pool.read { try mixedInArray(CodableMixed.self, $0) }
        case .mixedGenerated: return try pool.read { try mixedInArray(GeneratedMixed.self, $0) }
        case .rowsOfText: return try pool.read(texts)
        case .rowsOfBlobs: return try pool.read(blobs)
        case .joinedTracks: return try pool.read(tracks)
        case .joinedInvoices:
            return try (0..<size).reduce(0) { sum, n in try sum + pool.read { try invoiceLines($0, n) } }
        case .insertsPositional: return try pool.write(insertsPositional)
        case .insertsRecords: return try pool.write { try inserts(PlainWide.self, $0) }
        case .insertsCodable: return try pool.write { try inserts(CodableWide.self, $0) }
        case .insertsGenerated: return try pool.write { try inserts(GeneratedWide.self, $0) }
        case .insertsOfText: return try pool.write(insertsOfText)
        case .insertsOfBlobs: return try pool.write(insertsOfBlobs)
        case .smallTransactions: return try smallTransactions(pool)
        default: fatalError("\(call.item) is done elsewhere")
        }
    }
}
