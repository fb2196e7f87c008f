import Foundation
import Strongroom
import Testing

/// The records of one type share an encoder, which knows the columns of the former one.
@Suite("Codable records that are saved one after the other")
struct RepeatedEncodingTests {
    private func rows(
        _ columns: String, _ save: (Database) throws -> Void) throws -> [[DatabaseValue]]
    {
        try QueueFixture().queue.write { db in
            try db.execute(sql: "CREATE TABLE part (\(columns))")
            try save(db)
            return try Row.fetchAll(db, sql: "SELECT * FROM part ORDER BY rowid").map { Array($0.databaseValues) }
        }
    }

    @Test("may have their columns in another order each time")
    func order() throws {
        struct Part: Encodable, PersistableRecord {
            enum CodingKeys: CodingKey { case a, b, c }
            var order: [CodingKeys]
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                for key in order { try container.encode("\(key)", forKey: key) }
            }
        }
        let orders: [[Part.CodingKeys]] = [
            [.a, .b, .c], [.a, .b, .c], [.a, .b, .c], [.c, .b, .a], [.b, .a, .c], [.b, .c, .a], [.a, .b, .c],
            [.a], [.a, .c], [.b], [.a, .b, .c], [.a, .b, .b, .c], [.c, .c], [.a, .b, .c], [.a, .b, .c],
        ]
        let saved = try rows("a, b, c") { db in for order in orders { try Part(order: order).insert(db) } }
        #expect(saved == orders.map { order in
            [Part.CodingKeys.a, .b, .c].map { order.contains($0) ? "\($0)".databaseValue : .null }
        })
    }

    @Test("may set columns beside those of their keys")
    func others() throws {
        struct Part: Codable, PersistableRecord {
            var a: Int, b: Int
            func encode(to container: inout PersistenceContainer) throws {
                if a % 3 == 0 { container["c"] = a }
                if a % 3 == 1 { container["b"] = -1 }
                try encodeProperties(to: &container)
                container["d"] = b
            }
            private func encodeProperties(to container: inout PersistenceContainer) throws {
                try Properties(a: a, b: b).encode(to: &container)
            }
            struct Properties: Encodable, EncodableRecord { var a: Int, b: Int }
        }
        let saved = try rows("a, b, c, d") { db in for n in 0..<12 { try Part(a: n, b: n + 100).insert(db) } }
        #expect(saved == (0..<12).map { n in
            [n.databaseValue, (n + 100).databaseValue, n % 3 == 0 ? n.databaseValue : .null, (n + 100).databaseValue]
        })
    }

    @Test("may have keys of another type, and be records of another type, in between")
    func types() throws {
        struct Left: Encodable, PersistableRecord {
            static let databaseTableName = "part"
            enum Even: CodingKey { case a, b }
            enum Odd: CodingKey { case b, a }
            var a: Int
            func encode(to encoder: any Encoder) throws {
                if a % 4 < 2 {
                    var container = encoder.container(keyedBy: Even.self)
                    try container.encode(a, forKey: .a)
                    try container.encode(-a, forKey: .b)
                } else {
                    var container = encoder.container(keyedBy: Odd.self)
                    try container.encode(a, forKey: .a)
                    try container.encode(-a, forKey: .b)
                }
            }
        }
        struct Right: Codable, PersistableRecord {
            static let databaseTableName = "part"
            var b: Int, a: Int
        }
        let saved = try rows("a, b") { db in
            for n in 0..<16 {
                if n % 5 == 4 { try Right(b: -n, a: n).insert(db) } else { try Left(a: n).insert(db) }
            }
        }
        #expect(saved == (0..<16).map { [$0.databaseValue, (-$0).databaseValue] })
    }

    @Test("may change their strategy for columns")
    func strategies() throws {
        struct Part: Codable, PersistableRecord {
            nonisolated(unsafe) static var strategy = DatabaseColumnEncodingStrategy.useDefaultKeys
            static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { strategy }
            var aB: Int, cD: Int
        }
        let strategies: [DatabaseColumnEncodingStrategy] = [
            .useDefaultKeys, .useDefaultKeys, .useDefaultKeys, .convertToSnakeCase, .convertToSnakeCase,
            .convertToSnakeCase, .useDefaultKeys, .useDefaultKeys, .custom { $0.stringValue == "aB" ? "cD" : "aB" },
            .custom { $0.stringValue == "aB" ? "cD" : "aB" }, .useDefaultKeys,
        ]
        let saved = try rows("aB, cD, a_b, c_d") { db in
            for strategy in strategies {
                Part.strategy = strategy
                try Part(aB: 1, cD: 2).insert(db)
            }
        }
        let one = 1.databaseValue, two = 2.databaseValue, none = DatabaseValue.null
        let plain = [one, two, none, none], snake = [none, none, one, two], swapped = [two, one, none, none]
        #expect(saved == [plain, plain, plain, snake, snake, snake, plain, plain, swapped, swapped, plain])
    }

    @Test("may fail to encode, and be encoded by others while they are")
    func failures() throws {
        struct Failure: Error {}
        struct Part: Encodable, PersistableRecord {
            var a: Int, b: Int, inner: [Part] = []
            enum CodingKeys: CodingKey { case a, b }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(a, forKey: .a)
                if a < 0 { throw Failure() }
                for part in inner { _ = try part.databaseDictionary }
                try container.encode(b, forKey: .b)
            }
        }
        let saved = try rows("a, b") { db in
            for n in 0..<6 {
                try Part(a: n, b: n + 1, inner: [Part(a: 7, b: 8)]).insert(db)
                #expect(throws: Failure.self) { try Part(a: -1, b: 0).insert(db) }
            }
        }
        #expect(saved == (0..<6).map { [$0.databaseValue, ($0 + 1).databaseValue] })
    }
}
