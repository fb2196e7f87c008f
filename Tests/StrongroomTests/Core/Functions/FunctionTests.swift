import Foundation
import Strongroom
import Testing

@Suite("A function")
struct FunctionTests {
    private func inDatabase<T>(_ body: (Database) throws -> T) throws -> T {
        try withEncryptedQueue { try $0.inDatabase(body) }
    }

    @Test("gets and gives values of all kinds")
    func values() throws {
        try inDatabase { db throws in
            db.add(function: DatabaseFunction("echo", argumentCount: 1) { $0[0] })
            for value: DatabaseValue in [
                .null, Int64.min.databaseValue, 1.5.databaseValue, "".databaseValue, "a\0é".databaseValue,
                Data().databaseValue, Data([0, 1]).databaseValue,
            ] {
                #expect(try DatabaseValue.fetchOne(db, sql: "SELECT echo(?)", arguments: [value]) ?? .null == value)
            }
        }
    }

    @Test("may differ by its number of arguments, or take any")
    func argumentCounts() throws {
        try inDatabase { db throws in
            db.add(function: DatabaseFunction("f", argumentCount: 0) { _ in "none" })
            db.add(function: DatabaseFunction("f", argumentCount: 1) { _ in "one" })
            db.add(function: DatabaseFunction("g") { $0.count })
            #expect(try String.fetchOne(db, sql: "SELECT f()") == "none")
            #expect(try String.fetchOne(db, sql: "SELECT f(1)") == "one")
            #expect(try [Int.fetchOne(db, sql: "SELECT g()"), Int.fetchOne(db, sql: "SELECT g(1, 2, 3)")] == [0, 3])
            #expect(throws: DatabaseError.self) { try Int.fetchOne(db, sql: "SELECT f(1, 2)") }
            db.remove(function: DatabaseFunction("f", argumentCount: 1) { _ in nil })
            #expect(throws: DatabaseError.self) { try String.fetchOne(db, sql: "SELECT f(1)") }
            #expect(try String.fetchOne(db, sql: "SELECT f()") == "none")
        }
    }

    @Test("that is replaced takes effect in statements that were kept")
    func replaced() throws {
        try inDatabase { db throws in
            db.add(function: DatabaseFunction("f", argumentCount: 0, pure: true) { _ in 1 })
            let statement = try db.makeStatement(sql: "SELECT f()")
            #expect(try Int.fetchOne(statement) == 1)
            db.add(function: DatabaseFunction("f", argumentCount: 0, pure: true) { _ in 2 })
            #expect(try Int.fetchOne(statement) == 2)
        }
    }

    @Test("can be used in an index when it is pure only", arguments: [true, false])
    func pure(pure: Bool) throws {
        try inDatabase { db throws in
            db.add(function: DatabaseFunction("f", argumentCount: 1, pure: pure) { $0[0] })
            try db.execute(sql: "CREATE TABLE t (a)")
            if pure {
                try db.execute(sql: "CREATE INDEX i ON t (f(a))")
            } else {
                #expect(throws: DatabaseError.self) { try db.execute(sql: "CREATE INDEX i ON t (f(a))") }
            }
        }
    }

    @Test("that throws fails the statement, with its code and message")
    func errors() throws {
        struct Refusal: Error {}
        try inDatabase { db throws in
            db.add(
                function: DatabaseFunction("f", argumentCount: 1) { values in
                    switch Int.fromDatabaseValue(values[0]) {
                    case 1:
                        throw DatabaseError(resultCode: .SQLITE_CONSTRAINT_CHECK, message: "not that", sql: "elsewhere")
                    case 2: throw DatabaseError(resultCode: .SQLITE_FULL)
                    default: throw Refusal()
                    }
                })
            let errors = try (1...3).map { argument in
                try #require(throws: DatabaseError.self) {
                    try Int.fetchOne(db, sql: "SELECT f(?)", arguments: [argument])
                }
            }
            #expect(errors.map(\.extendedResultCode) == [.SQLITE_CONSTRAINT_CHECK, .SQLITE_FULL, .SQLITE_ERROR])
            #expect(errors.map(\.message) == ["not that", "database or disk is full", "Refusal()"])
            #expect(errors.allSatisfy { $0.sql == "SELECT f(?)" })
        }
    }

    @Test("is released when it is replaced, removed, or when its connection is closed", arguments: 0..<3)
    func released(how: Int) throws {
        final class Token: Sendable {}
        weak var token: Token?
        func make() -> DatabaseFunction {
            let kept = Token()
            token = kept
            return DatabaseFunction("f", argumentCount: 0) { _ in withExtendedLifetime(kept) { 1 } }
        }
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                db.add(function: make())
                #expect(try Int.fetchOne(db, sql: "SELECT f()") == 1)
                #expect(token != nil)
                if how == 0 { db.remove(function: DatabaseFunction("f", argumentCount: 0) { _ in nil }) }
                if how == 1 { db.add(function: DatabaseFunction("f", argumentCount: 0) { _ in nil }) }
            }
            try queue.close()
        }
        #expect(token == nil)
    }

    @Test("changes letters beyond ASCII")
    func predefined() throws {
        try inDatabase { db throws in
            for (function, expected) in [
                (DatabaseFunction.lowercase, "éa"), (.uppercase, "ÉA"), (.capitalize, "Éa"),
                (.localizedLowercase, "éa"), (.localizedUppercase, "ÉA"), (.localizedCapitalize, "Éa"),
            ] {
                #expect(try String.fetchOne(db, sql: "SELECT \(function.name)('éA')") == expected)
                #expect(try DatabaseValue.fetchOne(db, sql: "SELECT \(function.name)(NULL)") == .null)
                let literal = SQL("SELECT \(function("éA"))")
                #expect(try String.fetchOne(db.makeStatement(literal: literal)) == expected)
            }
            try db.execute(sql: "CREATE TABLE t (a, b AS (swiftLowercaseString(a)))")
        }
    }

    @Test("of a name that SQLite can't take stops the program")
    func badName() async {
        await #expect(processExitsWith: .failure) {
            try DatabaseQueue().inDatabase { db throws in
                db.add(function: DatabaseFunction(String(repeating: "f", count: 256)) { _ in nil })
            }
        }
    }
}

@Suite("An aggregate")
struct AggregateTests {
    struct Join: DatabaseAggregate {
        var parts: [String] = []
        mutating func step(_ dbValues: [DatabaseValue]) throws {
            guard let part = String.fromDatabaseValue(dbValues[0]) else {
                throw DatabaseError(resultCode: .SQLITE_MISMATCH, message: "text wanted")
            }
            parts.append(part)
        }
        func finalize() throws -> (any DatabaseValueConvertible)? {
            if parts.contains("refuse") { throw DatabaseError(message: "refused") }
            return parts.joined(separator: "+")
        }
    }

    private func inDatabase<T>(_ body: (Database) throws -> T) throws -> T {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                db.add(function: DatabaseFunction("joinup", argumentCount: 1, pure: true, aggregate: Join.self))
                return try body(db)
            }
        }
    }

    @Test("sums up each group")
    func groups() throws {
        try inDatabase { db throws in
            #expect(
                try String.fetchAll(
                    db,
                    sql: """
                        SELECT joinup(column2) FROM (VALUES (1, 'a'), (2, 'b'), (1, 'c')) GROUP BY column1 ORDER BY \
                        column1
                        """) == ["a+c", "b"])
        }
    }

    @Test("of no row is that of a new one")
    func noRow() throws {
        try inDatabase { db throws in
            #expect(try String.fetchOne(db, sql: "SELECT joinup(1) WHERE 0") == "")
        }
    }

    @Test(
        "that throws fails the statement",
        arguments: [("1", "text wanted", ResultCode.SQLITE_MISMATCH), ("'refuse'", "refused", .SQLITE_ERROR)])
    func errors(value: String, message: String, code: ResultCode) throws {
        try inDatabase { db throws in
            let failure = try #require(throws: DatabaseError.self) {
                try String.fetchOne(db, sql: "SELECT joinup(\(value))")
            }
            #expect(failure.message == message)
            #expect(failure.resultCode == code)
        }
    }

    /// Counts the aggregates that are alive.
    final class Counted: @unchecked Sendable {
        nonisolated(unsafe) static var alive = 0
        init() { Self.alive += 1 }
        deinit { Self.alive -= 1 }
    }

    struct Watched: DatabaseAggregate {
        let counted = Counted()
        mutating func step(_ dbValues: [DatabaseValue]) throws {
            if dbValues[0] == 3.databaseValue { throw CancellationError() }
        }
        func finalize() throws -> (any DatabaseValueConvertible)? { 1 }
    }

    @Test("leaves no memory behind, however the statement ends")
    func released() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                db.add(function: DatabaseFunction("watched", argumentCount: 1, aggregate: Watched.self))
                let groups = "SELECT watched(column1) FROM (VALUES (1), (2), (4)) GROUP BY column1"
                #expect(try Int.fetchAll(db, sql: groups) == [1, 1, 1])
                #expect(Counted.alive == 0)
                do {
                    let cursor = try Int.fetchCursor(db, sql: groups)
                    #expect(try cursor.next() == 1)
                }
                #expect(Counted.alive == 0)
                #expect(throws: DatabaseError.self) {
                    try Int.fetchAll(db, sql: "SELECT watched(column1) FROM (VALUES (1), (2), (3))")
                }
                #expect(Counted.alive == 0)
            }
        }
    }
}

@Suite("A collation")
struct CollationTests {
    @Test("orders text, NUL bytes included, and nothing else")
    func orders() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                db.add(
                    collation: DatabaseCollation("backwards") { a, b in
                        let (a, b) = (String(a.reversed()), String(b.reversed()))
                        return a < b ? .orderedAscending : a == b ? .orderedSame : .orderedDescending
                    })
                #expect(
                    try String.fetchAll(
                        db, sql: "SELECT column1 FROM (VALUES ('az'), ('by'), ('cx')) ORDER BY 1 COLLATE backwards")
                        == ["cx", "by", "az"])
                #expect(
                    try Bool.fetchOne(db, sql: "SELECT ? = ? COLLATE BACKWARDS", arguments: ["a\0b", "a\0c"]) == false)
                db.remove(collation: DatabaseCollation("Backwards") { _, _ in .orderedSame })
                #expect(throws: DatabaseError.self) { try Int.fetchOne(db, sql: "SELECT 'a' = 'b' COLLATE backwards") }
            }
        }
    }

    @Test("that has changed is set right by a new index")
    func reindex() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                let plain = DatabaseCollation("mine") {
                    $0 < $1 ? .orderedAscending : $0 == $1 ? .orderedSame : .orderedDescending
                }
                db.add(collation: plain)
                try db.execute(
                    sql:
                        """
                        CREATE TABLE t (a TEXT COLLATE mine); CREATE INDEX i ON t (a); \
                        INSERT INTO t VALUES ('a'), ('B'), ('c')
                        """
                )
                #expect(try String.fetchAll(db, sql: "SELECT a FROM t ORDER BY a") == ["B", "a", "c"])
                let caseless = DatabaseCollation("MINE") { $0.caseInsensitiveCompare($1) }
                #expect(plain.id == caseless.id)
                db.add(collation: caseless)
                try db.reindex(collation: caseless)
                #expect(try String.fetchAll(db, sql: "SELECT a FROM t ORDER BY a") == ["a", "B", "c"])
                try db.reindex(collation: .nocase)
            }
        }
    }

    @Test("is named in REINDEX as it is everywhere")
    func reindexSpelling() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                var statements: [String] = []
                let caseless = DatabaseCollation("caseless") { $0.caseInsensitiveCompare($1) }
                let spaced = DatabaseCollation("two words") { $0.compare($1) }
                db.add(collation: caseless)
                db.add(collation: spaced)
                db.trace { statements.append("\($0)") }
                try db.reindex(collation: caseless)
                try db.reindex(collation: .nocase)
                try db.reindex(collation: spaced)
                #expect(statements == ["REINDEX caseless", "REINDEX NOCASE", "REINDEX \"two words\""])
            }
        }
    }

    @Test("is there for each of Foundation's orders")
    func predefined() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                func ordered(_ collation: DatabaseCollation) throws -> [String] {
                    try String.fetchAll(
                        db,
                        sql:
                            """
                            SELECT column1 FROM (VALUES ('b'), ('A'), ('a10'), ('a9')) \
                            ORDER BY 1 COLLATE \(collation.name)
                            """
                    )
                }
                #expect(try ordered(.unicodeCompare) == ["A", "a10", "a9", "b"])
                #expect(try ordered(.caseInsensitiveCompare) == ["A", "a10", "a9", "b"])
                #expect(try ordered(.localizedStandardCompare) == ["A", "a9", "a10", "b"])
                #expect(try ordered(.localizedCompare).last == "b")
                #expect(try ordered(.localizedCaseInsensitiveCompare).first == "A")
            }
        }
    }

    @Test("is released with its connection")
    func released() throws {
        final class Token: Sendable {}
        weak var token: Token?
        func make() -> DatabaseCollation {
            let kept = Token()
            token = kept
            return DatabaseCollation("mine") { _, _ in withExtendedLifetime(kept) { .orderedSame } }
        }
        try withEncryptedQueue { queue throws in
            queue.inDatabase { $0.add(collation: make()) }
            #expect(token != nil)
            try queue.close()
        }
        #expect(token == nil)
    }
}
