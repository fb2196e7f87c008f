import Strongroom
import Testing

@Suite("Foreign keys")
struct ForeignKeyTests {
    static let sql = """
        CREATE TABLE parent (id INTEGER PRIMARY KEY, a, b, UNIQUE (a, b));
        CREATE TABLE pair (a, b, PRIMARY KEY (b, a)) WITHOUT ROWID;
        CREATE TABLE child (
            id INTEGER PRIMARY KEY, p REFERENCES parent, x, y, "w ""1"" x", w2,
            FOREIGN KEY (x, y) REFERENCES parent(a, b), FOREIGN KEY ("w ""1"" x", w2) REFERENCES Pair);
        """

    @Test("map columns to columns, to those of the primary key where none are named")
    func mapping() throws {
        try withSchema(Self.sql) { (db) throws in
            #expect(
                try db.foreignKeys(on: "CHILD").map(\.summary) == [
                    "0: (w \"1\" x,w2) -> Pair(b,a)", "1: (x,y) -> parent(a,b)", "2: (p) -> parent(id)",
                ])
            let mapping = try db.foreignKeys(on: "child")[1].mapping
            #expect(mapping.map(\.origin) == ["x", "y"])
            #expect(mapping.map(\.destination) == ["a", "b"])
        }
    }

    @Test("refer to tables of their own schema, whatever temp contains")
    func schemas() throws {
        try withSchema(Self.sql) { (db) throws in
            try db.execute(sql: "CREATE TEMP TABLE parent (other INTEGER PRIMARY KEY)")
            #expect(try db.foreignKeys(on: "child")[2].destinationColumns == ["id"])
        }
    }

    @Test("of a table without any are none; of views and missing tables, an error")
    func missing() throws {
        try withSchema(Self.sql + "CREATE VIEW v AS SELECT 1; CREATE TABLE lost (a REFERENCES nowhere)") {
            (db) throws in
            #expect(try db.foreignKeys(on: "parent").isEmpty)
            try expectError("no such table: v") { try db.foreignKeys(on: "v") }
            try expectError("no such table: missing") { try db.foreignKeys(on: "missing") }
            try expectError("no such table: nowhere") { try db.foreignKeys(on: "lost") }
        }
    }
}

@Suite("Foreign key violations")
struct ForeignKeyViolationTests {
    static let sql = """
        CREATE TABLE team (id INTEGER PRIMARY KEY);
        CREATE TABLE player (id INTEGER PRIMARY KEY, teamId REFERENCES team, name);
        CREATE TABLE coach (name PRIMARY KEY, teamId REFERENCES team) WITHOUT ROWID;
        INSERT INTO team VALUES (1);
        INSERT INTO player VALUES (1, 1, 'Arthur'), (2, 7, 'O''Brien'), (3, NULL, 'Craig');
        """

    private let sentence = "FOREIGN KEY constraint violation - from player(teamId) to team(id)"

    @Test("name the table, the row, the other table and the foreign key")
    func fields() throws {
        try withSchema(Self.sql) { (db) throws in
            let violations = try Array(db.foreignKeyViolations())
            #expect(violations.count == 1)
            #expect(violations[0].originTable == "player")
            #expect(violations[0].originRowID == 2)
            #expect(violations[0].destinationTable == "team")
            #expect(violations[0].foreignKeyId == 0)
        }
    }

    @Test("of one table leave the other tables alone")
    func oneTable() throws {
        try withSchema(Self.sql + "INSERT INTO coach VALUES ('Zoe', 9)") { (db) throws in
            #expect(try Array(db.foreignKeyViolations(in: "COACH")).map(\.originTable) == ["coach"])
            #expect(try Array(db.foreignKeyViolations(in: "team")).isEmpty)
            #expect(try Array(db.foreignKeyViolations()).count == 2)
        }
    }

    @Test("of an attached table are found in its schema")
    func attached() throws {
        try withSchema(Self.sql) { (db) throws in
            try db.execute(
                sql: """
                    ATTACH ':memory:' AS other KEY '';
                    CREATE TABLE other.player (id INTEGER PRIMARY KEY, up REFERENCES player);
                    INSERT INTO other.player VALUES (5, 6);
                    """)
            #expect(try Array(db.foreignKeyViolations(in: "player", in: "other")).map(\.originRowID) == [5])
            #expect(try Array(db.foreignKeyViolations(in: "player")).map(\.originRowID) == [2])
        }
    }

    @Test("are described by tables and rowid, without values")
    func description() throws {
        try withSchema(Self.sql) { (db) throws in
            let violation = try #require(try db.foreignKeyViolations().next())
            #expect(violation.description == "FOREIGN KEY constraint violation - from player to team, in rowid 2")
        }
    }

    @Test("are described with columns and values when it is requested")
    func failureDescription() throws {
        try withSchema(Self.sql) { (db) throws in
            let violation = try #require(try db.foreignKeyViolations().next())
            #expect(try violation.failureDescription(db) == sentence + ", in [id:2 teamId:7 name:\"O\\'Brien\"]")
        }
    }

    @Test("of a table without rowid are described without row")
    func withoutRowID() throws {
        try withSchema(Self.sql + "INSERT INTO coach VALUES ('Zoe', 9)") { (db) throws in
            let violation = try #require(try db.foreignKeyViolations(in: "coach").next())
            #expect(violation.originRowID == nil)
            #expect(violation.description == "FOREIGN KEY constraint violation - from coach to team")
            #expect(
                try violation.failureDescription(db)
                    == "FOREIGN KEY constraint violation - from coach(teamId) to team(id)")
        }
    }

    @Test("are described as far as possible when row or table are gone")
    func gone() throws {
        try withSchema(Self.sql) { (db) throws in
            let violation = try #require(try db.foreignKeyViolations().next())
            try db.execute(sql: "DELETE FROM player")
            #expect(try violation.failureDescription(db) == sentence + ", in rowid 2")
            try db.execute(sql: "DROP TABLE player")
            #expect(try violation.failureDescription(db) == violation.description)
        }
    }

    @Test("become errors without values, unless the configuration makes them public")
    func errors() throws {
        try withSchema(Self.sql) { (db) throws in
            let error = #expect(throws: DatabaseError.self) { try db.checkForeignKeys() }
            #expect(error?.extendedResultCode == .SQLITE_CONSTRAINT_FOREIGNKEY)
            #expect(error?.message == sentence + ", in rowid 2")
        }
        var configuration = Configuration.encrypted()
        configuration.publicStatementArguments = true
        configuration.foreignKeysEnabled = false
        try withEncryptedQueue(configuration) { queue in
            try queue.writeWithoutTransaction { (db) throws in
                try db.execute(sql: Self.sql)
                let error = #expect(throws: DatabaseError.self) { try db.checkForeignKeys(in: "player") }
                #expect(error?.message == sentence + ", in [id:2 teamId:7 name:\"O\\'Brien\"]")
            }
        }
    }

    @Test("that are none pass the check")
    func none() throws {
        try withSchema(Self.sql) { (db) throws in
            try db.execute(sql: "DELETE FROM player WHERE id = 2")
            try db.checkForeignKeys()
            try db.checkForeignKeys(in: "player")
            try db.checkForeignKeys(in: "player", in: "main")
            #expect(try Array(db.foreignKeyViolations()).isEmpty)
        }
    }

    @Test("of views and missing tables are an error")
    func missing() throws {
        try withSchema(Self.sql + "CREATE VIEW v AS SELECT 1") { (db) throws in
            try expectError("no such table: v") { try db.foreignKeyViolations(in: "v") }
            try expectError("no such table: missing") { try db.checkForeignKeys(in: "missing") }
        }
    }
}
