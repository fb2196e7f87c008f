import Foundation
import Strongroom
import Testing

@Suite("A database value")
struct DatabaseValueTests {
    @Test("has the storage class that SQLite gives it")
    func storage() throws {
        let row = try withEncryptedQueue { queue in
            try #require(try queue.read { try Row.fetchOne($0, sql: "SELECT NULL, 1, 1.0, 'a', x'61', x''") })
        }
        let values = row.map(\.1)
        guard case .null = values[0].storage, case .int64(1) = values[1].storage, case .double(1) = values[2].storage,
            case .string("a") = values[3].storage, case .blob(Data([0x61])) = values[4].storage,
            case .blob(Data()) = values[5].storage
        else {
            Issue.record("\(values)")
            return
        }
        #expect(values.map(\.isNull) == [true, false, false, false, false, false])
    }

    @Test("of any convertible value is made of it, of others it is not")
    func anyValue() {
        #expect(DatabaseValue(value: 1) == 1.databaseValue)
        #expect(DatabaseValue(value: AnyHashable("a")) == "a".databaseValue)
        #expect(DatabaseValue(value: Int?.none as Any) == .null)
        #expect(DatabaseValue(value: Int?.some(1) as Any) == 1.databaseValue)
        #expect(DatabaseValue(value: NSNumber(value: 1)) == 1.databaseValue)
        #expect(DatabaseValue(value: NSNull()) == .null)
        #expect(DatabaseValue(value: [1]) == nil)
        #expect(DatabaseValue(value: "a"[...]) == nil)
    }

    @Test("equals a number of the same value, and hashes like it")
    func numbers() {
        #expect(1.databaseValue == 1.0.databaseValue)
        #expect(Set([1.databaseValue, 1.0.databaseValue, true.databaseValue]).count == 1)
        #expect(0.0.databaseValue == (-0.0).databaseValue)
        #expect(Int64.max.databaseValue != 0x1p63.databaseValue)
        #expect((Int64(1) << 53 + 1).databaseValue != 0x1p53.databaseValue)
        #expect(1.databaseValue != "1".databaseValue)
    }

    @Test("equals text and blobs of the same bytes")
    func bytes() {
        #expect("é".databaseValue == "é".databaseValue)
        #expect("\u{E9}".databaseValue != "e\u{301}".databaseValue)
        #expect("a".databaseValue != Data("a".utf8).databaseValue)
        #expect(Data([1]).databaseValue == Data([1]).databaseValue)
        #expect(DatabaseValue.null == DatabaseValue.null)
        #expect(DatabaseValue.null != 0.databaseValue)
    }

    @Test("shows its value, but of a blob only the size")
    func description() {
        #expect(DatabaseValue.null.description == "NULL")
        #expect(Int64.min.databaseValue.description == "-9223372036854775808")
        #expect(1.0.databaseValue.description == "1.0")
        #expect("a'b\"c".databaseValue.description == #""a\'b\"c""#)
        #expect(Data([1, 2, 3]).databaseValue.description == "Data(3 bytes)")
    }

    @Test(
        "binds and reads back as itself",
        arguments: [
            .null, Int64.min.databaseValue, 1.5.databaseValue, "a\0b".databaseValue, "".databaseValue,
            Data().databaseValue,
            Data([0, 1]).databaseValue,
        ] as [DatabaseValue])
    func roundTrip(value: DatabaseValue) throws {
        #expect(try stored(value) == value)
        #expect(DatabaseValue.fromDatabaseValue(value) == value)
    }

    @Test("is fetched as an optional from nothing, and as NULL from a NULL")
    func fetching() throws {
        try withEncryptedQueue { queue in
            try queue.read { db in
                let all = try DatabaseValue.fetchAll(db, sql: "SELECT NULL UNION ALL SELECT 1")
                #expect(all == [.null, 1.databaseValue])
                let none = try DatabaseValue.fetchOne(db, sql: "SELECT 1 WHERE 0")
                #expect(none == nil)
            }
        }
    }
}

@Suite("A failed conversion")
struct ConversionErrorTests {
    func message(_ body: (Database) throws -> Void) throws -> String {
        var configuration = Configuration.encrypted()
        configuration.publicStatementArguments = true
        return try withEncryptedQueue(configuration) { queue in
            try queue.read { db in
                do {
                    try body(db)
                    return "no error"
                } catch {
                    return "\(error)"
                }
            }
        }
    }

    @Test("names the column, the value and the type, for every way of reading")
    func messages() throws {
        let messages = [
            try message { _ = try Int8.fetchOne($0, sql: "SELECT 1000 AS age") },
            try message { _ = try Int8.fetchAll($0, sql: "SELECT 1000 AS age") },
            try message { _ = try Row.fetchOne($0, sql: "SELECT 1000 AS age")?.decode(Int8.self, forColumn: "age") },
            try message { _ = try Row.fetchOne($0, sql: "SELECT 1000 AS age")?.decode(Int8.self, atIndex: 0) },
        ]
        for message in messages {
            #expect(message.contains("Int8"))
            #expect(message.contains("\"age\""))
        }
        // A row that has left its statement knows no configuration that would make its values public.
        #expect(messages.map { $0.contains("1000") } == [true, true, false, false])
    }

    @Test(
        "names them for all types",
        arguments: [
            ("Date", "'noon'", "\"noon\""), ("UUID", "x'01'", "Data(1 bytes)"), ("Decimal", "'1,5'", "\"1,5\""),
            ("URL", "x'FF'", "Data(1 bytes)"), ("Color", "'{}'", "\"{}\""), ("UInt64", "-1", "-1"),
            ("Int", "NULL", "NULL"),
        ])
    func types(type: String, sql: String, value: String) throws {
        let types: [any DatabaseValueConvertible.Type] = [
            Date.self, UUID.self, Decimal.self, URL.self, CodableTests.Color.self, UInt64.self, Int.self,
        ]
        let reader = try #require(types.first { "\($0)" == type })
        let message = try message { db in
            func fetch<T: DatabaseValueConvertible>(_ type: T.Type) throws {
                _ = try T.fetchAll(db, sql: "SELECT \(sql) AS col")
            }
            try fetch(reader)
        }
        #expect(message.contains(type))
        #expect(message.contains(value))
        #expect(message.contains("\"col\""))
    }
}
