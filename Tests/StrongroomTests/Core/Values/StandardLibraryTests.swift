import Foundation
import Strongroom
import Testing

@Suite("Integers")
struct IntegerTests {
    @Test("span the whole range of Int64", arguments: [Int64.min, Int64.min + 1, -1, 0, 1, Int64.max - 1, Int64.max])
    func range(value: Int64) throws {
        #expect(try stored(value) == value.databaseValue)
        #expect(try read(Int64.self, "?", arguments: [value]) == value)
        #expect(try read(Int.self, "?", arguments: [value]) == Int(value))
        #expect(Int64.fromDatabaseValue(value.databaseValue) == value)
    }

    @Test("that do not fit are refused, never wrapped")
    func overflow() throws {
        for (sql, fast, slow) in try readBothWays(Int8.self, ["128", "-129", "9223372036854775807", "1e30"]) {
            #expect(fast == nil, "\(sql)")
            #expect(slow == nil, "\(sql)")
        }
        for (sql, fast, slow) in try readBothWays(UInt64.self, ["-1", "-9223372036854775808", "-1.9"]) {
            #expect(fast == nil, "\(sql)")
            #expect(slow == nil, "\(sql)")
        }
        for (sql, fast, slow) in try readBothWays(Int.self, ["1e30", "-1e30", "9e999", "9223372036854775807.0"]) {
            #expect(fast == nil, "\(sql)")
            #expect(slow == nil, "\(sql)")
        }
        #expect(throws: RowDecodingError.self) { try read(Int.self, "'99999999999999999999'") }
    }

    @Test("at the limits of each type read back")
    func limits() throws {
        #expect(try read(Int8.self, "-128") == .min)
        #expect(try read(UInt8.self, "255") == .max)
        #expect(try read(Int16.self, "-32768") == .min)
        #expect(try read(UInt16.self, "65535") == .max)
        #expect(try read(Int32.self, "-2147483648") == .min)
        #expect(try read(UInt32.self, "4294967295") == .max)
        #expect(try read(UInt.self, "9223372036854775807") == UInt(Int64.max))
        #expect(try read(Int64.self, "'9223372036854775807'") == .max)
        #expect(try stored(UInt64(Int64.max)) == Int64.max.databaseValue)
    }

    @Test("lose the fraction of a double, as in SQLite")
    func fractions() throws {
        for (sql, value) in [("1.9", 1), ("-1.9", -1), ("0.5", 0), ("-9223372036854775808.0", Int.min)] {
            let read = try readBothWays(Int.self, [sql])
            #expect(read[0].fast == value)
            #expect(read[0].slow == value)
        }
        #expect(Int.fromDatabaseValue(DatabaseValue.null) == nil)
        #expect(Int.fromDatabaseValue("1".databaseValue) == nil)
    }

    @Test("larger than Int64 stop the program, with a way out")
    func tooLarge() async throws {
        let result = try #require(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = UInt64.max.databaseValue
            })
        #expect(String(decoding: result.standardErrorContent, as: UTF8.self).contains("store it as text or as data"))
        await #expect(processExitsWith: .failure) { _ = try stored(UInt.max) }
    }
}

@Suite("Doubles and booleans")
struct DoubleTests {
    @Test(
        "Infinities, the negative zero and the limits read back",
        arguments: [
            .infinity, -.infinity, -0.0, 0, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0.1, .pi,
        ] as [Double])
    func doubles(value: Double) throws {
        guard case .double(let double) = try stored(value).storage else {
            Issue.record("\(value) is not stored as a double")
            return
        }
        #expect(double.bitPattern == value.bitPattern)
        #expect(try read(Double.self, "?", arguments: [value])?.bitPattern == value.bitPattern)
    }

    @Test("NaN is NULL, as SQLite stores it")
    func notANumber() throws {
        #expect(try stored(Double.nan).isNull)
        #expect(Double.nan.databaseValue.isNull)
        #expect(Float.nan.databaseValue.isNull)
        #expect(throws: RowDecodingError.self) {
            try withEncryptedQueue { queue in
                try queue.read { try Double.fetchAll($0, sql: "SELECT ?", arguments: [Double.nan]) }
            }
        }
    }

    @Test("Numbers read as doubles and floats; text does not, from a database value")
    func reading() throws {
        #expect(Double.fromDatabaseValue(Int64.max.databaseValue) == 0x1p63)
        #expect(Float.fromDatabaseValue(0.5.databaseValue) == 0.5)
        #expect(Double.fromDatabaseValue("1.5".databaseValue) == nil)
        #expect(try stored(Float(0.1)) == Double(Float(0.1)).databaseValue)
        #expect(try read(Float.self, "0.5") == 0.5)
    }

    @Test("Numbers other than zero are true")
    func booleans() throws {
        for (sql, expected) in [("0", false), ("1", true), ("-2", true), ("0.5", true), ("0.0", false)] {
            let read = try readBothWays(Bool.self, [sql])
            #expect(read[0].fast == expected, "\(sql)")
            #expect(read[0].slow == expected, "\(sql)")
        }
        #expect(try stored(true) == 1.databaseValue)
        #expect(try stored(false) == 0.databaseValue)
        #expect(Bool.fromDatabaseValue("true".databaseValue) == nil)
    }
}

@Suite("Text and blobs")
struct TextTests {
    @Test(
        "Text is stored with all its bytes",
        arguments: ["", "a", "a\0b", "\0", "é", "e\u{301}", "👩‍🚒", "O'Brien", String(repeating: "long ", count: 5000)])
    func text(text: String) throws {
        #expect(try stored(text) == text.databaseValue)
        #expect(try read(String.self, "?", arguments: [text]) == text)
        #expect(try read(Int.self, "length(CAST(? AS BLOB))", arguments: [text]) == text.utf8.count)
        #expect(try read(String.self, "typeof(?)", arguments: [text]) == "text")
    }

    @Test("Invalid UTF-8 is repaired in text, and refused in a blob")
    func invalidUTF8() throws {
        #expect(try read(String.self, "CAST(x'41FF42' AS TEXT)") == "A\u{FFFD}B")
        #expect(String.fromDatabaseValue(Data([0x41, 0xFF, 0x42]).databaseValue) == nil)
        #expect(try read(Data.self, "CAST(x'41FF42' AS TEXT)") == Data([0x41, 0xFF, 0x42]))
    }

    @Test("Text reads as its UTF-8, and a blob as the text it has; numbers are neither, from a database value")
    func crossing() throws {
        #expect(Data.fromDatabaseValue("é".databaseValue) == Data([0xC3, 0xA9]))
        #expect(String.fromDatabaseValue(Data([0xC3, 0xA9]).databaseValue) == "é")
        #expect(String.fromDatabaseValue(1.databaseValue) == nil)
        #expect(Data.fromDatabaseValue(1.databaseValue) == nil)
        #expect(try read(Data.self, "'a' || char(0) || 'b'") == Data([0x61, 0, 0x62]))
    }

    @Test("Reading a blob as a text, a date or a number leaves it a blob")
    func blobsStay() throws {
        try withDatabase { (db) throws in
            let cursor = try Row.fetchCursor(
                db, sql: "SELECT CAST('2026-11-21' AS BLOB) AS date, CAST('12' AS BLOB) AS n, x'' AS none")
            let row = try #require(try cursor.next())
            let before = row.copy()
            #expect(row["date"] == "2026-11-21")
            #expect(try row.decode(Date.self, forColumn: "date").timeIntervalSince1970 == 1_795_219_200)
            #expect(try row.decode(DatabaseDateComponents.self, forColumn: "date").format == .YMD)
            #expect(try row.decode(String.self, forColumn: "n") == "12")
            #expect(try row.decode(String.self, forColumn: "none") == "")
            #expect(row.copy() == before)
            #expect(
                Array(row.databaseValues) == [
                    Data("2026-11-21".utf8).databaseValue, Data("12".utf8).databaseValue, Data().databaseValue,
                ])
        }
    }

    @Test("Blobs are stored with all their bytes, none or ten million", arguments: [0, 1, 4096, 10_000_000])
    func blobs(size: Int) throws {
        let blob = Data((0..<size).lazy.map { UInt8(truncatingIfNeeded: $0 &* 31) })
        #expect(try stored(blob) == blob.databaseValue)
        #expect(try read(Data.self, "?", arguments: [blob]) == blob)
        #expect(try read(String.self, "typeof(?)", arguments: [blob]) == "blob")
    }

    @Test("A slice of data is stored by itself")
    func slices() throws {
        let slice = Data([0, 1, 2, 3, 4])[2..<4]
        #expect(try stored(slice) == Data([2, 3]).databaseValue)
    }

    @Test("Identifiers are quoted", arguments: [("a", "\"a\""), ("a\"b", "\"a\"\"b\""), ("", "\"\"")])
    func identifiers(name: String, quoted: String) {
        #expect(name.quotedDatabaseIdentifier == quoted)
    }
}

@Suite("Optionals and raw values")
struct WrappedValuesTests {
    enum Grape: String, DatabaseValueConvertible, StatementColumnConvertible { case chardonnay, merlot }
    enum Level: UInt8, Codable, DatabaseValueConvertible { case low = 1, high = 200 }
    struct Tag: RawRepresentable, Codable, Hashable, DatabaseValueConvertible { var rawValue: String }

    @Test("nil is NULL, and a value is itself")
    func optionals() throws {
        #expect(try stored(Int?.none).isNull)
        #expect(try stored(Int?.some(1)) == 1.databaseValue)
        #expect(try stored(Date?.none).isNull)
        #expect(try read(Int?.self, "NULL") == .some(nil))
        #expect(Int?.fromDatabaseValue("one".databaseValue) == nil)
        #expect(UUID?.fromDatabaseValue(.null) == .some(nil))
    }

    @Test("Enums and wrappers are their raw values, Codable or not")
    func rawValues() throws {
        #expect(try stored(Grape.merlot) == "merlot".databaseValue)
        #expect(try stored(Level.high) == 200.databaseValue)
        #expect(try stored(Tag(rawValue: "{}")) == "{}".databaseValue)
        #expect(try read(Grape.self, "'merlot'") == .merlot)
        #expect(Level.fromDatabaseValue(1.databaseValue) == .low)
        #expect(Tag.fromDatabaseValue("a".databaseValue) == Tag(rawValue: "a"))
    }

    @Test("Other raw values are refused")
    func noRawValue() throws {
        #expect(Grape.fromDatabaseValue("pinot".databaseValue) == nil)
        #expect(Level.fromDatabaseValue(2.databaseValue) == nil)
        #expect(Level.fromDatabaseValue(257.databaseValue) == nil)
        #expect(throws: RowDecodingError.self) { try read(Grape.self, "'pinot'") }
    }
}
