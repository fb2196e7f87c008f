import Foundation
import Strongroom
import Testing

/// The rows of a cursor share a decoder.
@Suite("The keys of Codable records, over several rows")
struct CodableKeyTests {
    private func fetch<Record: FetchableRecord>(_ type: Record.Type, _ sql: String) throws -> [Record] {
        try QueueFixture().queue.read { try Record.fetchAll($0, sql: sql) }
    }

    @Test("may be of another type for each row")
    func severalTypes() throws {
        struct Part: Decodable, FetchableRecord {
            enum Even: CodingKey { case id, left }
            enum Odd: CodingKey { case right, id }
            var id: Int
            var side: String

            init(from decoder: any Decoder) throws {
                let even = try decoder.container(keyedBy: Even.self)
                id = try even.decode(Int.self, forKey: .id)
                let odd = try decoder.container(keyedBy: Odd.self)
                side =
                    try id % 2 == 0
                    ? even.decode(String.self, forKey: .left) : odd.decode(String.self, forKey: .right)
                #expect(try odd.decode(Int.self, forKey: .id) == id)
            }
        }
        let parts = try fetch(
            Part.self,
            """
            WITH RECURSIVE part (id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM part WHERE id < 5)
            SELECT id, 'l' || id AS "left", 'r' || id AS "right" FROM part
            """)
        #expect(parts.map(\.side) == ["l0", "r1", "l2", "r3", "l4", "r5"])
    }

    @Test("may change their type after some rows")
    func laterType() throws {
        struct Part: Decodable, FetchableRecord {
            enum Early: CodingKey { case id, early }
            enum Late: CodingKey { case late, id }
            var side: String

            init(from decoder: any Decoder) throws {
                let early = try decoder.container(keyedBy: Early.self)
                if try early.decode(Int.self, forKey: .id) < 4 {
                    side = try early.decode(String.self, forKey: .early)
                } else {
                    side = try decoder.container(keyedBy: Late.self).decode(String.self, forKey: .late)
                }
            }
        }
        let parts = try fetch(
            Part.self,
            """
            WITH RECURSIVE part (id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM part WHERE id < 7)
            SELECT id, 'e' || id AS early, 'l' || id AS late FROM part
            """)
        #expect(parts.map(\.side) == ["e0", "e1", "e2", "e3", "l4", "l5", "l6", "l7"])
    }

    @Test("may be strings")
    func dynamicKeys() throws {
        struct Sum: Decodable, FetchableRecord {
            struct Key: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
            var sum = 0

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: Key.self)
                for key in container.allKeys { sum += try container.decode(Int.self, forKey: key) }
            }
        }
        let sums = try fetch(Sum.self, "VALUES (1, 2), (3, 4), (5, 6)")
        #expect(sums.map(\.sum) == [3, 7, 11])
    }

    @Test("are found although a superclass has other ones")
    func classes() throws {
        class Base: Decodable {
            var id = 0
            enum CodingKeys: CodingKey { case id }
            required init(from decoder: any Decoder) throws {
                id = try decoder.container(keyedBy: CodingKeys.self).decode(Int.self, forKey: .id)
            }
        }
        final class Derived: Base, FetchableRecord {
            var name = ""
            private enum CodingKeys: CodingKey { case name }
            required init(from decoder: any Decoder) throws {
                name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
                try super.init(from: decoder)
            }
        }
        let all = try fetch(Derived.self, "SELECT 1 AS id, 'a' AS name UNION ALL SELECT 2, 'b' UNION ALL SELECT 3, 'c'")
        #expect(all.map(\.id) == [1, 2, 3])
        #expect(all.map(\.name) == ["a", "b", "c"])
    }

    @Test("without a column are nil in each row, and an error if the property is no optional")
    func missing() throws {
        struct Lax: Decodable, FetchableRecord {
            var id: Int
            var note: String?
            var count: Int?
        }
        struct Strict: Decodable, FetchableRecord {
            var id: Int
            var note: String
        }
        let sql = "SELECT 1 AS id, 5 AS count UNION ALL SELECT 2, NULL UNION ALL SELECT 3, 7"
        let all = try fetch(Lax.self, sql)
        #expect(all.map(\.id) == [1, 2, 3])
        #expect(all.map(\.note) == [nil, nil, nil])
        #expect(all.map(\.count) == [5, nil, 7])
        #expect(throws: RowDecodingError.self) { try fetch(Strict.self, sql) }
    }

    @Test("lead to NULL, to values that do not fit, and through adapters as in the first row")
    func values() throws {
        struct Value: Decodable, FetchableRecord {
            var id: Int
            var value: Int
        }
        #expect(throws: RowDecodingError.self) {
            try fetch(Value.self, "SELECT 1 AS id, 5 AS value UNION ALL SELECT 2, 6 UNION ALL SELECT 3, NULL")
        }
        let adapted = try QueueFixture().queue.read { db in
            try Value.fetchAll(
                db, sql: "VALUES (0, 1, 2), (0, 3, 4), (0, 5, 6)",
                adapter: ColumnMapping(["id": "column3", "value": "column2"]))
        }
        #expect(adapted.map(\.id) == [2, 4, 6])
        #expect(adapted.map(\.value) == [1, 3, 5])
    }

    @Test("may compute their names")
    func computedNames() throws {
        struct Part: Decodable {
            @TaskLocal static var prefix = ""
            enum CodingKeys: CodingKey {
                case id, name
                var stringValue: String { Part.prefix + (self == .id ? "id" : "name") }
            }
            var id: Int, name: String
        }
        struct Pair: Decodable, FetchableRecord {
            var left: Part, right: Part
            init(from decoder: any Decoder) throws {
                left = try Part.$prefix.withValue("l_") { try Part(from: decoder) }
                right = try Part.$prefix.withValue("r_") { try Part(from: decoder) }
            }
        }
        let pairs = try fetch(
            Pair.self,
            """
            WITH RECURSIVE part (id) AS (SELECT 0 UNION ALL SELECT id + 1 FROM part WHERE id < 4)
            SELECT id AS l_id, 'l' || id AS l_name, -id AS r_id, 'r' || id AS r_name FROM part
            """)
        #expect(pairs.map(\.left.id) == [0, 1, 2, 3, 4])
        #expect(pairs.map(\.right.id) == [0, -1, -2, -3, -4])
        #expect(pairs.map(\.left.name) == ["l0", "l1", "l2", "l3", "l4"])
        #expect(pairs.map(\.right.name) == ["r0", "r1", "r2", "r3", "r4"])
    }
}
