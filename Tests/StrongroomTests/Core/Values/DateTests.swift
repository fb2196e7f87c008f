import Foundation
import Strongroom
import Testing

@Suite("A date")
struct DateTests {
    static let texts: [(Double, String)] = [
        (0, "1970-01-01 00:00:00.000"),
        (0.123, "1970-01-01 00:00:00.123"),
        (0.0004, "1970-01-01 00:00:00.000"),
        (0.9994, "1970-01-01 00:00:00.999"),
        (0.9996, "1970-01-01 00:00:01.000"),
        (-0.001, "1969-12-31 23:59:59.999"),
        (-0.0001, "1970-01-01 00:00:00.000"),
        (-1.5, "1969-12-31 23:59:58.500"),
        (951_782_400, "2000-02-29 00:00:00.000"),
        (1_000_000_000.9996, "2001-09-09 01:46:41.000"),
        (1_478_190_000.678, "2016-11-03 16:20:00.678"),
        (1_700_000_000.015, "2023-11-14 22:13:20.015"),
        (253_402_300_799.999, "9999-12-31 23:59:59.999"),
        (-12_219_292_800, "1582-10-15 00:00:00.000"),
        (-12_219_292_801, "1582-10-14 23:59:59.000"),
        (-15_000_000_000, "1494-09-01 21:20:00.000"),
        (-62_135_596_800, "0001-01-01 00:00:00.000"),
        (-62_167_219_200, "0000-01-01 00:00:00.000"),
    ]

    @Test("is stored as text in UTC, to the nearest millisecond", arguments: texts)
    func text(seconds: Double, text: String) throws {
        let date = Date(timeIntervalSince1970: seconds)
        #expect(date.databaseValue == text.databaseValue)
        #expect(try stored(date) == text.databaseValue)
    }

    @Test(
        "is read from every text with a date that SQLite's date functions know",
        arguments: [
            ("2013-01-01", 1_356_998_400),
            ("2013-01-01 ", 1_356_998_400),
            ("2013-01-01 12:34", 1_357_043_640),
            ("2013-01-01T12:34", 1_357_043_640),
            ("2013-01-01 12:34:56", 1_357_043_696),
            ("2013-01-01  12:34:56", 1_357_043_696),
            ("2013-01-01T12:34:56", 1_357_043_696),
            ("2013-01-01 12:34:56.7", 1_357_043_696.7),
            ("2013-01-01 12:34:56.789", 1_357_043_696.789),
            ("2013-01-01T12:34:56.789912345678", 1_357_043_696.789),
            ("2013-01-01T12:34Z", 1_357_043_640),
            ("2013-01-01T12:34:56z", 1_357_043_696),
            ("2013-01-01 12:34:56.789 Z ", 1_357_043_696.789),
            ("2013-01-01T12:34:56+01:00", 1_357_040_096),
            ("2013-01-01T12:34:56 +01:00", 1_357_040_096),
            ("2013-01-01 12:34:56.789-05:30", 1_357_063_496.789),
            ("2013-01-01 12:34:56-14:00", 1_357_094_096),
            ("2013-01-01 24:00", 1_357_084_800),
            ("2012-02-29", 1_330_473_600),
            ("2013-02-29", 1_362_096_000),
            ("2013-02-31", 1_362_268_800),
            ("2016-12-31 23:59:60", 1_483_228_800),
            ("1582-10-14", -12_219_379_200),
            ("1500-02-29", -14_826_672_000),
            ("0000-01-01", -62_167_219_200),
            ("9999-12-31 23:59:59.999", 253_402_300_799.999),
        ] as [(String, Double)])
    func reading(text: String, seconds: Double) throws {
        let slow = try #require(Date.fromDatabaseValue(text.databaseValue))
        #expect(abs(slow.timeIntervalSince1970 - seconds) < 0.00001)
        #expect(Date.fromDatabaseValue(Data(text.utf8).databaseValue) == slow)
        #expect(try read(Date.self, "?", arguments: [text]) == slow)
        #expect(try read(Date.self, "?", arguments: [Data(text.utf8)]) == slow)
    }

    @Test("is the date of SQLite's date functions, also before 1582")
    func agreement() throws {
        try withDatabase { db in
            for year in stride(from: 0, through: 9900, by: 33) {
                for day in ["-01-01", "-02-28", "-03-01", "-10-10", "-12-31"] {
                    let text = String(format: "%04d", year) + day
                    let row = try #require(
                        try Row.fetchOne(db, sql: "SELECT julianday(?1), unixepoch(?1)", arguments: [text]))
                    let date = try #require(Date.fromDatabaseValue(text.databaseValue))
                    #expect(date.timeIntervalSince1970 == row[1])
                    #expect(Date(julianDay: row[0]) == date)
                    #expect(date.databaseValue == "\(text) 00:00:00.000".databaseValue)
                }
            }
        }
    }

    @Test(
        "is not read from other texts",
        arguments: [
            "", "now", "abc", "2013", "2013-01", "13-01-01", "2013-1-1", "2013/01/01", "-2013-01-01", "+2013-01-01",
            "10000-01-01", "2013-00-01", "2013-13-01", "2013-01-00", "2013-01-32", "2013-01-01 25:00",
            "2013-01-01 12:60",
            "2013-01-01 12:34:61", "2013-01-01 12:34:5", "2013-01-01 12:34:56.", "2013-01-01 12:34:56,7",
            "2013-01-01 1:2:3",
            "2013-01-01t12:34", "2013-01-01_12:34", "2013-01-01Z", "2013-01-01 12:34:56+0100", "2013-01-01 12:34:56+01",
            "2013-01-01 12:34:56+15:00", "2013-01-01 12:34:56+01:60", "2013-01-01 12:34:56Zulu", "2013-01-01 noon",
            " 2013-01-01", "12:34", "12:34:56.789", "2456293.5", "1234567890", "２０１３-01-01",
        ])
    func refused(text: String) {
        #expect(Date.fromDatabaseValue(text.databaseValue) == nil)
        #expect(throws: RowDecodingError.self) { try read(Date.self, "?", arguments: [text]) }
    }

    @Test("is read from numbers as seconds since 1970")
    func numbers() throws {
        #expect(Date.fromDatabaseValue(1_000_000_000.databaseValue) == Date(timeIntervalSince1970: 1_000_000_000))
        #expect(Date.fromDatabaseValue((-1.5).databaseValue) == Date(timeIntervalSince1970: -1.5))
        #expect(try read(Date.self, "1000000000") == Date(timeIntervalSince1970: 1_000_000_000))
        #expect(try read(Date.self, "-1.5") == Date(timeIntervalSince1970: -1.5))
    }

    @Test("is written as SQLite writes it, on every day around the turns of centuries and in random instants")
    func sameAsSQLite() throws {
        var generator = SystemRandomNumberGenerator()
        var instants: [Int64] = (0..<2000).map { _ in .random(in: -12_219_292_800...253_402_300_799, using: &generator)
        }
        for year: Int64 in [1600, 1700, 1900, 2000, 2100, 2400] {
            let turn = (year - 1970) * 31_556_952
            for day: Int64 in -400..<400 { instants.append(turn + day * 86_400) }
        }
        try withEncryptedQueue { queue in
            try queue.read { db in
                let statement = try db.makeStatement(sql: "SELECT strftime('%Y-%m-%d %H:%M:%S.000', ?, 'unixepoch')")
                for seconds in instants {
                    let date = Date(timeIntervalSince1970: Double(seconds))
                    let text = try #require(try String.fetchOne(statement, arguments: [seconds]))
                    #expect(date.databaseValue == text.databaseValue)
                    #expect(Date.fromDatabaseValue(text.databaseValue) == date)
                }
            }
        }
    }

    @Test(
        "reads back to the text it was read from, for each millisecond of a second",
        arguments: [0, 1_700_000_000, -5_000_000_000])
    func milliseconds(start: Double) throws {
        for millisecond in 0..<1000 {
            let date = Date(timeIntervalSince1970: start + Double(millisecond) / 1000)
            let again = try #require(Date.fromDatabaseValue(date.databaseValue))
            #expect(again.databaseValue == date.databaseValue)
            #expect(abs(again.timeIntervalSince(date)) < 0.0005)
        }
    }

    @Test(
        "outside of the years 0000 to 9999 is stored as a number, and reads back",
        arguments: [
            253_402_300_800, 1e12, 1e18, 1e300, -62_167_219_201, -1e15, .infinity, -.infinity,
        ] as [Double])
    func farAway(seconds: Double) throws {
        let date = Date(timeIntervalSince1970: seconds)
        let value = try stored(date)
        #expect(value == date.databaseValue)
        #expect(value == date.timeIntervalSince1970.databaseValue)
        #expect(Date.fromDatabaseValue(value) == date)
    }

    @Test("that is not a number is NULL")
    func notANumber() throws {
        let date = Date(timeIntervalSince1970: .nan)
        #expect(date.databaseValue.isNull)
        #expect(try stored(date).isNull)
    }

    @Test("of Foundation's distant past and future is text")
    func distant() throws {
        #expect(Date.distantPast.databaseValue == "0000-12-30 00:00:00.000".databaseValue)
        #expect(Date.distantFuture.databaseValue == "4001-01-01 00:00:00.000".databaseValue)
        #expect(try read(Date.self, "?", arguments: [Date.distantPast]) == .distantPast)
    }

    @Test("sorts in SQL, and compares with CURRENT_TIMESTAMP")
    func comparisons() throws {
        #expect(try read(Bool.self, "? < CURRENT_TIMESTAMP", arguments: [Date(timeIntervalSince1970: 0)]) == true)
        #expect(try read(Bool.self, "? > CURRENT_TIMESTAMP", arguments: [Date.distantFuture]) == true)
    }

    @Test(
        "is made of SQLite's Julian days",
        arguments: ["1970-01-01 00:00:00", "2012-12-31 12:30:45", "0000-03-01 06:00:00", "9999-12-31 23:59:59"])
    func julianDays(text: String) throws {
        let day = try #require(try read(Double.self, "julianday(?)", arguments: [text]))
        let seconds = try #require(try read(Double.self, "strftime('%s', ?)", arguments: [text]))
        #expect(Date(julianDay: day) == Date(timeIntervalSince1970: seconds))
    }

    @Test(
        "is not made of Julian days that SQLite does not know",
        arguments: [-1, 5_373_484.5, 1e300, .nan, .infinity] as [Double])
    func noJulianDay(day: Double) {
        #expect(Date(julianDay: day) == nil)
    }
}
