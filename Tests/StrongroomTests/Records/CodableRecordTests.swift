import Foundation
import Strongroom
import Testing

private enum Kind: String, Codable { case plain, fancy }

private struct Address: Codable, Equatable {
    var city: String
    var since: Date
}

private struct Everything: Codable, Equatable, FetchableRecord, PersistableRecord {
    var kind: Kind
    var otherKind: Kind?
    var address: Address
    var otherAddress: Address?
    var tags: [String]
    var counts: [String: Int]
    var date: Date
    var data: Data
    var uuid: UUID
    var url: URL
    var decimal: Decimal
    var float: Float
    var flag: Bool
    var byte: UInt8
    var tagsOrNot: [Int]?

    static let example = Everything(
        kind: .fancy, otherKind: nil, address: Address(city: "Reims", since: Date(timeIntervalSince1970: 1)),
        otherAddress: nil, tags: ["a", "b"], counts: ["k": 1], date: Date(timeIntervalSince1970: 0.5),
        data: Data([65, 66]),
        uuid: UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!, url: URL(string: "http://a/b")!, decimal: 1.25,
        float: 1.5, flag: true, byte: 7, tagsOrNot: nil)
}

@Suite("Codable records")
struct CodableRecordTests {
    @Test("Codable records store each property as a column: values as they are, the others as JSON")
    func encode() throws {
        let columns = try Everything.example.databaseDictionary
        #expect(columns["kind"] == "fancy".databaseValue)
        #expect(columns["otherKind"] == .null)
        #expect(columns["address"] == #"{"city":"Reims","since":1000}"#.databaseValue)
        #expect(columns["otherAddress"] == .null)
        #expect(columns["tags"] == #"["a","b"]"#.databaseValue)
        #expect(columns["date"] == "1970-01-01 00:00:00.500".databaseValue)
        #expect(columns["uuid"] == UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!.databaseValue)
        #expect(columns["decimal"] == "1.25".databaseValue)
        #expect(columns["flag"] == 1.databaseValue)
        #expect(columns.count == 15)
    }

    @Test("Codable records come back as they were stored")
    func roundTrip() throws {
        try withDatabase { db throws in
            let columns = try PersistenceColumns.names(Everything.example).map { "\"\($0)\"" }.joined(separator: ",")
            try db.execute(sql: "CREATE TABLE everything (\(columns))")
            var other = Everything.example
            other.otherKind = .plain
            other.otherAddress = other.address
            other.tagsOrNot = [1]
            try Everything.example.insert(db)
            try other.insert(db)
            #expect(try Everything.fetchAll(db) == [.example, other])
            #expect(try Everything.fetchOne(db, sql: "SELECT * FROM everything WHERE tagsOrNot IS NOT NULL") == other)
        }
    }

    @Test("Codable records decode from copies of rows, and through adapters")
    func copies() throws {
        try withRecords { db throws in
            try Player(id: 1, name: "Arthur", score: nil).inserted(db).update(db)
            let row = try Row.fetchOne(db, sql: "SELECT * FROM player")!
            #expect(try Player(row: row) == Player(id: 1, name: "Arthur", score: nil))
            let adapter = ColumnMapping(["id": "a", "name": "b"])
            let players = try Player.fetchAll(
                db, sql: "SELECT 1 AS x, 2 AS a, 'z' AS b UNION SELECT 1, 3, 'y'", adapter: adapter)
            #expect(players == [Player(id: 2, name: "z", score: nil), Player(id: 3, name: "y", score: nil)])
        }
    }

    @Test("Codable records find their columns in any order, in upper and lower case")
    func columnOrder() throws {
        try withRecords { db throws in
            let players = try Player.fetchAll(
                db, sql: "SELECT 1 AS SCORE, 'a' AS NAME, 9 AS extra, 2 AS ID UNION SELECT 3, 'b', 8, 4")
            #expect(players == [Player(id: 2, name: "a", score: 1), Player(id: 4, name: "b", score: 3)])
        }
    }

    @Test("Codable records say which column is missing or can't be decoded")
    func errors() throws {
        try withRecords { db throws in
            let missing = #expect(throws: RowDecodingError.self) { try Player.fetchOne(db, sql: "SELECT 1 AS id") }
            #expect(missing?.description.contains(#"column not found: "name""#) == true)
            let null = #expect(throws: RowDecodingError.self) {
                try Player.fetchOne(db, sql: "SELECT 1 AS id, NULL AS name")
            }
            #expect(null?.description.contains("could not decode String from database value NULL") == true)
            struct Kinded: Decodable, FetchableRecord { var kind: Kind? }
            #expect(throws: DecodingError.self) { try Kinded.fetchOne(db, sql: "SELECT 'none' AS kind") }
            struct Addressed: Decodable, FetchableRecord { var address: Address }
            let json = #expect(throws: DecodingError.self) { try Addressed.fetchOne(db, sql: "SELECT '{' AS address") }
            guard case .dataCorrupted(let context)? = json else { return #expect(Bool(false)) }
            #expect(context.codingPath.map(\.stringValue) == ["address"])
            #expect(throws: DecodingError.self) { try Addressed.fetchOne(db, sql: "SELECT NULL AS address") }
        }
    }

    @Test("Codable records decode other records from scopes, and from the same row")
    func scopes() throws {
        struct Team: Codable, Equatable, FetchableRecord {
            var id: Int
            var name: String
        }
        struct Info: Decodable, FetchableRecord {
            var player: Player
            var team: Team?
            var rank: Int?
        }
        try withRecords { db throws in
            let adapter = ScopeAdapter(["team": RangeRowAdapter(2..<4)])
            let infos = try Info.fetchAll(
                db, sql: "SELECT 1 AS id, 'a' AS name, 7 AS id, 'red' AS name UNION SELECT 2, 'b', NULL, NULL",
                adapter: adapter)
            #expect(infos.map(\.player.name) == ["a", "b"])
            #expect(infos.map(\.team) == [Team(id: 7, name: "red"), nil])
        }
    }

    @Test("Codable records tell their parts by which keys they were reached")
    func codingPath() throws {
        struct Part: Decodable {
            var path: [String]
            var inner: [String]?
            enum CodingKeys: CodingKey { case inner }
            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                path = decoder.codingPath.map(\.stringValue)
                #expect(container.codingPath.count == path.count)
                inner = try container.decodeIfPresent(Part.self, forKey: .inner)?.path
            }
        }
        struct Whole: Decodable, FetchableRecord {
            var outer: Part
            var path: [String]
            enum CodingKeys: CodingKey { case outer }
            init(from decoder: any Decoder) throws {
                path = decoder.codingPath.map(\.stringValue)
                outer = try decoder.container(keyedBy: CodingKeys.self).decode(Part.self, forKey: .outer)
            }
        }
        try withDatabase { db throws in
            let adapter = ScopeAdapter([
                "outer": ScopeAdapter(base: EmptyRowAdapter(), scopes: ["inner": RangeRowAdapter(0..<1)])
            ])
            let whole = try #require(try Whole.fetchOne(db, sql: "SELECT 1 AS a", adapter: adapter))
            #expect(whole.path == [])
            #expect(whole.outer.path == ["outer"])
            #expect(whole.outer.inner == ["outer", "inner"])
        }
    }

    @Test("Codable records encode and decode another record beside their own properties, in that record's way")
    func wrapped() throws {
        struct Score: Codable, FetchableRecord, EncodableRecord {
            var value: Int
            init(value: Int) { self.value = value }
            init(row: Row) { value = row["points"] }
            func encode(to container: inout PersistenceContainer) { container["points"] = value }
        }
        struct Named<Base: Codable>: Codable, FetchableRecord, EncodableRecord {
            var base: Base
            var name: String
            enum CodingKeys: CodingKey { case name }
            init(base: Base, name: String) { (self.base, self.name) = (base, name) }
            init(from decoder: any Decoder) throws {
                name = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .name)
                base = try decoder.singleValueContainer().decode(Base.self)
            }
            func encode(to encoder: any Encoder) throws {
                var single = encoder.singleValueContainer()
                try single.encode(base)
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(name, forKey: .name)
            }
        }
        let named = Named(base: Score(value: 7), name: "a")
        #expect(try named.databaseDictionary == ["points": 7.databaseValue, "name": "a".databaseValue])
        try withDatabase { db throws in
            let all = try Named<Score>.fetchAll(db, sql: "SELECT 7 AS points, 'a' AS name UNION ALL SELECT 8, 'b'")
            #expect(all.map(\.base.value) == [7, 8])
            #expect(all.map(\.name) == ["a", "b"])
        }
    }

    @Test("Codable records encode and decode as their superclass, too")
    func classes() throws {
        class Base: Codable {
            var id: Int
            init(id: Int) { self.id = id }
        }
        final class Derived: Base, FetchableRecord, EncodableRecord {
            var name: String
            init(id: Int, name: String) {
                self.name = name
                super.init(id: id)
            }
            enum CodingKeys: CodingKey { case name }
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                name = try container.decode(String.self, forKey: .name)
                try super.init(from: container.superDecoder())
            }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(name, forKey: .name)
                try super.encode(to: container.superEncoder())
            }
        }
        #expect(try Derived(id: 1, name: "a").databaseDictionary == ["id": 1.databaseValue, "name": "a".databaseValue])
        let derived = try Derived(row: ["name": "a", "id": 1])
        #expect(derived.id == 1 && derived.name == "a")
    }

    @Test("Codable records hand their user info to properties and JSON")
    func userInfo() throws {
        let key = CodingUserInfoKey(rawValue: "unit")!
        struct Amount: Codable {
            var text: String
            init(from decoder: any Decoder) throws {
                let number = try decoder.singleValueContainer().decode(Int.self)
                text = "\(number) \(decoder.userInfo[CodingUserInfoKey(rawValue: "unit")!] ?? "?")"
            }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode("\(text) \(encoder.userInfo[CodingUserInfoKey(rawValue: "unit")!] ?? "?")")
            }
        }
        struct Order: Codable, FetchableRecord, EncodableRecord {
            var amount: Amount
            var list: [Amount]
            static var databaseDecodingUserInfo: [CodingUserInfoKey: Any] {
                [CodingUserInfoKey(rawValue: "unit")!: "kg"]
            }
            static var databaseEncodingUserInfo: [CodingUserInfoKey: Any] {
                [CodingUserInfoKey(rawValue: "unit")!: "lb"]
            }
        }
        _ = key
        let order = try Order(row: ["amount": 1, "list": "[2]"])
        #expect(order.amount.text == "1 kg")
        #expect(order.list.map(\.text) == ["2 kg"])
        #expect(try order.databaseDictionary["amount"] == "1 kg lb".databaseValue)
        #expect(try order.databaseDictionary["list"] == #"["2 kg lb"]"#.databaseValue)
    }
}

/// The columns of a record, in order.
private enum PersistenceColumns {
    static func names(_ record: some EncodableRecord) throws -> [String] {
        try record.databaseDictionary.keys.sorted()
    }
}

private protocol DatedRecord: Codable, FetchableRecord, EncodableRecord {}

@Suite("Coding strategies of records")
struct CodingStrategyTests {
    private static let date = Date(timeIntervalSince1970: 1_000_000.5678)

    private func expect<Record: EncodableRecord>(
        _ record: Record, _ column: String, _ value: any DatabaseValueConvertible
    ) throws {
        #expect(try record.databaseDictionary[column] == value.databaseValue)
    }

    @Test("Dates")
    func dates() throws {
        struct Reference: Codable, FetchableRecord, EncodableRecord {
            var d: Date
            static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
                .timeIntervalSinceReferenceDate
            }
            static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
                .timeIntervalSinceReferenceDate
            }
        }
        struct Milliseconds: Codable, FetchableRecord, EncodableRecord {
            var d: Date
            var other: Date?
            static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
                column == "d" ? .millisecondsSince1970 : .secondsSince1970
            }
            static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
                column == "d" ? .millisecondsSince1970 : .timeIntervalSince1970
            }
        }
        struct ISO: Codable, FetchableRecord, EncodableRecord {
            var d: Date
            static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy { .iso8601 }
            static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy { .iso8601 }
        }
        struct Custom: Codable, FetchableRecord, EncodableRecord {
            var d: Date
            static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
                .custom { _ in column }
            }
            static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
                .custom { $0 == "d".databaseValue ? .distantPast : nil }
            }
        }
        try expect(Reference(d: Self.date), "d", -977_307_199.4322)
        #expect(try Reference(row: ["d": 0]).d == Date(timeIntervalSinceReferenceDate: 0))
        try expect(Milliseconds(d: Self.date, other: Self.date), "d", 1_000_000_567)
        try expect(Milliseconds(d: Self.date, other: Self.date), "other", 1_000_000)
        #expect(try Milliseconds(row: ["d": 1500, "other": 2]).d == Date(timeIntervalSince1970: 1.5))
        #expect(try Milliseconds(row: ["d": 1500, "other": 2]).other == Date(timeIntervalSince1970: 2))
        try expect(ISO(d: Self.date), "d", "1970-01-12T13:46:40Z")
        #expect(try ISO(row: ["d": "1970-01-12T13:46:40Z"]).d == Date(timeIntervalSince1970: 1_000_000))
        #expect(throws: RowDecodingError.self) { try ISO(row: ["d": "x"]) }
        try expect(Custom(d: Self.date), "d", "d")
        #expect(try Custom(row: ["d": "d"]).d == .distantPast)
        #expect(throws: RowDecodingError.self) { try Custom(row: ["d": "x"]) }
    }

    @Test("Data and UUIDs")
    func dataAndUUIDs() throws {
        struct Text: Codable, FetchableRecord, EncodableRecord {
            var data: Data
            var uuid: UUID
            static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy { .text }
            static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
                .lowercaseString
            }
            static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy {
                .custom { _ in Data([1]) }
            }
        }
        let uuid = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!
        try expect(Text(data: Data("hé".utf8), uuid: uuid), "data", "hé")
        try expect(Text(data: Data(), uuid: uuid), "uuid", "e621e1f8-c36c-495a-93fc-0c247a3e6e5f")
        #expect(throws: EncodingError.self) { try Text(data: Data([0xFF]), uuid: uuid).databaseDictionary }
        #expect(try Text(row: ["data": "x", "uuid": uuid.uuidString]).data == Data([1]))
        #expect(try Text(row: ["data": "x", "uuid": uuid.uuidString]).uuid == uuid)
    }

    @Test("Names of columns")
    func names() throws {
        struct Snake: Codable, FetchableRecord, EncodableRecord {
            var myURLValue: Int?
            var aB: Int
            var _x: Int
            static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy { .convertToSnakeCase }
            static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy { .convertFromSnakeCase }
        }
        #expect(
            try Snake(myURLValue: 1, aB: 2, _x: 3).databaseDictionary.keys.sorted() == ["_x", "a_b", "my_url_value"])
        let snake = try Snake(row: ["my_url_value": 1, "a_b": 2, "_x": 3])
        #expect(snake.aB == 2 && snake._x == 3)
        struct Custom: Codable, FetchableRecord, EncodableRecord {
            var id: Int
            static var databaseColumnEncodingStrategy: DatabaseColumnEncodingStrategy {
                .custom { "x_" + $0.stringValue }
            }
            static var databaseColumnDecodingStrategy: DatabaseColumnDecodingStrategy {
                .custom { Key(String($0.dropFirst(2))) }
            }
            struct Key: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }
                init(_ text: String) { stringValue = text }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
        }
        #expect(try Custom(id: 1).databaseDictionary == ["x_id": 1.databaseValue])
        #expect(try Custom(row: ["x_id": 4]).id == 4)
    }

    @Test("A container compares columns without regard to case, and nil sets NULL")
    func container() throws {
        struct Record: EncodableRecord {
            func encode(to container: inout PersistenceContainer) {
                container["b"] = 1
                container["A"] = 2
                container["a"] = 3
                container["z"] = nil as Int?
                #expect(container["A"] as? Int64 == 3)
                #expect(container["nope"] == nil)
                #expect(container["z"] as? DatabaseValue == .null)
                #expect(container.map(\.0) == ["b", "A", "z"])
            }
        }
        #expect(try Record().databaseDictionary == ["b": 1.databaseValue, "A": 3.databaseValue, "z": .null])
        #expect(Record().databaseEquals(Record()))
    }
}
