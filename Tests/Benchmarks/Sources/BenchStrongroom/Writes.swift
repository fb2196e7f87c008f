import Foundation
import Workload

extension Work {
    func insert(_ db: Database, _ n: Int64) throws {
        let n = Workload.small(n)
        try db.execute(
            sql: Workload.insert, arguments: [n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7, n + 8, n + 9])
    }

    func insertsPositional(_ db: Database) throws -> Int64 {
        for n in 0..<size { try insert(db, n) }
        return try Int64.fetchOne(db, sql: Workload.countInserted)!
    }

    func inserts<Record: WideRecord>(_ type: Record.Type, _ db: Database) throws -> Int64 {
        for n in 0..<size { try Record(n: Workload.small(n)).insert(db) }
        return try Int64.fetchOne(db, sql: Workload.countInserted)!
    }

    func insertsOfText(_ db: Database) throws -> Int64 {
        for _ in 0..<size {
            try db.execute(sql: Workload.insertInsertedText, arguments: [Workload.title, Workload.body])
        }
        return try Int64.fetchOne(db, sql: Workload.countInsertedTexts)!
    }

    func insertsOfBlobs(_ db: Database) throws -> Int64 {
        let data = Data(count: Workload.blobSize)
        for _ in 0..<size { try db.execute(sql: Workload.insertInsertedBlob, arguments: [data]) }
        return try Int64.fetchOne(db, sql: Workload.countInsertedBlobs)!
    }

    func smallTransactions(_ pool: DatabasePool) throws -> Int64 {
        for n in 0..<size { try pool.write { try insert($0, n) } }
        return try pool.read { try Int64.fetchOne($0, sql: Workload.countInserted)! }
    }
}
