import Foundation
import Strongroom
import Testing

@Suite("Arguments written as an array literal")
struct LiteralArgumentTests {
    /// A value that is not one.
    private final class Counter: DatabaseValueConvertible {
        var count = 1

        var databaseValue: DatabaseValue { count.databaseValue }

        static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? { nil }
    }

    @Test("are what they were when the literal was evaluated")
    func evaluation() throws {
        let counter = Counter()
        let arguments: StatementArguments = [counter, 7]
        counter.count = 2
        try withDatabase { db throws in
            #expect(try Row.fetchOne(db, sql: "SELECT ? AS a, ? AS b", arguments: arguments) == ["a": 1, "b": 7])
        }
        #expect(arguments == StatementArguments([1, 7]))
    }

    @Test("are stored as the same values in an array are")
    func storage() throws {
        let text = "O'Brien\0é", long = String(repeating: "x", count: 20_000)
        let date = Date(timeIntervalSince1970: 0.5), uuid = UUID(), data = Data([0, 1])
        let literal: StatementArguments = [
            1, Int64.min, UInt8.max, true, 0.5, Double.nan, Float(2), text, date, uuid, data, Data(), "", nil,
        ]
        let withLarge: StatementArguments = [1, long, nil]
        let values: [(any DatabaseValueConvertible)?] = [
            1, Int64.min, UInt8.max, true, 0.5, Double.nan, Float(2), text, date, uuid, data, Data(), "", nil,
        ]
        try withDatabase { db throws in
            func stored(_ arguments: StatementArguments, _ count: Int) throws -> [DatabaseValue]? {
                let row = try Row.fetchOne(
                    db, sql: "SELECT \(databaseQuestionMarks(count: count))", arguments: arguments)
                return row.map { Array($0.databaseValues) }
            }
            #expect(try stored(literal, values.count) == stored(StatementArguments(values), values.count))
            #expect(try stored(withLarge, 3) == [1.databaseValue, long.databaseValue, .null])
        }
        #expect(literal == StatementArguments(values))
        #expect(literal.hashValue == StatementArguments(values).hashValue)
        #expect(literal.description == StatementArguments(values).description)
    }
}
