import Strongroom
import Testing

@Suite("Columns")
struct ColumnTests {
    private func summaries(_ sql: String, of table: String) throws -> [String] {
        try withSchema(sql) { try $0.columns(in: table).map(\.summary) }
    }

    @Test("come in their order, with type, default, NOT NULL and place in the primary key")
    func declarations() throws {
        let sql = """
            CREATE TABLE t (
                "le score" INTEGER DEFAULT (1 + 1), name VARCHAR(10) NOT NULL DEFAULT 'it''s', free, n DEFAULT NULL,
                at DATETIME DEFAULT CURRENT_TIMESTAMP, "çol ""q"" é" TEXT, PRIMARY KEY (name, "le score"))
            """
        #expect(
            try summaries(sql, of: "t") == [
                "le score INTEGER = 1 + 1 pk2", "name VARCHAR(10) not null = 'it''s' pk1", "free -", "n - = NULL",
                "at DATETIME = CURRENT_TIMESTAMP", "çol \"q\" é TEXT",
            ])
    }

    @Test("of a table without rowid are not null where they are the key")
    func withoutRowID() throws {
        let sql = "CREATE TABLE t (a TEXT, b INT, c, PRIMARY KEY (b, a)) WITHOUT ROWID"
        #expect(try summaries(sql, of: "t") == ["a TEXT not null pk2", "b INT not null pk1", "c -"])
    }

    @Test("include those that are generated, virtual or stored")
    func generated() throws {
        let sql = "CREATE TABLE t (a INT, v INT AS (a * 2), s INT AS (a + 1) STORED)"
        #expect(try summaries(sql, of: "t") == ["a INT", "v INT", "s INT"])
    }

    @Test("of virtual tables leave the hidden ones out")
    func hidden() throws {
        try withSchema("CREATE VIRTUAL TABLE doc USING fts5(title, body)") { (db) throws in
            #expect(try db.columns(in: "doc").map(\.name) == ["title", "body"])
            #expect(try db.columns(in: "json_each").map(\.name).contains("value"))
            #expect(try !db.columns(in: "json_each").map(\.name).contains("json"))
        }
    }

    @Test("of a view take the types of the columns behind it")
    func views() throws {
        let sql = "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT NOT NULL); CREATE VIEW v AS SELECT id, a AS b FROM t"
        #expect(try summaries(sql, of: "v") == ["id INTEGER", "b TEXT"])
    }

    @Test("of the schema table can be read")
    func schemaTable() throws {
        try withSchema("") { (db) throws in
            #expect(try db.columns(in: "sqlite_master").map(\.name) == ["type", "name", "tbl_name", "rootpage", "sql"])
        }
    }

    @Test("of a missing table are an error that names it")
    func missing() throws {
        try withSchema("CREATE TABLE t (a); CREATE INDEX i ON t(a)") { (db) throws in
            try expectError("no such table: missing") { try db.columns(in: "missing") }
            try expectError("no such table: i") { try db.columns(in: "i") }
            try expectError("no such table: main.t") { try db.columns(in: "main.t") }
        }
    }

    @Test("of a view on a missing table are SQLite's error")
    func brokenView() throws {
        try withSchema("CREATE VIEW v AS SELECT * FROM nowhere") { (db) throws in
            try expectError("no such table: main.nowhere") { try db.columns(in: "v") }
        }
    }

    @Test("can be made from a row of the pragma")
    func fromRow() throws {
        let row: Row = ["name": "a", "type": "TEXT", "notnull": 1, "dflt_value": nil, "pk": 1]
        #expect(ColumnInfo(row: row).summary == "a TEXT not null pk1")
    }
}
