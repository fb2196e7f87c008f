import CSQLCipher
import Foundation
import Strongroom
import Testing

@Suite("A statement")
struct StatementTests {
    private func withTable<T>(_ body: (Database) throws -> T) throws -> T {
        try withEncryptedQueue { queue throws in
            try queue.writeWithoutTransaction { db in
                try db.execute(
                    sql: "CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT, score INTEGER NOT NULL DEFAULT 0)")
                return try body(db)
            }
        }
    }

    private func error(_ body: () throws -> Void) throws -> DatabaseError {
        try #require(throws: DatabaseError.self) { try body() }
    }

    @Test("of several is refused, and the error has the SQL as it was given")
    func several() throws {
        try withDatabase { db in
            let sql = "SELECT 1; SELECT 2;"
            let error = #expect(throws: DatabaseError.self) { try db.makeStatement(sql: sql) }
            #expect(error?.resultCode == .SQLITE_MISUSE)
            #expect(error?.sql == sql)
            #expect(error?.description.hasSuffix("while executing `SELECT 1; SELECT 2`") == true)
        }
    }

    @Test("shows its SQL without spaces and comments around it")
    func sql() throws {
        try withTable { db throws in
            let statement = try db.makeStatement(sql: " ;\n SELECT id FROM player ; -- the end")
            #expect(statement.sql == "SELECT id FROM player")
            #expect("\(statement)" == "SELECT id FROM player")
        }
    }

    @Test(
        "knows its columns, in upper and lower case", arguments: [("name", 1), ("NAME", 1), ("id", 0), ("team", nil)])
    func columns(name: String, index: Int?) throws {
        try withTable { db throws in
            let statement = try db.makeStatement(sql: "SELECT id, name, 1 AS Name FROM player")
            #expect(statement.columnNames == ["id", "name", "Name"])
            #expect(statement.columnCount == 3)
            #expect(statement.index(ofColumn: name) == index)
        }
    }

    @Test("reports whether it writes")
    func isReadonly() throws {
        try withTable { db throws in
            #expect(try db.makeStatement(sql: "SELECT 1").isReadonly)
            #expect(try !db.makeStatement(sql: "DELETE FROM player").isReadonly)
        }
    }

    @Test(
        "is refused where there is none", arguments: ["", "  ", ";;", "-- nothing", "/* nothing */", "/* never closed"])
    func empty(sql: String) throws {
        try withTable { db throws in
            let failure = try error { _ = try db.makeStatement(sql: sql) }
            #expect(failure.resultCode == .SQLITE_ERROR)
            #expect(failure.message == "empty statement")
            try db.execute(sql: sql)
            #expect(try db.allStatements(sql: sql).next() == nil)
        }
    }

    @Test("must be a single one")
    func multiple() throws {
        try withTable { db throws in
            let failure = try error { _ = try db.makeStatement(sql: "SELECT 1; PRAGMA synchronous = OFF") }
            #expect(failure.resultCode == .SQLITE_MISUSE)
            #expect(failure.sql == "SELECT 1; PRAGMA synchronous = OFF")
            let closed = try error { _ = try db.makeStatement(sql: "SELECT 1; PRAGMA key = 'secret'; SELECT 2;") }
            #expect(closed.sql == "SELECT 1;PRAGMA key = '…'; SELECT 2;")
            #expect(closed.description.hasSuffix("SELECT 2`"))
            // The second statement was not even compiled: that pragma acts when it is.
            #expect(try Int.fetchOne(db, sql: "PRAGMA synchronous") == 2)
        }
    }

    @Test("may have the closing semicolons of a trigger inside")
    func trigger() throws {
        try withTable { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE log (event TEXT);
                    CREATE TEMP TRIGGER tr AFTER INSERT ON player WHEN CASE NEW.id WHEN 1 THEN 1 ELSE 1 END BEGIN
                        INSERT INTO log VALUES ('a;b'); -- END;
                        INSERT INTO log VALUES (CASE WHEN 1 THEN "end" END);
                    END;
                    INSERT INTO player (name) VALUES ('Arthur')
                    """.replacing("\"end\"", with: "'end'"))
            #expect(try String.fetchAll(db, sql: "SELECT event FROM log") == ["a;b", "end"])
        }
    }

    @Test("of several in a string gets its share of the arguments")
    func sharesArguments() throws {
        try withTable { db throws in
            try db.execute(
                sql:
                    """
                    INSERT INTO player (name) VALUES (?); INSERT INTO player (name, score) VALUES (?, :score); \
                    DELETE FROM player WHERE score > :score
                    """,
                arguments: ["Arthur", "Barbara"] + ["score": 5])
            #expect(
                try String.fetchAll(db, sql: "SELECT name || score FROM player ORDER BY id") == ["Arthur0", "Barbara5"])
        }
    }

    @Test("of several that fails is the one that the error shows, after the others have run")
    func failureInTheMiddle() throws {
        try withTable { db throws in
            let failure = try error {
                try db.execute(
                    sql: "INSERT INTO player (name) VALUES ('Arthur'); INSERT INTO team VALUES (1); DELETE FROM player")
            }
            #expect(failure.sql == "INSERT INTO team VALUES (1)")
            #expect(failure.message == "no such table: team")
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM player") == 1)
        }
    }

    @Test(
        "refuses too few, too many and misnamed arguments, and shows itself",
        arguments: [
            ("INSERT INTO player (name) VALUES (?)", []),
            ("INSERT INTO player (name) VALUES (?)", ["a", "b"]),
            ("INSERT INTO player (name) VALUES (:name)", ["title": "a"]),
            ("INSERT INTO player (name, score) VALUES (:name, ?)", ["name": "a"]),
        ] as [(String, StatementArguments)])
    func misfits(sql: String, arguments: StatementArguments) throws {
        try withTable { db throws in
            let statement = try db.makeStatement(sql: sql)
            for failure in try [
                error { try statement.setArguments(arguments) },
                error { try statement.validateArguments(arguments) },
            ] {
                #expect(failure.resultCode == .SQLITE_MISUSE)
                #expect(failure.sql == sql)
            }
            #expect(try error { try db.execute(sql: sql, arguments: arguments) }.resultCode == .SQLITE_MISUSE)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM player") == 0)
        }
    }

    @Test("ignores named arguments that it does not use")
    func extraNames() throws {
        try withTable { db throws in
            #expect(
                try String.fetchOne(db, sql: "SELECT $a || @b || :a", arguments: ["a": "x", "b": "y", "c": "z"])
                    == "xyx")
        }
    }

    @Test("takes unchecked arguments as far as they go")
    func unchecked() throws {
        try withTable { db throws in
            let statement = try db.makeStatement(sql: "SELECT ?, :name, ?")
            statement.setUncheckedArguments(["a"] + ["name": "b"])
            #expect(try Row.fetchOne(statement) == ["?": "a", ":name": "b", "?": nil])
            statement.setUncheckedArguments([])
            #expect(try Row.fetchOne(statement) == ["?": nil, ":name": nil, "?": nil])
        }
    }

    @Test("keeps its arguments from one run to the next")
    func keepsArguments() throws {
        try withTable { db throws in
            let statement = try db.makeStatement(sql: "INSERT INTO player (name) VALUES (?)")
            statement.arguments = ["Arthur"]
            try statement.execute()
            try statement.execute()
            try statement.execute(arguments: ["Barbara"])
            #expect(try String.fetchAll(db, sql: "SELECT name FROM player") == ["Arthur", "Arthur", "Barbara"])
        }
    }

    @Test("has as many arguments as SQLite allows, and not one more")
    func limit() throws {
        try withTable { db throws in
            let limit = db.maximumStatementArgumentCount
            #expect(limit >= 32_766)
            let sum = try Int.fetchOne(
                db,
                sql: "SELECT sum(column1) FROM (VALUES \(repeatElement("(?)", count: limit).joined(separator: ",")))",
                arguments: StatementArguments(1...limit))
            #expect(sum == limit * (limit + 1) / 2)
            let failure = try error {
                _ = try db.makeStatement(
                    sql: "SELECT \(repeatElement("?", count: 10).joined(separator: ",")), ?\(limit + 1)")
            }
            #expect(failure.resultCode == .SQLITE_ERROR)
            #expect(failure.message?.contains("\(limit)") == true)
        }
    }

    @Test("of more arguments than SQLite allows is refused")
    func overLimit() throws {
        try withTable { db throws in
            let count = db.maximumStatementArgumentCount + 1
            let failure = try error {
                _ = try Int.fetchOne(
                    db, sql: "SELECT 1 IN (\(databaseQuestionMarks(count: count)))",
                    arguments: StatementArguments(1...count))
            }
            #expect(failure.message == "too many SQL variables")
        }
    }

    @Test("with a NUL byte in its SQL is refused, instead of being cut short")
    func nul() throws {
        try withTable { db throws in
            for sql in ["DELETE FROM player\0 WHERE id = 1", "SELECT 'a\0b'", "SELECT 1; SELECT '\0'"] {
                let failure = try error { try db.execute(sql: sql) }
                #expect(failure.message?.contains("NUL") == true)
            }
        }
    }

    @Test("that is too long is refused")
    func tooLong() throws {
        try withTable { db throws in
            sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_SQL_LENGTH, 10_000)
            let failure = try error {
                _ = try db.makeStatement(sql: "SELECT 1 --" + String(repeating: " ", count: 10_000))
            }
            #expect(failure.resultCode == .SQLITE_TOOBIG)
            let shown = try #require(failure.sql)
            #expect(shown.utf8.count < 1000)
            // The limit is that of a statement, not of a script.
            try db.execute(sql: String(repeating: "INSERT INTO player (name) VALUES ('x');", count: 1000))
        }
    }

    @Test("is read from a long script in linear time")
    func script() throws {
        try withTable { db throws in
            let script = String(repeating: "INSERT INTO player (name) VALUES ('x');\n", count: 20_000)
            let start = ContinuousClock.now
            try db.inTransaction {
                try db.execute(sql: script)
                return .commit
            }
            // A copy of the rest of the script for each statement would move 16 GB.
            #expect(ContinuousClock.now - start < .seconds(10))
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM player") == 20_000)
        }
    }

    @Test(
        "reports its region",
        arguments: [
            ("SELECT name FROM player", "player(name)"),
            ("SELECT name FROM PLAYER WHERE score > 1", "player(name,score)"),
            ("SELECT * FROM player", "player(id,name,score)"),
            ("SELECT count(*) FROM player", "player(*)"),
            ("SELECT title FROM team, player", "player(*),team(title)"),
            ("SELECT 1", "empty"),
            ("DELETE FROM team", "empty"),
            ("SELECT name FROM best", "best(name),player(name,score)"),
        ])
    func region(sql: String, region: String) throws {
        try withTable { db throws in
            try db.execute(
                sql: "CREATE TABLE team (title TEXT); CREATE VIEW best AS SELECT name FROM player WHERE score > 10")
            #expect(try db.makeStatement(sql: sql).databaseRegion.description == region)
        }
    }

    @Test("reports its region after a change of the schema")
    func regionAfterSchemaChange() throws {
        try withTable { db throws in
            let statement = try db.makeStatement(sql: "SELECT * FROM player")
            try db.execute(sql: "ALTER TABLE player ADD COLUMN team TEXT")
            _ = try Row.fetchAll(statement)
            #expect(statement.databaseRegion.description == "player(id,name,score,team)")
        }
    }

    @Test("shows extended result codes and its SQL in errors, but no argument")
    func constraint() throws {
        try withTable { db throws in
            try db.execute(sql: "INSERT INTO player (id) VALUES (1)")
            let failure = try error {
                try db.execute(sql: "INSERT INTO player (id, name) VALUES (?, ?)", arguments: [1, "secret"])
            }
            #expect(failure.resultCode == .SQLITE_CONSTRAINT)
            #expect(failure.extendedResultCode == .SQLITE_CONSTRAINT_PRIMARYKEY)
            #expect(failure.message == "UNIQUE constraint failed: player.id")
            #expect(
                failure.description == """
                    SQLite error 19: UNIQUE constraint failed: player.id - while executing `INSERT INTO player (id, \
                    name) \
                    VALUES (?, ?)`
                    """)
            #expect(failure.expandedDescription == failure.description + " with arguments [1, \"secret\"]")
            #expect(db.lastErrorCode == .SQLITE_CONSTRAINT_PRIMARYKEY)
            #expect(db.lastErrorMessage == "UNIQUE constraint failed: player.id")
            #expect((failure as NSError).localizedFailureReason == "UNIQUE constraint failed: player.id")
        }
    }

    @Test("shows arguments in errors where the configuration says so")
    func publicArguments() throws {
        var configuration = Configuration.encrypted()
        configuration.publicStatementArguments = true
        try withEncryptedQueue(configuration) { queue throws in
            let failure = try error {
                try queue.write { try $0.execute(sql: "INSERT INTO t VALUES (abs(?))", arguments: [1]) }
            }
            #expect(failure.description.contains("no such table"))
            let overflow = try error {
                try queue.write { try $0.execute(sql: "SELECT abs(?)", arguments: [Int64.min]) }
            }
            #expect(overflow.description.hasSuffix("with arguments [-9223372036854775808]"))
        }
    }

    @Test("leaves no former argument behind when a new one is too big")
    func tooBig() throws {
        try withTable { db throws in
            let statement = try db.makeStatement(sql: "INSERT INTO player (name, score) VALUES (?, ?)")
            statement.arguments = ["Arthur", 1]
            let failure = try error { try statement.setArguments(["Barbara", Data(count: 1_000_000_001)]) }
            #expect(failure.resultCode == .SQLITE_TOOBIG)
            #expect(try error { try statement.execute() }.resultCode == .SQLITE_MISUSE)
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM player") == 0)
        }
    }
}
