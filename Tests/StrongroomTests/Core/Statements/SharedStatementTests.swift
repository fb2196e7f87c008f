import Strongroom
import Testing

@Suite("A statement with two cursors")
struct SharedStatementTests {
    private static let numbers = "SELECT 1 UNION SELECT 2 UNION SELECT 3"

    /// A cursor that has given its first row.
    private func begunCursor(_ statement: Statement) throws -> FastDatabaseValueCursor<Int> {
        let cursor = try Int.fetchCursor(statement)
        #expect(try cursor.next() == 1)
        return cursor
    }

    private func expectRefusal(_ cursor: FastDatabaseValueCursor<Int>) throws {
        for _ in 0..<2 {
            let error = try #require(throws: DatabaseError.self) { try cursor.next() }
            #expect(error.resultCode == .SQLITE_MISUSE)
            #expect(error.message?.contains("use a statement for each cursor") == true)
            #expect(error.sql == Self.numbers)
        }
    }

    @Test("refuses to go on with the first, and gives all rows to the second")
    func twoCursors() throws {
        try withDatabase { db throws in
            let statement = try db.makeStatement(sql: Self.numbers)
            let first = try begunCursor(statement)
            let second = try Int.fetchCursor(statement)
            try expectRefusal(first)
            #expect(try Array(second) == [1, 2, 3])
        }
    }

    @Test("refuses to begin with the first once there is a second")
    func neverBegun() throws {
        try withDatabase { db throws in
            let statement = try db.cachedStatement(sql: Self.numbers)
            let first = try Int.fetchCursor(statement)
            let second = try Int.fetchCursor(db.cachedStatement(sql: Self.numbers))
            try expectRefusal(first)
            #expect(try Array(second) == [1, 2, 3])
        }
    }

    @Test("refuses to go on after its statement gave one value, all values, or was executed")
    func otherUses() throws {
        try withDatabase { db throws in
            let statement = try db.makeStatement(sql: Self.numbers)
            var cursor = try begunCursor(statement)
            #expect(try Int.fetchOne(statement) == 1)
            try expectRefusal(cursor)
            cursor = try begunCursor(statement)
            #expect(try Int.fetchAll(statement) == [1, 2, 3])
            try expectRefusal(cursor)
            cursor = try begunCursor(statement)
            try statement.execute()
            try expectRefusal(cursor)
        }
    }

    @Test("refuses to go on with other arguments")
    func otherArguments() throws {
        try withDatabase { db throws in
            let statement = try db.makeStatement(sql: "SELECT ? UNION SELECT 5")
            let cursor = try Int.fetchCursor(statement, arguments: [1])
            #expect(try cursor.next() == 1)
            statement.arguments = [3]
            #expect(throws: DatabaseError.self) { try cursor.next() }
            #expect(try Int.fetchAll(statement) == [3, 5])
        }
    }

    @Test("leaves a cursor that has come to its end alone")
    func ended() throws {
        try withDatabase { db throws in
            let statement = try db.makeStatement(sql: Self.numbers)
            let first = try Int.fetchCursor(statement)
            #expect(try Array(first) == [1, 2, 3])
            #expect(try Int.fetchAll(statement) == [1, 2, 3])
            #expect(try first.next() == nil)
        }
    }

    @Test("has two statements when fetched from the same SQL, so both cursors give all rows")
    func fetchedFromSQL() throws {
        try withDatabase { db throws in
            let first = try Int.fetchCursor(db, sql: Self.numbers)
            #expect(try first.next() == 1)
            let second = try Int.fetchCursor(db, sql: Self.numbers)
            #expect(try second.next() == 1)
            #expect(try Array(first) == [2, 3])
            #expect(try Array(second) == [2, 3])
        }
    }

    @Test("throws its error again at each further step")
    func repeatedError() throws {
        try withDatabase { db throws in
            let cursor = try Row.fetchCursor(db, sql: "SELECT abs(-9223372036854775808)")
            for _ in 0..<2 {
                let error = try #require(throws: DatabaseError.self) { try cursor.next() }
                #expect(error.message == "integer overflow")
            }
        }
    }

    @Test("of several statements throws a syntax error again at each further step")
    func repeatedSyntaxError() throws {
        try withDatabase { db throws in
            let cursor = try db.allStatements(sql: "SELECT 1; SELEC 2; SELECT 3")
            #expect(try cursor.next() != nil)
            for _ in 0..<2 {
                let error = try #require(throws: DatabaseError.self) { try cursor.next() }
                #expect(error.message == "near \"SELEC\": syntax error")
            }
        }
    }
}
