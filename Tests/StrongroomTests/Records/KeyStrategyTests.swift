import Foundation
import Strongroom
import Testing

private let key = UUID(uuidString: "6BA7B810-9DAD-11D1-80B4-00C04FD430C8")!
private let otherKey = UUID(uuidString: "6BA7B811-9DAD-11D1-80B4-00C04FD430C8")!

/// Stores its UUIDs as text.
private struct Device: Codable, Hashable, Identifiable, FetchableRecord, PersistableRecord {
    var id: UUID
    var owner: UUID?

    static func databaseUUIDEncodingStrategy(for column: String) -> DatabaseUUIDEncodingStrategy {
        column == "owner" ? .lowercaseString : .uppercaseString
    }
}

/// Stores its date as a number.
private struct Moment: Codable, Hashable, Identifiable, FetchableRecord, PersistableRecord {
    var id: Date

    static func databaseDateEncodingStrategy(for column: String) -> DatabaseDateEncodingStrategy {
        .millisecondsSince1970
    }
    static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
        .millisecondsSince1970
    }
}

/// Stores its data as text.
private struct Token: Codable, Hashable, Identifiable, FetchableRecord, PersistableRecord {
    var id: Data

    static func databaseDataEncodingStrategy(for column: String) -> DatabaseDataEncodingStrategy { .text }
}

@Suite("Keys that records store in their own way")
struct KeyStrategyTests {
    private func withDevices(_ body: (Database) throws -> Void) throws {
        try withDatabase { db throws in
            try db.execute(sql: "CREATE TABLE device (id TEXT PRIMARY KEY, owner TEXT UNIQUE)")
            try Device(id: key, owner: otherKey).insert(db)
            try Device(id: otherKey).insert(db)
            #expect(try String.fetchOne(db, sql: "SELECT id FROM device") == key.uuidString)
            try body(db)
        }
    }

    @Test("Keys of records find the record")
    func finding() throws {
        try withDevices { db throws in
            #expect(try Device.fetchOne(db, id: key)?.owner == otherKey)
            #expect(try Device.fetchOne(db, key: key)?.owner == otherKey)
            #expect(try Device.find(db, id: key).id == key)
            #expect(try Device.filter(id: key).fetchCount(db) == 1)
            #expect(try Device.exists(db, id: key))
            #expect(try Table<Device>("device").exists(db, id: key))
        }
    }

    @Test("Keys of records find several records")
    func findingSeveral() throws {
        try withDevices { db throws in
            let absent = UUID()
            #expect(try Device.fetchAll(db, ids: [key, absent, otherKey]).count == 2)
            #expect(try Device.fetchSet(db, ids: [key, absent]).map(\.id) == [key])
            #expect(try Array(Device.fetchCursor(db, keys: [otherKey])).map(\.id) == [otherKey])
            #expect(try Table<Device>("device").filter(ids: [key]).fetchCount(db) == 1)
        }
    }

    @Test("Keys of records find the record in a dictionary, each by the strategy of its column")
    func dictionaries() throws {
        try withDevices { db throws in
            #expect(try Device.fetchOne(db, key: ["id": key])?.id == key)
            #expect(try Device.fetchOne(db, key: ["owner": otherKey])?.id == key)
            #expect(try Device.fetchAll(db, keys: [["id": key], ["id": otherKey]]).count == 2)
            #expect(try Device.exists(db, key: ["owner": otherKey]))
        }
    }

    @Test("Keys of records delete the record")
    func deleting() throws {
        try withDevices { db throws in
            #expect(try Device.deleteOne(db, key: ["owner": otherKey]))
            #expect(try !Device.exists(db, id: key))
            #expect(try Device.deleteAll(db, ids: [key, otherKey]) == 1)
            #expect(try Table<Device>("device").deleteOne(db, id: otherKey) == false)
        }
    }

    @Test("Keys of records are in the error as they are stored when there is no such record")
    func notFound() throws {
        try withDevices { db throws in
            let absent = UUID()
            let error = #expect(throws: RecordError.self) { try Device.find(db, id: absent) }
            guard case .recordNotFound(_, let key)? = error else { return }
            #expect(key == ["id": absent.uuidString.databaseValue])
        }
    }

    @Test("Keys of records may be dates and data")
    func datesAndData() throws {
        try withDatabase { db throws in
            try db.execute(
                sql: "CREATE TABLE moment (id INTEGER PRIMARY KEY); CREATE TABLE token (id TEXT PRIMARY KEY)")
            let moment = Moment(id: Date(timeIntervalSince1970: 1_000)), token = Token(id: Data("abc".utf8))
            try moment.insert(db)
            try token.insert(db)
            #expect(try Moment.find(db, id: moment.id) == moment)
            #expect(try Moment.fetchOne(db, key: ["id": moment.id]) == moment)
            #expect(try Token.find(db, id: token.id) == token)
            #expect(try Token.deleteAll(db, ids: [token.id]) == 1)
        }
    }

    @Test("Keys of records that the record can't store throw, as saving it does")
    func unstorable() throws {
        try withDatabase { db throws in
            try db.execute(sql: "CREATE TABLE token (id TEXT PRIMARY KEY)")
            #expect(throws: EncodingError.self) { try Token.fetchOne(db, id: Data([0xFF])) }
        }
    }

    @Test("Keys of records of tables without records are stored as values are")
    func withoutRecords() throws {
        try withDatabase { db throws in
            try db.execute(sql: "CREATE TABLE device (id BLOB PRIMARY KEY)")
            try db.execute(literal: "INSERT INTO device VALUES (\(key))")
            #expect(try Table("device").filter(key: key).fetchCount(db) == 1)
            #expect(try Table("device").deleteOne(db, key: ["id": key]))
        }
    }
}
