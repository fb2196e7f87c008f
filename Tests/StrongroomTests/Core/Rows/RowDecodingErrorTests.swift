import Foundation
import Strongroom
import Testing

@Suite("The error of a row that can't be decoded")
struct RowDecodingErrorTests {
    private func description(_ body: (Database) throws -> Void) throws -> String {
        try withDatabase { db throws in try #require(throws: RowDecodingError.self) { try body(db) }.description }
    }

    @Test("shows value, column, row and SQL")
    func value() throws {
        let text = try description { db in _ = try Int.fetchAll(db, sql: "SELECT NULL AS a, 'x' AS b;") }
        #expect(
            text == """
                could not decode Int from database value NULL - column: "a", column index: 0, row: [a:NULL b:TEXT], \
                sql: `SELECT NULL AS a, 'x' AS b`, arguments: []
                """)
    }

    @Test("shows no arguments unless the configuration made them public", arguments: [false, true])
    func arguments(arePublic: Bool) throws {
        var configuration = Configuration.encrypted()
        configuration.publicStatementArguments = arePublic
        try withEncryptedQueue(configuration) { queue throws in
            try queue.read { db throws in
                let error = try #require(throws: RowDecodingError.self) {
                    try Int.fetchAll(db, sql: "SELECT NULL WHERE ?", arguments: [17])
                }
                #expect(error.description.contains("arguments: [17]") == arePublic)
            }
        }
    }

    @Test("shows no values unless the configuration made them public", arguments: [false, true])
    func values(arePublic: Bool) throws {
        var configuration = Configuration.encrypted()
        configuration.publicStatementArguments = arePublic
        try withEncryptedQueue(configuration) { queue throws in
            try queue.read { db throws in
                let sql = "SELECT ? AS a, ? AS b, x'abcdef' AS c, 2.5 AS d"
                let read = [
                    { (row: Row) in _ = try row.decode(Date.self, forColumn: "a") },
                    { (row: Row) in _ = try row.decode(Int.self, forColumn: "missing") },
                ]
                for body in read {
                    let error = try #require(throws: RowDecodingError.self) {
                        let cursor = try Row.fetchCursor(db, sql: sql, arguments: ["secret", 1_234_567])
                        try body(try #require(try cursor.next()))
                    }
                    #expect(error.description.contains("secret") == arePublic)
                    #expect(error.description.contains("1234567") == arePublic)
                    #expect(error.description.contains("TEXT b:INTEGER c:BLOB d:REAL") == !arePublic)
                }
            }
        }
    }

    @Test("shows the column of the statement, not of adapters")
    func adapted() throws {
        let text = try description { db in
            let row = try Row.fetchOne(db, sql: "SELECT 1 AS a, 'x' AS b", adapter: ColumnMapping(["c": "b"]))
            _ = try row?.decode(Int.self, forColumn: "c")
        }
        #expect(
            text == """
                could not decode Int from database value TEXT - column: "b", column index: 1, row: [a:INTEGER b:TEXT]
                """)
    }

    @Test("shows the adapted row to types that are converted from database values")
    func adaptedConversion() throws {
        enum Letter: String, DatabaseValueConvertible { case z }
        struct Player: FetchableRecord { init(row: Row) throws { _ = try row.decode(Int.self, forColumn: "b") } }
        for copies in [true, false] {
            let text = try description { db in
                let cursor = try Row.fetchCursor(db, sql: "SELECT 1 AS a, 'x' AS b", adapter: ColumnMapping(["c": "b"]))
                let row = try #require(try cursor.next())
                _ = try (copies ? row.copy() : row).decode(Letter.self, forColumn: "c")
            }
            let place = #"column: "c", column index: 0, row: [c:TEXT]"#
            #expect(text == "could not decode Letter from database value TEXT - " + place)
        }
        let text = try description { db in
            _ = try Player.fetchOne(db, sql: "SELECT 1 AS a, 'x' AS b", adapter: ColumnMapping(["c": "b"]))
        }
        #expect(text == #"column not found: "b" - row: [c:TEXT]"#)
    }

    @Test("names the column, the scope or the key that the row lacks")
    func missing() throws {
        struct Player: FetchableRecord { init(row: Row) {} }
        let row: Row = ["a": 1]
        #expect(
            try description { _ in _ = try row.decode(Int.self, forColumn: "b") }
                == "column not found: \"b\" - row: [a:INTEGER]")
        #expect(
            try description { _ in _ = try row.decode(Player.self, forKey: "s") }
                == "scope not found: \"s\" - row: [a:INTEGER]")
        #expect(
            try description { _ in _ = try row.decode([Player].self, forKey: "k") }
                == "key for prefetched rows not found: \"k\" - row: [a:INTEGER]")
    }
}
