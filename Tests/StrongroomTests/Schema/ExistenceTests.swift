import Strongroom
import Testing

@Suite("Names in a schema")
struct ExistenceTests {
    static let sql = """
        CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT);
        CREATE VIEW playerName AS SELECT name FROM player;
        CREATE TRIGGER onPlayer AFTER INSERT ON player BEGIN SELECT 1; END;
        CREATE INDEX playerIndex ON player(name);
        CREATE VIRTUAL TABLE doc USING fts5(title);
        CREATE TABLE "a ""b"" 'é' [日本]" (x);
        """

    @Test("tell tables, views, triggers and indexes apart")
    func kinds() throws {
        try withSchema(Self.sql) { (db) throws in
            #expect(try db.tableExists("player"))
            #expect(try !db.viewExists("player"))
            #expect(try !db.triggerExists("player"))
            #expect(try db.viewExists("playerName"))
            #expect(try !db.tableExists("playerName"))
            #expect(try db.triggerExists("onPlayer"))
            #expect(try !db.tableExists("onPlayer"))
            #expect(try !db.tableExists("playerIndex"))
            #expect(try !db.tableExists("missing"))
        }
    }

    @Test("include virtual tables and their storage")
    func virtualTables() throws {
        try withSchema(Self.sql) { (db) throws in
            #expect(try db.tableExists("doc"))
            #expect(try db.tableExists("doc_data"))
        }
    }

    @Test("may hold quotes, brackets and any script")
    func quotes() throws {
        try withSchema(Self.sql) { (db) throws in
            #expect(try db.tableExists("a \"b\" 'é' [日本]"))
            #expect(try db.columns(in: "a \"b\" 'é' [日本]").map(\.name) == ["x"])
        }
    }

    @Test("ignore the case of ASCII letters, and no other")
    func letterCase() throws {
        try withSchema(Self.sql + "CREATE TABLE \"été\" (small); CREATE TABLE \"ÉTÉ\" (LARGE, x);") { (db) throws in
            #expect(try db.tableExists("PLAYER"))
            #expect(try db.viewExists("PLAYERNAME"))
            #expect(try db.triggerExists("ONPLAYER"))
            #expect(try db.columns(in: "éTé").map(\.name) == ["small"])
            #expect(try db.columns(in: "ÉtÉ").map(\.name) == ["LARGE", "x"])
            #expect(try !db.tableExists("Été"))
        }
    }

    @Test("are looked for in temp first, then in main, then in the attached databases")
    func searchOrder() throws {
        try withSchema("CREATE TABLE a (main); CREATE TABLE b (main)") { (db) throws in
            try db.execute(
                sql: """
                    CREATE TEMP TABLE a (temp);
                    ATTACH ':memory:' AS "Other ""db"" é" KEY '';
                    CREATE TABLE "Other ""db"" é".b (other); CREATE TABLE "Other ""db"" é".c (other);
                    """)
            #expect(try db.columns(in: "a").map(\.name) == ["temp"])
            #expect(try db.columns(in: "a", in: "main").map(\.name) == ["main"])
            #expect(try db.columns(in: "b").map(\.name) == ["main"])
            #expect(try db.columns(in: "b", in: "other \"DB\" é").map(\.name) == ["other"])
            #expect(try db.columns(in: "c").map(\.name) == ["other"])
            #expect(try db.tableExists("c"))
            #expect(try !db.tableExists("c", in: "main"))
            #expect(try db.tableExists("c", in: "Other \"db\" é"))
        }
    }

    @Test("count only in the schema that is named")
    func namedSchema() throws {
        try withSchema(Self.sql) { (db) throws in
            try db.execute(sql: "CREATE TEMP TRIGGER passing AFTER INSERT ON player BEGIN SELECT 1; END")
            #expect(try db.triggerExists("passing"))
            #expect(try db.triggerExists("passing", in: "TEMP"))
            #expect(try !db.triggerExists("passing", in: "main"))
            #expect(try db.viewExists("playerName", in: "MAIN"))
            #expect(try !db.viewExists("playerName", in: "temp"))
        }
    }

    @Test("of a schema that has no table yet are none")
    func emptyTemp() throws {
        try withSchema(Self.sql) { (db) throws in
            #expect(try !db.tableExists("player", in: "temp"))
            try expectError("no such table: player") { try db.columns(in: "player", in: "temp") }
        }
    }

    @Test("of a schema that does not exist are an error that names the schema")
    func missingSchema() throws {
        try withSchema(Self.sql) { (db) throws in
            try expectError("no such schema: nope") { try db.tableExists("player", in: "nope") }
            try expectError("no such schema: nope") { try db.viewExists("player", in: "nope") }
            try expectError("no such schema: nope") { try db.triggerExists("player", in: "nope") }
            try expectError("no such schema: nope") { try db.columns(in: "player", in: "nope") }
            try expectError("no such schema: nope") { try db.primaryKey("player", in: "nope") }
            try expectError("no such schema: nope") { try db.indexes(on: "player", in: "nope") }
            try expectError("no such schema: nope") { try db.foreignKeys(on: "player", in: "nope") }
            try expectError("no such schema: nope") { try db.checkForeignKeys(in: "player", in: "nope") }
        }
    }

    @Test("that begin with sqlite_ or grdb_ are internal")
    func internalTables() {
        #expect(Database.isSQLiteInternalTable("sqlite_master"))
        #expect(Database.isSQLiteInternalTable("SQLITE_stat1"))
        #expect(!Database.isSQLiteInternalTable("sqlite"))
        #expect(!Database.isSQLiteInternalTable("grdb_migrations"))
        #expect(Database.isGRDBInternalTable("grdb_migrations"))
        #expect(!Database.isGRDBInternalTable("grdb"))
        #expect(!Database.isGRDBInternalTable("player"))
    }

    @Test("are identified by schema and name")
    func identifiers() {
        #expect(DatabaseSchemaID.main.name == "main")
        #expect(DatabaseSchemaID.temp.name == "temp")
        #expect(DatabaseSchemaID.attached("x").name == "x")
        #expect(DatabaseSchemaID.main.schemaTableName == "sqlite_master")
        #expect(DatabaseSchemaID.temp.schemaTableName == "sqlite_temp_master")
        #expect(DatabaseSchemaID.attached("x y").schemaTableName == "\"x y\".sqlite_master")
        #expect(DatabaseSchemaID.attached("main") != .main)
        let id = DatabaseObjectID(name: "player", schemaID: .main)
        #expect(id == DatabaseObjectID(name: "player", schemaID: .main))
        #expect(id != DatabaseObjectID(name: "player", schemaID: .temp))
    }
}
