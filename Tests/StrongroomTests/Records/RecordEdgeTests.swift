import Foundation
import Strongroom
import Testing

/// Encodes and decodes as the one value that it has.
private struct Moment: Codable, Equatable {
    var date: Date

    init(_ date: Date) { self.date = date }

    init(from decoder: any Decoder) throws {
        date = try decoder.singleValueContainer().decode(Date.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(date)
    }
}

private struct Event: Codable, Equatable, FetchableRecord, PersistableRecord {
    var id: Int
    var moment: Moment

    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .timeIntervalSinceReferenceDate
    }
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .timeIntervalSinceReferenceDate
    }
}

private struct Watched: Encodable, PersistableRecord {
    static let databaseTableName = "note"
    nonisolated(unsafe) static var calls: [String] = []
    var id: Int?
    var text: String

    func willInsert(_ db: Database) { Self.calls.append("insert") }
    func willUpdate(_ db: Database, columns: Set<String>) { Self.calls.append("update") }
}

@Suite("Records at the edges", .serialized)
struct RecordEdgeTests {
    @Test("A property that is a date underneath follows the strategies for dates")
    func wrappedDate() throws {
        try withDatabase { (db) throws in
            try db.execute(sql: "CREATE TABLE event (id INTEGER PRIMARY KEY, moment)")
            let event = Event(id: 1, moment: Moment(Date(timeIntervalSinceReferenceDate: 12.5)))
            try event.insert(db)
            #expect(try DatabaseValue.fetchOne(db, sql: "SELECT moment FROM event") == 12.5.databaseValue)
            #expect(try Event.fetchOne(db) == event)
        }
    }

    @Test("One column is read as two types")
    func twoTypes() throws {
        struct Both: Decodable, FetchableRecord {
            enum CodingKeys: String, CodingKey { case value }
            var url: URL
            var color: Color
            enum Color: String, Decodable { case red }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                url = try container.decode(URL.self, forKey: .value)
                color = try container.decode(Color.self, forKey: .value)
            }
        }
        try withDatabase { (db) throws in
            let both = try Both.fetchAll(db, sql: "SELECT 'red' AS value UNION ALL SELECT 'red'")
            #expect(both.map(\.color) == [.red, .red])
            #expect(both.map(\.url.absoluteString) == ["red", "red"])
        }
    }

    @Test("Of columns that stand for the same property, the leftmost counts")
    func leftmost() throws {
        struct Snake: Decodable, FetchableRecord {
            static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.convertFromSnakeCase
            var userName: String
        }
        try withDatabase { (db) throws in
            let record = try Snake.fetchOne(db, sql: "SELECT 'left' AS user_name, 'right' AS userName")
            #expect(record?.userName == "left")
        }
    }

    @Test("Underscores around a name stay in snake case")
    func underscores() throws {
        struct Snake: Decodable, FetchableRecord {
            static let databaseColumnDecodingStrategy = DatabaseColumnDecodingStrategy.convertFromSnakeCase
            var _userName: String
            var userName_: String
        }
        let record = try Snake(row: ["_user_name": "a", "user_name_": "b"])
        #expect([record._userName, record.userName_] == ["a", "b"])
    }

    @Test("A scope that only contains NULL is read as nil")
    func nilScope() throws {
        struct Info: Decodable, FetchableRecord {
            enum CodingKeys: String, CodingKey { case author }
            var isAnonymous: Bool
            init(from decoder: any Decoder) throws {
                isAnonymous = try decoder.container(keyedBy: CodingKeys.self).decodeNil(forKey: .author)
            }
        }
        try withLibrary { (db) throws in
            try db.execute(sql: "INSERT INTO book VALUES (99, NULL, 'Anonymous', 1)")
            let request = Book.including(optional: Book.author).order(Column("id")).asRequest(of: Info.self)
            let infos = try request.fetchAll(db).map(\.isAnonymous)
            #expect(infos == (try Book.order(Column("id")).fetchAll(db).map { $0.authorId == nil }))
            #expect(infos.contains(true) && infos.contains(false))
        }
    }

    @Test("A record without a key is inserted when it is saved, and never updated")
    func saveWithoutKey() throws {
        try withDatabase { (db) throws in
            try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)")
            Watched.calls = []
            try Watched(id: nil, text: "a").save(db)
            #expect(Watched.calls == ["insert"])
            try Watched(id: 1, text: "b").save(db)
            try Watched(id: 2, text: "c").save(db)
            #expect(Watched.calls == ["insert", "update", "update", "insert"])
        }
    }

    @Test("The columns of an update are found in upper and lower case, here and in the table")
    func columnCase() throws {
        struct Memo: Encodable, PersistableRecord {
            var id: Int
            var text: String
            var author: String
        }
        try withDatabase { (db) throws in
            try db.execute(sql: "CREATE TABLE memo (ID INTEGER PRIMARY KEY, Text TEXT, Author TEXT)")
            try Memo(id: 1, text: "a", author: "x").insert(db)
            try Memo(id: 1, text: "b", author: "y").update(db, columns: ["TEXT"])
            #expect(try Row.fetchOne(db, sql: "SELECT * FROM memo") == ["ID": 1, "Text": "b", "Author": "x"])
        }
    }

    @Test("No keys, no statement")
    func noKeys() throws {
        try withRecords { (db) throws in
            let run = try statements(db) { () throws in
                #expect(try Player.deleteAll(db, keys: [Int]()) == 0)
                #expect(try Player.deleteAll(db, keys: [[String: (any DatabaseValueConvertible)?]]()) == 0)
                #expect(try Player.fetchAll(db, keys: [Int]()).isEmpty)
            }
            #expect(run.isEmpty)
        }
    }

    @Test("An upsert goes without the conflict policies that would keep it from updating")
    func upsertPolicy() throws {
        try withRecords { (db) throws in
            let all = try statements(db) { try Place(country: "FR", code: 1, name: "Paris").upsert(db) }
            #expect(all.last?.hasPrefix(#"INSERT INTO "place""#) == true)
            try Place(country: "FR", code: 1, name: "Lutetia").upsert(db)
            #expect(try Place.fetchAll(db).map(\.name) == ["Lutetia"])
        }
    }

    @Test("The keys of a row are its columns, its scopes and prefetched rows")
    func allKeys() throws {
        struct Keys: Decodable, FetchableRecord {
            struct Key: CodingKey {
                var stringValue: String
                var intValue: Int? { nil }
                init(stringValue: String) { self.stringValue = stringValue }
                init?(intValue: Int) { nil }
            }
            var names: [String]
            init(from decoder: any Decoder) throws {
                names = try decoder.container(keyedBy: Key.self).allKeys.map(\.stringValue)
            }
        }
        try withLibrary { (db) throws in
            let request = Author.including(optional: Author.biography).including(all: Author.books)
            let keys = try request.asRequest(of: Keys.self).fetchOne(db)
            #expect(keys?.names == ["id", "name", "country", "biography", "books"])
        }
    }

    @Test("Data that the strategy turns into nothing is NULL")
    func dataIntoNull() throws {
        struct Secret: Encodable, PersistableRecord {
            static let databaseTableName = "note"
            var text: Data
            static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy {
                .custom { $0.isEmpty ? nil : $0.count }
            }
        }
        #expect(try Secret(text: Data()).databaseDictionary == ["text": .null])
        #expect(try Secret(text: Data([1, 2])).databaseDictionary == ["text": 2.databaseValue])
    }

    @Test("A record whose table changes its name is saved in the current table")
    func changingTable() throws {
        struct Entry: Codable, FetchableRecord, PersistableRecord {
            nonisolated(unsafe) static var databaseTableName = "january"
            var id: Int
        }
        try withDatabase { (db) throws in
            try db.execute(
                sql: "CREATE TABLE january (id INTEGER PRIMARY KEY); CREATE TABLE february (id INTEGER PRIMARY KEY)")
            try Entry(id: 1).insert(db)
            Entry.databaseTableName = "february"
            try Entry(id: 2).insert(db)
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM january") == [1])
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM february") == [2])
        }
    }

    @Test("Parts of a record that are no records follow the strategies of the record")
    func partsFollowStrategies() throws {
        struct Part: Decodable { var start: Date }
        struct Info: Decodable, FetchableRecord {
            var part: Part
            static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
                .timeIntervalSinceReferenceDate
            }
        }
        try withDatabase { (db) throws in
            let info = try Info.fetchOne(db, sql: "SELECT 12 AS start")
            #expect(info?.part.start == Date(timeIntervalSinceReferenceDate: 12))
        }
    }

    @Test("Nil that is encoded by hand is a NULL column, not a missing one")
    func encodedNil() throws {
        struct Memo: Encodable, EncodableRecord {
            enum CodingKeys: String, CodingKey { case id, text }
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(1, forKey: .id)
                try container.encodeNil(forKey: .text)
            }
        }
        #expect(try Memo().databaseDictionary == ["id": 1.databaseValue, "text": .null])
    }

    @Test("A column that is a number is a number in JSON, too")
    func numberAsJSON() throws {
        struct List: Decodable, FetchableRecord { var numbers: [Int] }
        try withDatabase { (db) throws in
            let result = Result { try List.fetchOne(db, sql: "SELECT 1 AS numbers") }
            guard case .failure(DecodingError.typeMismatch) = result else {
                Issue.record("\(result)")
                return
            }
        }
    }

    @Test("A value that stands for a missing column is taken in Codable records")
    func missingColumn() throws {
        struct Flag: Codable, Equatable, DatabaseValueConvertible {
            var isSet: Bool
            var databaseValue: DatabaseValue { isSet.databaseValue }
            static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Flag? {
                Bool.fromDatabaseValue(dbValue).map { Flag(isSet: $0) }
            }
            static func fromMissingColumn() -> Flag? { Flag(isSet: true) }
        }
        struct Info: Decodable, FetchableRecord {
            var flag: Flag
        }
        #expect(try Info(row: ["other": 1]).flag == Flag(isSet: true))
        #expect(try Info(row: ["flag": false]).flag == Flag(isSet: false))
    }

    @Test("A key that is not unique finds no record: it is an error")
    func keyThatIsNotUnique() throws {
        try withRecords { (db) throws in
            let error = try #require(throws: DatabaseError.self) { _ = try Player.fetchOne(db, key: ["score": 1]) }
            #expect(error.message == "table player has no unique key on column(s) score")
            #expect(try Player.fetchOne(db, key: ["rowid": 1]) == nil)
        }
    }
}
