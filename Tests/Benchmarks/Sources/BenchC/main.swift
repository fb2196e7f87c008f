import CWork
import Workload

// `BenchC prepare FOLDER CHINOOK` makes the databases that all programs work on;
// `BenchC prepareRotation MEGABYTES FILE` and `BenchC prepareDay FILE` others.
let words = CommandLine.arguments
if words.count == 4, words[1] == "prepare" {
    prepare(folder: words[2], chinook: words[3])
} else if words.count == 4, words[1] == "prepareRotation" {
    prepareRotation(megabytes: Int64(words[2])!, path: words[3])
} else if words.count == 3, words[1] == "prepareDay" {
    prepareDay(path: words[2])
} else {
    let call = Call()
    call.report(try outcome(of: call))
}

func outcome(of call: Call) throws -> Outcome {
    let size = Int64(call.size)
    switch call.item {
    case .openRawKey: return openings(call, Workload.keySpec)
    case .openKeySpec: return openings(call, Workload.derivedKeySpec)
    case .openPassphrase: return openings(call, Workload.passphrase)
    case .openFiveThreads: return openFiveTimes(call)
    case .rotation: return rotate(call)
    case .concurrentReaders: return concurrentReaders(call, accesses: Workload.accessesPerReader) { $0.read($1) }
    case .concurrentScans:
        return concurrentReaders(call, accesses: Workload.scansPerReader) { session, _ in session.scan() }
    case .readsBesideWrite: return readsBesideWrite(call)
    default: break
    }
    let db = cwork_open(call.path, Workload.keySpec)
    defer { cwork_close(db) }
    cwork_execute(db, Workload.clearInserted)
    warm(db, call.item)
    switch call.item {
    case .cursorMemory: return .memory(check: cwork_rows(db, Workload.selectMany, 2, size))
    case .writeLatency: return writeLatency(call, db)
    case .observedInserts: return try compare(db) { inserts(db, size) }
    case .observedTransactions: return try compare(db) { transactions(db, size) }
    default: return .timing { work(call.item, db, size) }
    }
}

/// Fills the page cache as far as it goes, as the other programs do.
func warm(_ db: OpaquePointer?, _ item: Item) {
    if let select = item.warmUp { _ = cwork_one(db, select) }
}

func work(_ item: Item, _ db: OpaquePointer?, _ size: Int64) -> Int64 {
    switch item {
    case .rowsByIndex, .rowsByName, .rowsAsRecords, .rowsAsCodable, .rowsAsGenerated:
        return cwork_rows(db, Workload.selectWide, 10, size)
    case .rowsInArray, .recordsInArray, .codableInArray, .generatedInArray:
        return cwork_rows_in_array(db, Workload.selectWide, size)
    case .mixedRecords, .mixedCodable, .mixedGenerated: return cwork_mixed_in_array(db, Workload.selectMixed, size)
    case .rowsOfText: return cwork_texts(db, Workload.selectTexts, size)
    case .rowsOfBlobs: return cwork_blobs(db, Workload.selectBlobs, size)
    case .joinedTracks: return cwork_tracks(db, Workload.selectTracks, size)
    case .joinedInvoices: return cwork_invoice_lines(db, Workload.selectInvoiceLines, Workload.customerCount, size)
    case .pointReadInAccess: return cwork_points(db, Workload.selectPoint, size, Workload.pointCount, 0)
    case .pointReadPool, .pointReadAwait:
        return cwork_points(db, Workload.selectPoint, size, Workload.pointCount, 1)
    case .pointReadMainActor: return cwork_points_handed_over(db, Workload.selectPoint, size, Workload.pointCount)
    case .insertsPositional, .insertsRecords, .insertsCodable, .insertsGenerated: return inserts(db, size)
    case .smallTransactions: return transactions(db, size)
    case .insertsOfText:
        cwork_insert_texts(db, Workload.insertInsertedText, Workload.title, Workload.body, size)
        return cwork_one(db, Workload.countInsertedTexts)
    case .insertsOfBlobs:
        cwork_insert_blobs(db, Workload.insertInsertedBlob, Int32(Workload.blobSize), size)
        return cwork_one(db, Workload.countInsertedBlobs)
    default: fatalError("\(item) is done elsewhere")
    }
}

func inserts(_ db: OpaquePointer?, _ size: Int64) -> Int64 {
    cwork_inserts(db, Workload.insert, Workload.countInserted, 10, size)
}

func transactions(_ db: OpaquePointer?, _ size: Int64) -> Int64 {
    cwork_small_transactions(db, Workload.insert, Workload.countInserted, 10, size)
}

/// C has no observations: the work against itself tells how much the figures of the others are worth.
func compare(_ db: OpaquePointer?, _ work: @escaping () -> Int64) throws -> Outcome {
    try .comparing(prepare: { cwork_execute(db, Workload.clearInserted) }, plain: work, observed: { try $0(work) })
}
