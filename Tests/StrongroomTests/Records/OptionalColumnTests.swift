import Foundation
import Strongroom
import Testing

/// Decodes a type in one call, as a property wrapper and a hand-written `init(from:)` do.
private struct Single<Value: Codable & Equatable>: Codable, Equatable {
    var value: Value

    init(_ value: Value) { self.value = value }

    init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(Value.self)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// Stores its dates and its data in its own way, and codes them as optionals.
private struct Visit: Codable, Equatable, FetchableRecord, EncodableRecord {
    var date: Date?
    var data: Data?
    var wrapped: Single<Date?>

    enum CodingKeys: CodingKey { case date, data, wrapped }

    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .millisecondsSince1970
    }
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .millisecondsSince1970
    }
    static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy {
        .custom { String(decoding: $0.reversed(), as: UTF8.self) }
    }
    static func databaseDataDecodingStrategy(for column: String) -> DatabaseDataDecodingStrategy {
        .custom { Data.fromDatabaseValue($0).map { Data($0.reversed()) } }
    }

    init(date: Date?, data: Data?) {
        (self.date, self.data) = (date, data)
        wrapped = Single(date)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        date = try container.decode(Date?.self, forKey: .date)
        data = try container.decode(Data?.self, forKey: .data)
        wrapped = try container.decode(Single<Date?>.self, forKey: .wrapped)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(date, forKey: .date)
        try container.encode(data, forKey: .data)
        try container.encode(wrapped, forKey: .wrapped)
    }
}

/// Is a date in some rows, and JSON in others.
private enum Moment: Decodable, Equatable {
    case date(Date)
    case list([Int])

    init(from decoder: any Decoder) throws {
        if let date = try? decoder.singleValueContainer().decode(Date.self) {
            self = .date(date)
        } else {
            self = .list(try [Int](from: decoder))
        }
    }
}

private struct Event: Decodable, FetchableRecord {
    var moment: Moment

    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .timeIntervalSince1970
    }
}

@Suite("Columns of Codable records that may be NULL")
struct OptionalColumnTests {
    @Test("Dates and data follow their strategies when they are coded as optionals")
    func strategies() throws {
        let full = Visit(date: Date(timeIntervalSince1970: 1.5), data: Data("abc".utf8))
        #expect(
            try full.databaseDictionary == [
                "date": 1500.databaseValue, "data": "cba".databaseValue, "wrapped": 1500.databaseValue,
            ])
        let empty = Visit(date: nil, data: nil)
        #expect(try empty.databaseDictionary == ["date": .null, "data": .null, "wrapped": .null])
        try withDatabase { db throws in
            let visits = try Visit.fetchAll(
                db,
                sql: """
                    SELECT 1500 AS date, 'cba' AS data, 1500 AS wrapped UNION ALL SELECT NULL, NULL, NULL
                    UNION ALL SELECT 1500, 'cba', 1500
                    """)
            #expect(visits == [full, empty, full])
        }
    }

    @Test("An optional date that its strategy can't decode is an error, and not nil")
    func unfit() {
        #expect(throws: RowDecodingError.self) { try Visit(row: ["date": "x", "data": nil, "wrapped": nil]) }
        #expect(throws: RowDecodingError.self) { try Visit(row: ["date": nil, "data": nil, "wrapped": "x"]) }
    }

    @Test("NULL is nil in a row after one with JSON")
    func nullAfterJSON() throws {
        struct Tagged: Decodable, FetchableRecord {
            var tags: [Int]?
            enum CodingKeys: CodingKey { case tags }
            init(from decoder: any Decoder) throws {
                tags = try decoder.container(keyedBy: CodingKeys.self).decode([Int]?.self, forKey: .tags)
            }
        }
        try withDatabase { db throws in
            let all = try Tagged.fetchAll(
                db, sql: "SELECT '[1]' AS tags UNION ALL SELECT NULL UNION ALL SELECT '[2]' UNION ALL SELECT NULL")
            #expect(all.map(\.tags) == [[1], nil, [2], nil])
        }
    }

    @Test("NULL is an error for JSON that is not optional, in each row")
    func nullForJSON() throws {
        struct Tagged: Decodable, FetchableRecord { var tags: [Int] }
        try withDatabase { db throws in
            _ = #expect(throws: DecodingError.self) {
                try Tagged.fetchAll(db, sql: "SELECT '[1]' AS tags UNION ALL SELECT NULL")
            }
        }
    }

    @Test("A value is decoded as one in a row after one with JSON")
    func valueAfterJSON() throws {
        try withDatabase { db throws in
            let events = try Event.fetchAll(
                db, sql: "SELECT 5 AS moment UNION ALL SELECT '[1]' UNION ALL SELECT 5")
            let date = Moment.date(Date(timeIntervalSince1970: 5))
            #expect(events.map(\.moment) == [date, .list([1]), date])
        }
    }
}
