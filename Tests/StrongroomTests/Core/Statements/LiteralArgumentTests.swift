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

    @Test("have the values of the moment at which the literal was evaluated")
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

    @Test("may have one element of any type")
    func oneElement() throws {
        func value(_ arguments: StatementArguments, _ db: Database) throws -> DatabaseValue {
            let value = try DatabaseValue.fetchOne(db, sql: "SELECT :value", arguments: arguments)!
            #expect(arguments == StatementArguments([value]))
            return value
        }
        let none: Int? = nil, long = String(repeating: "x", count: 20_000), counter = Counter()
        let counted: StatementArguments = [counter]
        counter.count = 2
        try withDatabase { db throws in
            #expect(try value([7], db) == 7.databaseValue)
            #expect(try value([Int64.min], db) == Int64.min.databaseValue)
            #expect(try value([UInt8.max], db) == 255.databaseValue)
            #expect(try value([true], db) == 1.databaseValue)
            #expect(try value([0.5], db) == 0.5.databaseValue)
            #expect(try value(["é"], db) == "é".databaseValue)
            #expect(try value([long], db) == long.databaseValue)
            #expect(try value([Data([0])], db) == Data([0]).databaseValue)
            #expect(try value([nil], db) == .null)
            #expect(try value([none], db) == .null)
            #expect(try value(counted, db) == 1.databaseValue)
            #expect(try value([DatabaseValue.null], db) == .null)
        }
    }

    @Test("of one integer combine with others, and fit one parameter only")
    func oneInteger() throws {
        let one: StatementArguments = [7]
        #expect(one + [8] == [7, 8])
        #expect(one &+ ["name": 9] == StatementArguments([7]) &+ ["name": 9])
        #expect(one.description == "[7]")
        #expect(!one.isEmpty)
        try withDatabase { db throws in
            #expect(try Int.fetchOne(db, sql: "SELECT ? + :name", arguments: one + ["name": 1]) == 8)
            for sql in ["SELECT ?, ?", "SELECT 1"] {
                let error = #expect(throws: DatabaseError.self) { try Row.fetchOne(db, sql: sql, arguments: one) }
                #expect(error?.resultCode == .SQLITE_MISUSE)
            }
            // A parameter that is the pattern of a full-text search.
            try db.execute(sql: "CREATE VIRTUAL TABLE note USING fts5 (text); INSERT INTO note VALUES ('7 days')")
            let found = "SELECT text FROM note WHERE note MATCH ?"
            #expect(try String.fetchAll(db, sql: found, arguments: [7]) == ["7 days"])
            #expect(try String.fetchAll(db, sql: found, arguments: [nil]) == [])
        }
    }
}
