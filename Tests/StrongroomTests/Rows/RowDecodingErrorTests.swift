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
        #expect(text == """
            could not decode Int from database value NULL - column: "a", column index: 0, row: [a:NULL b:"x"], \
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

    @Test("shows the column as the statement gives it, whatever adapters make of it")
    func adapted() throws {
        let text = try description { db in
            let row = try Row.fetchOne(db, sql: "SELECT 1 AS a, 'x' AS b", adapter: ColumnMapping(["c": "b"]))
            _ = try row?.decode(Int.self, forColumn: "c")
        }
        #expect(text == """
            could not decode Int from database value "x" - column: "b", column index: 1, row: [a:1 b:"x"]
            """)
    }

    @Test("shows what adapters make of the row to types that are converted from database values")
    func adaptedConversion() throws {
        enum Letter: String, DatabaseValueConvertible { case z }
        struct Player: FetchableRecord { init(row: Row) throws { _ = try row.decode(Int.self, forColumn: "b") } }
        for copies in [true, false] {
            let text = try description { db in
                let cursor = try Row.fetchCursor(db, sql: "SELECT 1 AS a, 'x' AS b", adapter: ColumnMapping(["c": "b"]))
                let row = try #require(try cursor.next())
                _ = try (copies ? row.copy() : row).decode(Letter.self, forColumn: "c")
            }
            #expect(
                text == #"could not decode Letter from database value "x" - column: "c", column index: 0, row: [c:"x"]"#
            )
        }
        let text = try description { db in
            _ = try Player.fetchOne(db, sql: "SELECT 1 AS a, 'x' AS b", adapter: ColumnMapping(["c": "b"]))
        }
        #expect(text == #"column not found: "b" - row: [c:"x"]"#)
    }

    @Test("names the column, the scope or the key that the row lacks")
    func missing() throws {
        struct Player: FetchableRecord { init(row: Row) {} }
        let row: Row = ["a": 1]
        #expect(
            try description { _ in _ = try row.decode(Int.self, forColumn: "b") }
                == "column not found: \"b\" - row: [a:1]")
        #expect(
            try description { _ in _ = try row.decode(Player.self, forKey: "s") }
                == "scope not found: \"s\" - row: [a:1]")
        #expect(try description { _ in _ = try row.decode([Player].self, forKey: "k") }
            == "key for prefetched rows not found: \"k\" - row: [a:1]")
    }
}
