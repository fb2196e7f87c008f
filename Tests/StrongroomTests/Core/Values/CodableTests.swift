import Foundation
import Strongroom
import Testing

@Suite("A Codable value")
struct CodableTests {
    struct Color: Codable, Equatable, DatabaseValueConvertible {
        var red = 0.5
        var name: String?
        var date: Date?
        var data: Data?
    }

    struct Wrapper<Value: Codable & Equatable & Sendable>: Codable, Equatable, DatabaseValueConvertible {
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

    struct Sorted: Codable, DatabaseValueConvertible {
        var b = 1
        var a = 2
    }

    struct Custom: Codable, Equatable, DatabaseValueConvertible {
        var number: Double
        static func databaseJSONEncoder() -> JSONEncoder {
            let encoder = JSONEncoder()
            encoder.nonConformingFloatEncodingStrategy = .convertToString(
                positiveInfinity: "+", negativeInfinity: "-", nan: "?")
            return encoder
        }
        static func databaseJSONDecoder() -> JSONDecoder {
            let decoder = JSONDecoder()
            decoder.nonConformingFloatDecodingStrategy = .convertFromString(
                positiveInfinity: "+", negativeInfinity: "-", nan: "?")
            return decoder
        }
    }

    struct Unkeyed: Codable, Equatable, DatabaseValueConvertible {
        var numbers: [Int]
        init(numbers: [Int]) { self.numbers = numbers }
        init(from decoder: any Decoder) throws {
            var container = try decoder.unkeyedContainer()
            numbers = []
            while !container.isAtEnd { numbers.append(try container.decode(Int.self)) }
        }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.unkeyedContainer()
            for number in numbers { try container.encode(number) }
        }
    }

    @Test("with several parts is JSON text, its keys sorted, dates in milliseconds, data in Base64")
    func json() throws {
        let color = Color(red: 0.5, name: "é", date: Date(timeIntervalSince1970: 1.5), data: Data([1, 2]))
        let json = #"{"data":"AQI=","date":1500,"name":"é","red":0.5}"#
        #expect(try stored(color) == json.databaseValue)
        #expect(Color.fromDatabaseValue(json.databaseValue) == color)
        #expect(Color.fromDatabaseValue(Data(json.utf8).databaseValue) == color)
        #expect(Sorted().databaseValue == #"{"a":2,"b":1}"#.databaseValue)
    }

    @Test("that is an array is JSON text, be it empty")
    func arrays() throws {
        #expect(Unkeyed(numbers: [1, 2]).databaseValue == "[1,2]".databaseValue)
        #expect(Unkeyed(numbers: []).databaseValue == "[]".databaseValue)
        #expect(Unkeyed.fromDatabaseValue("[1,2]".databaseValue) == Unkeyed(numbers: [1, 2]))
        #expect(Wrapper([1, 2]).databaseValue == "[1,2]".databaseValue)
        #expect(Wrapper<[Int]>.fromDatabaseValue("[1,2]".databaseValue) == Wrapper([1, 2]))
    }

    @Test("that is a single value is stored as that value")
    func singleValues() throws {
        #expect(Wrapper(5).databaseValue == 5.databaseValue)
        #expect(Wrapper("text").databaseValue == "text".databaseValue)
        #expect(Wrapper(Date(timeIntervalSince1970: 0)).databaseValue == "1970-01-01 00:00:00.000".databaseValue)
        #expect(Wrapper(FoundationTests.uuid).databaseValue == FoundationTests.uuid.databaseValue)
        #expect(Wrapper(WrappedValuesTests.Level.high).databaseValue == 200.databaseValue)
        #expect(Wrapper<Int?>(nil).databaseValue == .null)
        #expect(Wrapper(Color()).databaseValue == #"{"red":0.5}"#.databaseValue)
    }

    @Test("that is a single value is read from that value")
    func readingSingleValues() throws {
        #expect(Wrapper<Int>.fromDatabaseValue(5.databaseValue) == Wrapper(5))
        #expect(Wrapper<String>.fromDatabaseValue(#""text""#.databaseValue) == Wrapper(#""text""#))
        #expect(Wrapper<Date>.fromDatabaseValue("1970-01-01".databaseValue) == Wrapper(Date(timeIntervalSince1970: 0)))
        #expect(Wrapper<UUID>.fromDatabaseValue(FoundationTests.uuid.databaseValue) == Wrapper(FoundationTests.uuid))
        #expect(Wrapper<Int?>.fromDatabaseValue(.null) == Wrapper<Int?>(nil))
        #expect(Wrapper<Int8>.fromDatabaseValue(128.databaseValue) == nil)
        #expect(Wrapper<Int>.fromDatabaseValue("5".databaseValue) == nil)
    }

    @Test(
        "is not read from values that are not its JSON",
        arguments: [
            "".databaseValue, "{".databaseValue, "{}".databaseValue, "null".databaseValue, "[]".databaseValue, .null,
            1.databaseValue, Data([0xFF]).databaseValue,
        ])
    func refused(value: DatabaseValue) {
        #expect(Color.fromDatabaseValue(value) == nil)
    }

    @Test("uses the coders of its type")
    func customCoders() {
        #expect(Custom(number: .infinity).databaseValue == #"{"number":"+"}"#.databaseValue)
        #expect(Custom.fromDatabaseValue(#"{"number":"-"}"#.databaseValue) == Custom(number: -.infinity))
    }

    @Test("that can't be encoded stops the program, which names the place but not the value")
    func failure() async throws {
        let result = try #require(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                _ = Color(red: .nan, name: "hidden").databaseValue
            })
        let message = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(message.contains("databaseJSONEncoder()"))
        #expect(message.contains("\"red\""))
        #expect(!message.contains("hidden"))
    }

    @Test("is bound and fetched like all others")
    func fetching() throws {
        let color = try withEncryptedQueue { queue in
            try queue.read { try Color.fetchOne($0, sql: "SELECT ?", arguments: [Color(name: "red")]) }
        }
        #expect(color == Color(name: "red"))
    }
}
