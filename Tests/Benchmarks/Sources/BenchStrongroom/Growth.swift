import Foundation
import Workload

/// `BenchStrongroom growth QUANTITY SIZE FILE TURN`: prints the cost of a unit, in seconds.
struct GrowthWork: Sendable {
    let growth: Growth
    let size: Int
    let path: String
    /// The number of earlier changes of the file's key.
    let turn: Int

    /// Nil if the command line is for other work.
    init?(_ words: [String]) {
        guard words.count == 6, words[1] == "growth", let growth = Growth(rawValue: words[2]), let size = Int(words[3]),
            let turn = Int(words[5])
        else { return nil }
        self.growth = growth
        self.size = size
        path = words[4]
        self.turn = turn
    }

    func cost() throws -> Double {
        switch growth {
        case .rows: try rows()
        case .inserts: try inserts()
        case .columns: try columns()
        case .width: try width()
        case .opening: try opening()
        case .reads: try reads()
        case .backup: try backup()
        case .rotation: try rotation()
        case .readers: try readers()
        case .observations: try observations()
        case .otherObservations: try otherObservations()
        case .keySlots: try keySlots()
        }
    }

    /// The mean time of a unit of `work`, which has been done once before.
    func cost(of count: Int, _ work: () throws -> Void) rethrows -> Double {
        try work()
        let start = now()
        try work()
        return (now() - start) / Double(count)
    }

    /// A pool with the table `growing`, whose columns have the value of an expression of the row's number `i`.
    func pool(columns: [String], rows: Int, value: String = "i") throws -> DatabasePool {
        let pool = try DatabasePool(path: path, configuration: Work.configuration(Workload.keySpec))
        let values = columns.map { _ in value }.joined(separator: ", ")
        try pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE growing (\(columns.joined(separator: ", ")));
                    WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n LIMIT \(rows))
                    INSERT INTO growing SELECT \(values) FROM n
                    """)
        }
        return pool
    }

    private static let columnNames = Workload.columns.split(separator: ",").map {
        $0.trimmingCharacters(in: .whitespaces)
    }

    private func rows() throws -> Double {
        let pool = try pool(columns: Self.columnNames, rows: size)
        return try cost(of: size) {
            let records = try pool.read { try CodableWide.fetchAll($0, sql: "SELECT * FROM growing") }
            precondition(records.count == size)
        }
    }

    private func inserts() throws -> Double {
        let pool = try DatabasePool(path: path, configuration: Work.configuration(Workload.keySpec))
        try pool.write { try $0.execute(sql: "CREATE TABLE inserted (\(Workload.columns))") }
        let start = now()
        try pool.write { db in
            for n in 0..<size { try PlainWide(n: Int64(n)).insert(db) }
        }
        let time = now() - start
        let count = try pool.read { try PlainWide.fetchCount($0) }
        precondition(count == size)
        return time / Double(size)
    }

    private func columns() throws -> Double {
        let names = (0..<size).map { "column_\($0)" }
        let rowCount = Growth.valueCount / size
        let pool = try pool(columns: names, rows: rowCount)
        return try cost(of: Growth.valueCount) {
            let sum = try pool.read { db in
                let rows = try Row.fetchCursor(db, sql: "SELECT * FROM growing")
                var sum = 0
                while let row = try rows.next() {
                    for name in names { sum += row[name] as Int }
                }
                return sum
            }
            precondition(sum == size * rowCount * (rowCount - 1) / 2)
        }
    }

    private func width() throws -> Double {
        let rowCount = Growth.kilobyteCount * 1_000 / size
        let pool = try pool(columns: ["content"], rows: rowCount, value: "hex(zeroblob(\(size / 2)))")
        return try cost(of: Growth.kilobyteCount) {
            let bytes = try pool.read { db in
                let texts = try String.fetchCursor(db, sql: "SELECT content FROM growing")
                var bytes = 0
                while let text = try texts.next() { bytes += text.utf8.count }
                return bytes
            }
            precondition(bytes == rowCount * size)
        }
    }
}
