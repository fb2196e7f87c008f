import Foundation
import Strongroom
import Testing

@Suite("A row")
struct RowTests {
    @Test("finds columns in upper and lower case")
    func caseInsensitiveNames() throws {
        try withDatabase { db in
            let row = try #require(try Row.fetchOne(db, sql: "SELECT 1 AS Name, 2 AS SCORE"))
            #expect(row["name"] == 1)
            #expect(row["score"] == 2)
            #expect(row["NAME"] == 1)
            #expect(row.hasColumn("nAmE"))
            #expect(!row.hasColumn("names"))
        }
    }

    @Test("finds columns by names that are made anew for each row, and by names that change afterwards")
    func namesOfAnyOrigin() throws {
        try withDatabase { db in
            let rows = try Row.fetchCursor(
                db,
                sql: """
                    SELECT 1 AS customer_identifier, 2 AS warehouse_location UNION ALL SELECT 3, 4
                    """)
            var name = ["customer", "identifier"].joined(separator: "_")
            while let row = try rows.next() {
                let first: Int = row["customer_identifier"]
                #expect(row[name] == first)
                #expect(row["Customer_Identifier"] == first)
                #expect(row["warehouse_location"] == first + 1)
                #expect(row[["warehouse", "location"].joined(separator: "_")] == first + 1)
                name.replaceSubrange(name.startIndex..., with: "warehouse_location")
                #expect(row[name] == first + 1)
                name.replaceSubrange(name.startIndex..., with: "customer_identifier")
                #expect(row[name] == first)
                #expect(Array(row.columnNames) == ["customer_identifier", "warehouse_location"])
            }
        }
    }

    @Test("gives the leftmost of columns with the same name, in any order of access")
    func duplicateNames() throws {
        try withDatabase { db in
            let cursor = try Row.fetchCursor(db, sql: "SELECT 1 AS a, 2 AS b, 3 AS A, 4 AS b")
            let live = try #require(try cursor.next())
            for row in [live, live.copy(), ["a": 1, "b": 2, "A": 3, "b": 4]] {
                #expect(row["b"] == 2)
                #expect(row["a"] == 1)
                #expect(row["A"] == 1)
                #expect(row["a"] == 1)
                #expect(row["b"] == 2)
                #expect(row[2] == 3)
                #expect(row[3] == 4)
                #expect(Array(row.columnNames) == ["a", "b", "A", "b"])
            }
        }
    }

    @Test("gives values by name in any order, each time")
    func outOfOrderAccess() throws {
        try withDatabase { db in
            let cursor = try Row.fetchCursor(db, sql: "SELECT 1 AS a, 2 AS b, 3 AS c UNION ALL SELECT 4, 5, 6")
            var sums: [Int] = []
            while let row = try cursor.next() {
                let (c, a, b, again): (Int, Int, Int, Int) = (row["c"], row["a"], row["b"], row["b"])
                sums.append(c * 1000 + a * 100 + b * 10 + again)
            }
            #expect(sums == [3122, 6455])
        }
    }

    @Test("can be empty")
    func emptyRow() {
        let row = Row()
        #expect(row.isEmpty)
        #expect(row.count == 0)
        #expect(!row.containsNonNullValue)
        #expect(row.description == "[]")
        #expect(row == [:])
        #expect(row["a"] == nil)
        #expect((row["a"] as Int?) == nil)
        #expect(row.scopes.isEmpty)
        #expect(row.prefetchedRows.isEmpty)
    }

    @Test("is a collection of names and values, from left to right")
    func collection() throws {
        try withDatabase { db in
            let cursor = try Row.fetchCursor(db, sql: "SELECT 1 AS a, 'x' AS b, NULL AS c")
            let row = try #require(try cursor.next())
            #expect(row.map(\.0) == ["a", "b", "c"])
            #expect(row.map(\.1) == [1.databaseValue, "x".databaseValue, .null])
            #expect(Array(row.databaseValues) == row.map(\.1))
            #expect(row.last?.0 == "c")
            #expect(row.reversed().map(\.0) == ["c", "b", "a"])
            #expect(row.hasNull(atIndex: 2))
            #expect(!row.hasNull(atIndex: 0))
        }
    }

    @Test("returns nil as an optional for NULL, and for a column that it does not have")
    func missingColumns() throws {
        try withDatabase { db in
            let row = try #require(try Row.fetchOne(db, sql: "SELECT NULL AS a, 1 AS b"))
            #expect((row["a"] as Int?) == nil)
            #expect((row["zzz"] as Int?) == nil)
            #expect(row["a"] == nil)
            #expect(try row.decode(Int?.self, forColumn: "zzz") == nil)
            #expect(try row.decode(Int.self, forColumn: Column("b")) == 1)
        }
    }

    @Test("names column, value, type and SQL when a value can't be decoded")
    func decodingErrors() throws {
        try withDatabase { db in
            let cursor = try Row.fetchCursor(db, sql: "SELECT 1000 AS a, NULL AS b")
            let row = try #require(try cursor.next())
            let error = #expect(throws: RowDecodingError.self) { try row.decode(Int8.self, forColumn: "a") }
            let text = try #require(error).description
            for word in ["Int8", "1000", "\"a\"", "SELECT 1000 AS a, NULL AS b"] { #expect(text.contains(word)) }
            #expect(throws: RowDecodingError.self) { try row.decode(Int.self, atIndex: 1) }
            #expect(throws: RowDecodingError.self) { try row.copy().decode(Int.self, forColumn: "b") }
            let missing = #expect(throws: RowDecodingError.self) { try row.decode(String.self, forColumn: "zzz") }
            #expect(try #require(missing).description.contains("\"zzz\""))
        }
    }

    @Test("gives the first value that is not NULL of several columns")
    func coalesce() throws {
        try withDatabase { db in
            let row = try #require(try Row.fetchOne(db, sql: "SELECT NULL AS nickname, 'Arthur' AS name, 'x' AS other"))
            #expect(row.coalesce(["nickname", "name", "other"]) == "Arthur")
            #expect(row.coalesce(["zzz", "nickname", "other"]) == "x")
            #expect((row.coalesce(["nickname"]) as String?) == nil)
            #expect((row.coalesce([] as [String]) as String?) == nil)
            #expect(row.coalesce([Column("nickname"), Column("name")]) == "Arthur")
        }
    }

    @Test("keeps its values as a copy when the cursor moves on, and when the access ends")
    func copies() throws {
        let copies = try withDatabase { db in
            let cursor = try Row.fetchCursor(
                db, sql: "SELECT 1 AS a, 'x' AS b, x'0102' AS c UNION ALL SELECT 2, NULL, NULL")
            var copies: [Row] = []
            while let row = try cursor.next() { copies.append(row.copy()) }
            return copies
        }
        #expect(copies == [["a": 1, "b": "x", "c": Data([1, 2])], ["a": 2, "b": nil, "c": nil]])
        #expect(copies[0].copy() === copies[0])
    }

    @Test("of a cursor is the same object for all rows")
    func cursorReusesRow() throws {
        try withDatabase { db in
            let cursor = try Row.fetchCursor(db, sql: "SELECT 1 AS a UNION ALL SELECT 2")
            let first = try #require(try cursor.next())
            #expect(first["a"] == 1)
            let second = try #require(try cursor.next())
            #expect(first === second)
            #expect(first["a"] == 2)
        }
    }

    @Test("equals a row with the same columns and values in the same order")
    func equality() throws {
        let row: Row = ["a": 1, "b": nil]
        #expect(row == ["a": 1, "b": nil])
        #expect(row != ["b": nil, "a": 1])
        #expect(row != ["A": 1, "b": nil])
        #expect(row != ["a": 1, "b": 0])
        #expect(row != ["a": 1])
        #expect(Set([row, ["a": 1, "b": nil], ["a": 2, "b": nil]]).count == 2)
        try withDatabase { db in
            let cursor = try Row.fetchCursor(db, sql: "SELECT 1 AS a, NULL AS b")
            let live = try #require(try cursor.next())
            #expect(live == row)
            #expect(live.hashValue == row.hashValue)
            #expect(live == live.copy())
        }
    }

    @Test("is created from dictionaries, whose values must be convertible")
    func dictionaries() throws {
        let row = Row(["a": 1, "b": nil])
        #expect(Set(row.columnNames) == ["a", "b"])
        #expect(row["a"] == 1)
        let any = try #require(Row(["a": 1, "b": "x"] as [AnyHashable: Any]))
        #expect(any["b"] == "x")
        #expect(Row([1: "x"] as [AnyHashable: Any]) == nil)
        #expect(Row(["a": NSObject()] as [AnyHashable: Any]) == nil)
    }

    @Test("is described by its columns and values")
    func description() {
        let row: Row = ["id": 1, "name": "Arthur", "score": 1.5, "data": Data([1, 2, 3]), "team": nil]
        #expect(row.description == "[id:1 name:\"Arthur\" score:1.5 data:Data(3 bytes) team:NULL]")
        #expect(row.debugDescription == row.description)
    }

    @Test("stops the program at an index that it does not have")
    func indexOutOfRange() async {
        await #expect(processExitsWith: .failure) {
            let row: Row = ["a": 1]
            let value: Int = row[1]
            print(value)
        }
    }

    @Test("stops the program with a remedy when a subscript can't decode")
    func subscriptFailure() async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let row: Row = ["a": nil]
            let value: Int = row["a"]
            print(value)
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains("decode(_:forColumn:)"))
    }
}
