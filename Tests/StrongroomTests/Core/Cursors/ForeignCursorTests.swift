import CSQLCipher
import Strongroom
import Testing

/// A cursor as libraries on top of GRDB write them: with arguments of their own binding, and their own decoding.
private class TextCursor: DatabaseCursor {
    typealias Element = String

    let _statement: Statement
    var _isDone = false

    init(_ statement: Statement) { _statement = statement }

    deinit { sqlite3_reset(_statement.sqliteStatement) }

    func _element(sqliteStatement: SQLiteStatement) throws -> String {
        String(cString: sqlite3_column_text(sqliteStatement, 0))
    }
}

@Suite("A cursor of another library")
struct ForeignCursorTests {
    private let abc = "SELECT column1 FROM (VALUES ('a'), ('b'), ('c'))"

    @Test("returns the elements that it decodes from its statement's rows")
    func elements() throws {
        try withDatabase { db in
            let cursor = TextCursor(try db.makeStatement(sql: abc))
            #expect(cursor.sql == abc)
            #expect(try Array(cursor) == ["a", "b", "c"])
            #expect(try cursor.next() == nil)
            #expect(try TextCursor(cursor._statement).map { $0 + "!" }.prefix(2).reduce("", +) == "a!b!")
        }
    }

    @Test("sees arguments that were bound to the raw statement")
    func rawArguments() throws {
        try withDatabase { db in
            let statement = try db.makeStatement(sql: "SELECT upper(?)")
            sqlite3_bind_text(
                statement.sqliteStatement, 1, "raw", -1, unsafeBitCast(-1, to: sqlite3_destructor_type.self))
            #expect(try TextCursor(statement).next() == "RAW")
        }
    }

    @Test("writes like any other statement, and notifies observers")
    func writes() throws {
        try withDatabase { db in
            try db.execute(sql: "CREATE TABLE letter (name TEXT)")
            let events = TransactionRecorder()
            db.add(transactionObserver: events)
            let cursor = TextCursor(try db.makeStatement(sql: "INSERT INTO letter VALUES ('x'), ('y') RETURNING name"))
            #expect(try Array(cursor) == ["x", "y"])
            #expect(try String.fetchAll(db, sql: "SELECT name FROM letter") == ["x", "y"])
            #expect(events.take().filter { $0.hasPrefix("insert") }.count == 2)
        }
    }

    @Test("is refused where a write is not allowed")
    func readOnly() throws {
        try withDatabase { db in
            try db.execute(sql: "CREATE TABLE letter (name TEXT)")
            try db.readOnly {
                let cursor = TextCursor(try db.makeStatement(sql: "INSERT INTO letter VALUES ('x') RETURNING name"))
                let error = #expect(throws: DatabaseError.self) { try cursor.next() }
                #expect(error?.resultCode == .SQLITE_READONLY)
            }
        }
    }

    @Test("ends with the access, and releases its statement")
    func accessEnd() throws {
        let queue = try DatabaseQueue()
        weak var statement: Statement?
        try queue.read { db in
            let cursor = TextCursor(try db.makeStatement(sql: abc))
            statement = cursor._statement
            #expect(try cursor.next() == "a")
        }
        #expect(statement == nil)
        try queue.close()
    }
}
