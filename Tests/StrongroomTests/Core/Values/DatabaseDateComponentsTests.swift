import Foundation
import Strongroom
import Testing

@Suite("Date components")
struct DatabaseDateComponentsTests {
    static let full = DateComponents(year: 2013, month: 2, day: 3, hour: 4, minute: 5, second: 6, nanosecond: 7_000_000)

    static let texts: [(DatabaseDateComponents.Format, String, String)] = [
        (.YMD, "2013-02-03", "0000-01-01"),
        (.YMD_HM, "2013-02-03 04:05", "0000-01-01 00:00"),
        (.YMD_HMS, "2013-02-03 04:05:06", "0000-01-01 00:00:00"),
        (.YMD_HMSS, "2013-02-03 04:05:06.007", "0000-01-01 00:00:00.000"),
        (.HM, "04:05", "00:00"),
        (.HMS, "04:05:06", "00:00:00"),
        (.HMSS, "04:05:06.007", "00:00:00.000"),
    ]

    @Test("are stored in their format", arguments: texts)
    func writing(format: DatabaseDateComponents.Format, full: String, empty: String) throws {
        #expect(try stored(DatabaseDateComponents(Self.full, format: format)) == full.databaseValue)
        #expect(DatabaseDateComponents(DateComponents(), format: format).databaseValue == empty.databaseValue)
    }

    @Test("are read back with their format, and the fields of the text", arguments: texts)
    func reading(format: DatabaseDateComponents.Format, text: String, _: String) throws {
        let slow = DatabaseDateComponents.fromDatabaseValue(text.databaseValue)
        let fast = try read(DatabaseDateComponents.self, "?", arguments: [text])
        for value in [slow, fast] {
            let value = try #require(value)
            #expect(value.format == format)
            #expect(value.databaseValue == text.databaseValue)
            #expect((value.dateComponents.year != nil) == text.hasPrefix("2013"))
            #expect((value.dateComponents.hour != nil) == text.contains("04:05"))
            #expect((value.dateComponents.second != nil) == text.contains("05:06"))
            #expect((value.dateComponents.nanosecond != nil) == text.contains(".007"))
            #expect(value.dateComponents.timeZone == nil)
        }
    }

    @Test(
        "are read with the time zone of the text",
        arguments: [
            ("2013-02-03T04:05Z", 0), ("04:05:06+01:00", 3600), ("2013-02-03 04:05:06.007-05:30", -19_800),
        ])
    func timeZones(text: String, seconds: Int) throws {
        let value = try #require(DatabaseDateComponents.fromDatabaseValue(text.databaseValue))
        #expect(value.dateComponents.timeZone == TimeZone(secondsFromGMT: seconds))
    }

    @Test(
        "round nanoseconds to milliseconds, never up to a second",
        arguments: [
            (123_456_789, "00:00:00.123"), (123_556_789, "00:00:00.124"), (999_999_999, "00:00:00.999"),
        ])
    func nanoseconds(count: Int, text: String) {
        let value = DatabaseDateComponents(DateComponents(nanosecond: count), format: .HMSS)
        #expect(value.databaseValue == text.databaseValue)
    }

    @Test("are not checked against the clock: 25:61 stays 25:61")
    func durations() throws {
        let value = try #require(DatabaseDateComponents.fromDatabaseValue("25:61".databaseValue))
        #expect(value.dateComponents.hour == 25)
        #expect(value.databaseValue == "25:61".databaseValue)
    }

    @Test(
        "are not read from other values",
        arguments: [
            "".databaseValue, "now".databaseValue, "4:05".databaseValue, "2013-02-03 four".databaseValue, .null,
            1.databaseValue, 1.5.databaseValue,
        ])
    func refused(value: DatabaseValue) {
        #expect(DatabaseDateComponents.fromDatabaseValue(value) == nil)
        #expect(throws: RowDecodingError.self) {
            try withEncryptedQueue { queue in
                try queue.read { try DatabaseDateComponents.fetchAll($0, sql: "SELECT ?", arguments: [value]) }
            }
        }
    }

    @Test("of any text are read alike by both ways, and are equal after they are written and read")
    func anyText() throws {
        var dice = StressTests.Dice(state: 3), found = 0
        let alphabet = Array("0123456789-:. TZz+\0é")
        try withDatabase { db in
            for _ in 0..<4000 {
                var text = Array(
                    Self.texts.randomElement(using: &dice)!.1 + ["", "Z", "+01:00", " "].randomElement(using: &dice)!)
                for _ in 0..<Int.random(in: 0...2, using: &dice) {
                    text[Int.random(in: 0..<text.count, using: &dice)] = alphabet.randomElement(using: &dice)!
                }
                if Int.random(in: 0..<4, using: &dice) == 0 {
                    text.removeLast(Int.random(in: 1..<text.count, using: &dice))
                }
                let string = String(text)
                let slow = DatabaseDateComponents.fromDatabaseValue(string.databaseValue)
                let fast = try? DatabaseDateComponents.fetchOne(db, sql: "SELECT ?", arguments: [string])
                #expect(
                    slow?.dateComponents == fast?.dateComponents && slow?.format == fast?.format,
                    "\(string.debugDescription)")
                guard let slow else { continue }
                found += 1
                let written = try #require(
                    DatabaseDateComponents.fromDatabaseValue(slow.databaseValue), "\(string.debugDescription)")
                var expected = slow.dateComponents
                expected.timeZone = nil
                #expect(
                    written.dateComponents == expected && written.format == slow.format, "\(string.debugDescription)")
            }
        }
        #expect(found > 400)
    }

    @Test("are coded as their text")
    func coding() throws {
        let json = try JSONEncoder().encode([DatabaseDateComponents(Self.full, format: .YMD_HM)])
        #expect(String(decoding: json, as: UTF8.self) == #"["2013-02-03 04:05"]"#)
        let decoded = try JSONDecoder().decode([DatabaseDateComponents].self, from: json)
        #expect(decoded.map(\.format) == [.YMD_HM])
        #expect(decoded[0].dateComponents == DateComponents(year: 2013, month: 2, day: 3, hour: 4, minute: 5))
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode([DatabaseDateComponents].self, from: Data(#"["noon"]"#.utf8))
        }
    }

    @Test("have the format names of date formatters")
    func formats() {
        #expect(DatabaseDateComponents.Format.YMD_HMSS.rawValue == "yyyy-MM-dd HH:mm:ss.SSS")
        #expect(DatabaseDateComponents.Format(rawValue: "HH:mm") == .HM)
    }
}
