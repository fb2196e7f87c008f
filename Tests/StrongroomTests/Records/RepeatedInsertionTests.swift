import Foundation
import Strongroom
import Testing

/// The records of one type use the same memory and the same statement, one after the other.
@Suite("Records that are inserted one after the other")
struct RepeatedInsertionTests {
    /// A record that sets columns in the order of a list.
    private struct Part: PersistableRecord {
        static let databaseTableName = "part"
        var columns: [(String, Int)]

        init(_ columns: (String, Int)...) { self.columns = columns }

        func encode(to container: inout PersistenceContainer) {
            for (column, value) in columns { container[column] = value }
        }
    }

    private func rows(_ columns: String = "a, b, c", _ save: (Database) throws -> Void) throws -> [[DatabaseValue]] {
        try savedRows(of: "part", columns, save)
    }

    private func values(_ rows: [[Int?]]) -> [[DatabaseValue]] { rows.map { $0.map { $0.databaseValue } } }

    @Test("may set their columns in another order each time, leave some out, and set some twice")
    func orders() throws {
        let names = ["a", "b", "c"]
        let orders: [[Int]] = [
            [0, 1, 2], [0, 1, 2], [0, 1, 2], [2, 1, 0], [0, 1, 2], [0, 2, 1], [0, 2, 1], [1], [1], [0, 1], [0, 1, 2],
            [0, 1, 1, 2], [0, 1, 2, 0], [0, 1, 2], [2], [0, 1, 2], [0, 0, 0], [0, 1, 2], [1, 0, 2], [0, 1, 2],
        ]
        let saved = try rows { db in
            for (row, order) in orders.enumerated() {
                var part = Part()
                for (step, column) in order.enumerated() { part.columns.append((names[column], 100 * row + step)) }
                try part.insert(db)
            }
        }
        let expected = orders.enumerated().map { row, order in
            (0..<3).map { column in order.lastIndex(of: column).map { 100 * row + $0 } }
        }
        #expect(saved == values(expected))
    }

    @Test("may compute the names of their columns, in any case of letters")
    func computedNames() throws {
        let saved = try rows("first_of_the_columns, second_of_the_columns") { db in
            for row in 0..<9 {
                func name(_ name: String) -> String { row % 3 == 2 ? name.uppercased() : name.lowercased() }
                try Part((name("First_of_the_columns"), row), (name("Second_of_the_columns"), -row)).insert(db)
                try Part((name("Second_of_the_columns"), row), (name("First_of_the_columns"), -row)).insert(db)
            }
        }
        #expect(saved == values((0..<9).flatMap { [[$0, -$0], [-$0, $0]] }))
    }

    @Test("may have another table and another conflict resolution each time")
    func resolutions() throws {
        let saved = try rows("a PRIMARY KEY, b, c") { db in
            try Part(("a", 1), ("b", 1)).insert(db)
            try Part(("a", 1), ("b", 2)).insert(db, onConflict: .ignore)
            try Part(("a", 2), ("b", 2)).insert(db, onConflict: .replace)
            try Part(("a", 2), ("b", 3)).insert(db, onConflict: .replace)
            for _ in 0..<2 {
                #expect(throws: DatabaseError.self) { try Part(("a", 1), ("b", 4)).insert(db) }
                #expect(throws: DatabaseError.self) { try Part(("a", 1), ("b", 4)).insert(db, onConflict: .abort) }
                try Part(("a", 1), ("b", 4)).insert(db, onConflict: .ignore)
            }
        }
        #expect(saved == values([[1, 1, nil], [2, 3, nil]]))
    }

    @Test("keep the conflict resolution of their type, which may change")
    func policy() throws {
        struct Choosy: PersistableRecord, Encodable {
            static let databaseTableName = "part"
            nonisolated(unsafe) static var policy = PersistenceConflictPolicy()
            static var persistenceConflictPolicy: PersistenceConflictPolicy { policy }
            var a: Int, b: Int
        }
        let saved = try rows("a PRIMARY KEY, b") { db in
            for resolution: Database.ConflictResolution in [.abort, .replace, .ignore, .replace, .abort] {
                Choosy.policy = PersistenceConflictPolicy(insert: resolution)
                for n in 0..<2 { try? Choosy(a: 1, b: 10 * n + (resolution == .ignore ? 100 : 0)).insert(db) }
                let last = Choosy(a: 1, b: resolution == .ignore ? 200 : 7)
                if resolution == .abort {
                    #expect(throws: DatabaseError.self) { try last.insert(db) }
                } else {
                    try last.insert(db)
                }
            }
        }
        #expect(saved == values([[1, 7]]))
    }

    @Test("may be updated, saved, upserted and fetched in between")
    func others() throws {
        let saved = try rows("a PRIMARY KEY, b, c") { db in
            for n in 0..<5 {
                try Part(("a", n), ("b", n), ("c", n)).insert(db)
                try Part(("b", n + 10), ("a", n)).update(db)
                try Part(("c", n + 20), ("a", n)).save(db)
                try Part(("a", n), ("c", n + 30)).upsert(db)
                try Part(("a", n + 100), ("b", n), ("c", n)).save(db)
                try Part(("a", n), ("b", n + 40), ("c", n)).update(db, columns: ["b"])
                let other = Part(("a", n + 200), ("b", n), ("c", n))
                let fetched = try other.insertAndFetch(db, selection: [Column("a")]) { try Int.fetchOne($0) }
                #expect(fetched == n + 200)
            }
        }
        var expected: [[Int?]] = []
        for n in 0..<5 { expected += [[n, n + 40, n + 30], [n + 100, n, n], [n + 200, n, n]] }
        #expect(saved == values(expected))
    }

    @Test("keep their statement while a restricted read has statements of its own, and while the cache overflows")
    func otherCaches() throws {
        let saved = try rows { db in
            for n in 0..<4 {
                try Part(("a", n), ("b", -n)).insert(db)
                try db.restricted(to: Restrictions(tables: ["part"])) {
                    for other in 0..<3 { _ = try Int.fetchOne(db, sql: "SELECT ? + \(other) AS x", arguments: [n]) }
                    #expect(throws: DatabaseError.self) { try Part(("a", n), ("b", -n)).insert(db) }
                }
                for other in 0..<300 { _ = try Int.fetchOne(db, sql: "SELECT ? + \(other)", arguments: [n]) }
            }
        }
        #expect(saved == values((0..<4).map { [$0, -$0, nil] }))
    }

    @Test("give errors with their own values")
    func errors() throws {
        _ = try rows("a PRIMARY KEY, b, c") { db in
            for n in 0..<3 {
                try Part(("a", n), ("b", n), ("c", n)).insert(db)
                let error = #expect(throws: DatabaseError.self) { try Part(("a", n), ("b", 7), ("c", -n)).insert(db) }
                #expect(error?.arguments == [n, 7, -n])
                #expect(error?.sql == #"INSERT INTO "part" ("a", "b", "c") VALUES (?,?,?)"#)
            }
        }
    }

    @Test("do not keep large values in memory")
    func largeValues() throws {
        struct Large: PersistableRecord, Encodable {
            static let databaseTableName = "part"
            var a: Int, b: Data
        }
        nonisolated(unsafe) var released = 0
        let saved = try rows("a, b") { db in
            for n in 0..<3 {
                do {
                    let size = 100_000, memory = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
                    memory.initializeMemory(as: UInt8.self, repeating: UInt8(n), count: size)
                    let data = Data(
                        bytesNoCopy: memory, count: size,
                        deallocator: .custom { memory, _ in
                            memory.deallocate()
                            released += 1
                        })
                    try Large(a: n, b: data).insert(db)
                }
                #expect(released == n + 1)
            }
        }
        #expect(saved.map { Data.fromDatabaseValue($0[1])?.last } == [0, 1, 2])
    }
}
