import Foundation
import Workload

extension Work {
    func point(_ db: Database, _ n: Int64) throws -> Int64 {
        try Int64.fetchOne(db, sql: Workload.selectPoint, arguments: [Workload.pointID(n)])!
    }

    func awaitedPoints(_ pool: DatabasePool) async throws -> Int64 {
        var sum: Int64 = 0
        for n in 0..<size { sum += try await pool.read { try point($0, n) } }
        return sum
    }

    @MainActor func pointsAwaitedByMainActor(_ pool: DatabasePool) async throws -> Int64 {
        var sum: Int64 = 0
        for n in 0..<size { sum += try await pool.read { try point($0, n) } }
        return sum
    }

    func rowsByIndex(_ db: Database) throws -> Int64 {
        let rows = try Row.fetchCursor(db, sql: Workload.selectWide, arguments: [size])
        var sum: Int64 = 0
        while let row = try rows.next() {
            for index in 0..<10 { sum += row[index] as Int64 }
        }
        return sum
    }

    func rowsByName(_ db: Database) throws -> Int64 {
        let rows = try Row.fetchCursor(db, sql: Workload.selectWide, arguments: [size])
        var sum: Int64 = 0
        while let row = try rows.next() {
            sum += sumByName(row)
        }
        return sum
    }

    func rowsInArray(_ db: Database) throws -> Int64 {
        try Row.fetchAll(db, sql: Workload.selectWide, arguments: [size]).reduce(0) { $0 + sumByName($1) }
    }

    private func sumByName(_ row: Row) -> Int64 {
        var sum: Int64 = row["i0"]
        sum += row["i1"] as Int64
        sum += row["i2"] as Int64
        sum += row["i3"] as Int64
        sum += row["i4"] as Int64
        sum += row["i5"] as Int64
        sum += row["i6"] as Int64
        sum += row["i7"] as Int64
        sum += row["i8"] as Int64
        return sum + (row["i9"] as Int64)
    }

    func records<Record: WideRecord>(_ type: Record.Type, _ db: Database) throws -> Int64 {
        let records = try Record.fetchCursor(db, sql: Workload.selectWide, arguments: [size])
        var sum: Int64 = 0
        while let record = try records.next() { sum += record.sum }
        return sum
    }

    func recordsInArray<Record: WideRecord>(_ type: Record.Type, _ db: Database) throws -> Int64 {
        try Record.fetchAll(db, sql: Workload.selectWide, arguments: [size]).reduce(0) { $0 + $1.sum }
    }

    func mixedInArray<Record: MixedRecord>(_ type: Record.Type, _ db: Database) throws -> Int64 {
        try Record.fetchAll(db, sql: Workload.selectMixed, arguments: [size]).reduce(0) { $0 + $1.check }
    }

    func cursor(_ pool: DatabasePool) throws -> Int64 {
        try pool.read { db in
            let rows = try Row.fetchCursor(db, sql: Workload.selectMany, arguments: [size])
            var sum: Int64 = 0
            while let row = try rows.next() { sum += (row[0] as Int64) + (row[1] as Int64) }
            return sum
        }
    }

    func texts(_ db: Database) throws -> Int64 {
        let rows = try Row.fetchCursor(db, sql: Workload.selectTexts, arguments: [size])
        var bytes = 0
        while let row = try rows.next() { bytes += (row[0] as String).utf8.count + (row[1] as String).utf8.count }
        return Int64(bytes)
    }

    func blobs(_ db: Database) throws -> Int64 {
        let rows = try Row.fetchCursor(db, sql: Workload.selectBlobs, arguments: [size])
        var bytes = 0
        while let row = try rows.next() { bytes += (row[0] as Data).count }
        return Int64(bytes)
    }

    func tracks(_ db: Database) throws -> Int64 {
        let tracks = try TrackLine.fetchCursor(db, sql: Workload.selectTracks, arguments: [size])
        var sum: Int64 = 0
        while let track = try tracks.next() { sum += track.check }
        return sum
    }

    func invoiceLines(_ db: Database, _ n: Int64) throws -> Int64 {
        let customer = 1 + n % Workload.customerCount
        let lines = try InvoiceLine.fetchCursor(db, sql: Workload.selectInvoiceLines, arguments: [customer])
        var sum: Int64 = 0
        while let line = try lines.next() { sum += line.check }
        return sum
    }
}

struct TrackLine: FetchableRecord {
    var id, milliseconds: Int64
    var name, album, artist, genre: String

    init(row: Row) {
        id = row["TrackId"]
        name = row["Name"]
        album = row["Title"]
        artist = row["Artist"]
        genre = row["Genre"]
        milliseconds = row["Milliseconds"]
    }

    var check: Int64 {
        let bytes = name.utf8.count + album.utf8.count + artist.utf8.count + genre.utf8.count
        return id + milliseconds + Int64(bytes)
    }
}

struct InvoiceLine: FetchableRecord {
    var invoice, quantity: Int64
    var date, track: String
    var price: Double

    init(row: Row) {
        invoice = row["InvoiceId"]
        date = row["InvoiceDate"]
        quantity = row["Quantity"]
        price = row["UnitPrice"]
        track = row["Name"]
    }

    var check: Int64 {
        let bytes = date.utf8.count + track.utf8.count
        return invoice + quantity + Int64(price * 100 + 0.5) + Int64(bytes)
    }
}
