import Foundation
import Strongroom
import Testing

@Suite("Foundation's values")
struct FoundationTests {
    static let uuid = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")!

    // MARK: - UUID

    @Test("A UUID is stored as a blob of its 16 bytes")
    func uuid() throws {
        let bytes = Data([
            0xE6, 0x21, 0xE1, 0xF8, 0xC3, 0x6C, 0x49, 0x5A, 0x93, 0xFC, 0x0C, 0x24, 0x7A, 0x3E, 0x6E, 0x5F,
        ])
        #expect(Self.uuid.databaseValue == bytes.databaseValue)
        #expect(try stored(Self.uuid) == bytes.databaseValue)
    }

    @Test("A UUID is read from 16 bytes, and from text in either case")
    func uuidReading() throws {
        let expressions = [
            "x'E621E1F8C36C495A93FC0C247A3E6E5F'",
            "'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'",
            "'e621e1f8-c36c-495a-93fc-0c247a3e6e5f'",
        ]
        for (sql, fast, slow) in try readBothWays(UUID.self, expressions) {
            #expect(fast == Self.uuid, "\(sql)")
            #expect(slow == Self.uuid, "\(sql)")
        }
    }

    @Test("A UUID is not read from other values")
    func noUUID() throws {
        let expressions = [
            "x''", "x'E621E1F8'", "x'E621E1F8C36C495A93FC0C247A3E6E5F00'", "''", "'e621e1f8c36c495a93fc0c247a3e6e5f'",
            "'{E621E1F8-C36C-495A-93FC-0C247A3E6E5F}'", "'E621E1F8-C36C-495A-93FC-0C247A3E6E5G'",
            "'E621E1F8-C36C-495A-93FC-0C247A3E6E5F '", "'E621E1F80C36C-495A-93FC-0C247A3E6E5F'", "12", "1.5", "NULL",
        ]
        for (sql, fast, slow) in try readBothWays(UUID.self, expressions) {
            #expect(fast == nil, "\(sql)")
            #expect(slow == nil, "\(sql)")
        }
    }

    // MARK: - URL

    @Test("A URL is stored as its absolute string")
    func url() throws {
        let url = try #require(URL(string: "b?c=d", relativeTo: URL(string: "https://example.com/a/")))
        #expect(try stored(url) == "https://example.com/a/b?c=d".databaseValue)
        #expect(url.databaseValue == "https://example.com/a/b?c=d".databaseValue)
        #expect(try read(URL.self, "?", arguments: [url]) == url.absoluteURL)
        #expect(URL.fromDatabaseValue(url.databaseValue) == url.absoluteURL)
    }

    @Test("A URL is not read from numbers, from empty text or from invalid UTF-8")
    func noURL() throws {
        for (sql, fast, slow) in try readBothWays(URL.self, ["1", "1.5", "''", "x'FF'", "NULL"]) {
            #expect(fast == nil, "\(sql)")
            #expect(slow == nil, "\(sql)")
        }
    }

    // MARK: - Decimal

    @Test(
        "A decimal is stored as text with all its digits",
        arguments: [
            "0", "-1.5", "0.1", "1.2345678901234567890123456789", "12345678901234567890123456789012345678",
            "0.0000000001",
        ])
    func decimal(digits: String) throws {
        let decimal = try #require(Decimal(string: digits, locale: Locale(identifier: "en_US_POSIX")))
        #expect(try stored(decimal) == digits.databaseValue)
        #expect(Decimal.fromDatabaseValue(digits.databaseValue) == decimal)
        #expect(try read(Decimal.self, "?", arguments: [decimal]) == decimal)
    }

    @Test("A decimal is read from texts that are numbers, and from numbers")
    func decimalReading() throws {
        let values: [(String, Decimal)] = [
            ("'1e3'", 1000), ("'1.5E-1'", Decimal(sign: .plus, exponent: -2, significand: 15)), ("'+1'", 1),
            ("'.5'", 0.5),
            ("'1.'", 1), ("-12", -12), ("1.5", 1.5), ("9223372036854775807", Decimal(Int64.max)),
            ("-9223372036854775808", Decimal(Int64.min)),
        ]
        let read = try readBothWays(Decimal.self, values.map(\.0))
        for ((sql, decimal), value) in zip(values, read) {
            #expect(value.fast == decimal, "\(sql)")
            #expect(value.slow == decimal, "\(sql)")
        }
    }

    @Test("A decimal is not read from text that is only partly a number, nor from numbers it can't hold")
    func noDecimal() throws {
        let expressions = [
            "''", "'.'", "'-'", "'1e'", "'1,5'", "'1.5 apples'", "' 1'", "'1 '", "'0x10'", "x'31'", "9e999", "1e300",
            "NULL",
        ]
        for (sql, fast, slow) in try readBothWays(Decimal.self, expressions) {
            #expect(fast == nil, "\(sql)")
            #expect(slow == nil, "\(sql)")
        }
    }

    @Test("A decimal that is not a number reads back as such")
    func decimalNaN() throws {
        #expect(try stored(Decimal.nan) == "NaN".databaseValue)
        #expect(Decimal.fromDatabaseValue("NaN".databaseValue)?.isNaN == true)
    }

    // MARK: - CGFloat

    @Test("A CGFloat is a double")
    func cgFloat() throws {
        #expect(try stored(CGFloat(1.5)) == 1.5.databaseValue)
        #expect(CGFloat.fromDatabaseValue(2.databaseValue) == 2)
        #expect(CGFloat.fromDatabaseValue("2".databaseValue) == nil)
        #expect(try read(CGFloat.self, "0.25") == 0.25)
    }
}

@Suite("Foundation's classes")
struct FoundationClassesTests {
    @Test("NSNumber is an integer or a double, as it is made")
    func numbers() throws {
        #expect(try stored(NSNumber(value: 1)) == 1.databaseValue)
        #expect(try stored(NSNumber(value: true)) == 1.databaseValue)
        #expect(try stored(NSNumber(value: Int8(-3))) == (-3).databaseValue)
        #expect(try stored(NSNumber(value: UInt8(200))) == 200.databaseValue)
        #expect(try stored(NSNumber(value: UInt64(5))) == 5.databaseValue)
        #expect(try stored(NSNumber(value: Int64.min)) == Int64.min.databaseValue)
        guard case .double(1) = try stored(NSNumber(value: 1.0)).storage else {
            Issue.record("a double became an integer")
            return
        }
        #expect(try stored(NSNumber(value: Float(0.5))) == 0.5.databaseValue)
    }

    @Test("NSDecimalNumber is an integer when it can be, else a double")
    func decimalNumbers() throws {
        #expect(try stored(NSDecimalNumber(string: "9223372036854775807")) == Int64.max.databaseValue)
        #expect(try stored(NSDecimalNumber(string: "1.0")) == 1.databaseValue)
        #expect(try stored(NSDecimalNumber(string: "0.1")) == 0.1.databaseValue)
        #expect(try stored(NSDecimalNumber(string: "9223372036854775808")) == 0x1p63.databaseValue)
        #expect(try stored(NSDecimalNumber.notANumber).isNull)
    }

    @Test("Numbers are read from numbers, and from text that contains one")
    func readingNumbers() {
        #expect(NSNumber.fromDatabaseValue(1.databaseValue) == NSNumber(value: 1))
        #expect(NSNumber.fromDatabaseValue(1.5.databaseValue) == NSNumber(value: 1.5))
        #expect(NSNumber.fromDatabaseValue("9223372036854775808".databaseValue)?.stringValue == "9223372036854775808")
        #expect(NSNumber.fromDatabaseValue("one".databaseValue) == nil)
        #expect(NSNumber.fromDatabaseValue(.null) == nil)
        #expect(NSNumber.fromDatabaseValue(Data("1".utf8).databaseValue) == nil)
        #expect(NSDecimalNumber.fromDatabaseValue(1.databaseValue) == NSDecimalNumber(value: 1))
        #expect(NSDecimalNumber.fromDatabaseValue("0.1".databaseValue) == NSDecimalNumber(string: "0.1"))
    }

    @Test("NSString is text, mutable or not")
    func strings() throws {
        #expect(try stored(NSString(string: "é")) == "é".databaseValue)
        #expect(try stored(NSMutableString(string: "m")) == "m".databaseValue)
        #expect(NSString.fromDatabaseValue("é".databaseValue) == NSString(string: "é"))
        let mutable = try #require(NSMutableString.fromDatabaseValue("m".databaseValue))
        mutable.append("n")
        #expect(mutable == NSMutableString(string: "mn"))
        #expect(NSString.fromDatabaseValue(1.databaseValue) == nil)
    }

    @Test("NSData is a blob, NSDate a text, NSUUID a blob, NSURL a text")
    func others() throws {
        #expect(try stored(NSData(data: Data([1, 2]))) == Data([1, 2]).databaseValue)
        #expect(NSData.fromDatabaseValue(Data([1, 2]).databaseValue) == NSData(data: Data([1, 2])))
        #expect(try stored(NSDate(timeIntervalSince1970: 0)) == "1970-01-01 00:00:00.000".databaseValue)
        #expect(NSDate.fromDatabaseValue("1970-01-01".databaseValue) == NSDate(timeIntervalSince1970: 0))
        let uuid = FoundationTests.uuid
        let nsUUID = try #require(NSUUID(uuidString: uuid.uuidString))
        #expect(try stored(nsUUID) == uuid.databaseValue)
        #expect(NSUUID.fromDatabaseValue(uuid.databaseValue)?.uuidString == uuid.uuidString)
        let url = try #require(NSURL(string: "https://example.com"))
        #expect(try stored(url) == "https://example.com".databaseValue)
        #expect(NSURL.fromDatabaseValue("https://example.com".databaseValue)?.absoluteString == "https://example.com")
    }

    @Test("NSNull is NULL, and is read from nothing")
    func null() throws {
        #expect(try stored(NSNull()).isNull)
        #expect(NSNull.fromDatabaseValue(.null) == nil)
        #expect(NSNull.fromDatabaseValue(0.databaseValue) == nil)
    }
}
