import Strongroom
import Testing

@Suite("Indexes")
struct IndexTests {
    static let sql = """
        CREATE TABLE t (id TEXT PRIMARY KEY, a, b, c, UNIQUE (a, b));
        CREATE INDEX plain ON t(c);
        CREATE INDEX "w ""é"" x" ON t(b DESC, c COLLATE NOCASE);
        CREATE INDEX expression ON t(lower(a), b);
        CREATE UNIQUE INDEX uniqueExpression ON t(lower(c));
        CREATE INDEX partial ON t(a) WHERE b > 0;
        CREATE UNIQUE INDEX uniquePartial ON t(b) WHERE a > 0;
        CREATE VIEW v AS SELECT * FROM t;
        """

    @Test("tell their columns, their origin, and whether they are unique")
    func all() throws {
        try withSchema(Self.sql) { (db) throws in
            let indexes = try db.indexes(on: "T").map(\.summary)
            #expect(
                indexes.sorted() == [
                    "partial(a) c", "plain(c) c", "sqlite_autoindex_t_1(id) pk unique",
                    "sqlite_autoindex_t_2(a,b) u unique",
                    "uniquePartial(b) c unique", "w \"é\" x(b,c) c",
                ])
        }
    }

    @Test("of the rowid there are none, nor of virtual tables")
    func none() throws {
        try withSchema("CREATE TABLE t (id INTEGER PRIMARY KEY); CREATE VIRTUAL TABLE doc USING fts5(a)") {
            (db) throws in
            #expect(try db.indexes(on: "t").isEmpty)
            #expect(try db.indexes(on: "doc").isEmpty)
        }
    }

    @Test("of a table without rowid include its key")
    func withoutRowID() throws {
        try withSchema("CREATE TABLE t (a, b, PRIMARY KEY (b, a)) WITHOUT ROWID") { (db) throws in
            #expect(try db.indexes(on: "t").map(\.summary) == ["sqlite_autoindex_t_1(b,a) pk unique"])
        }
    }

    @Test("of views and missing tables are an error")
    func missing() throws {
        try withSchema(Self.sql) { (db) throws in
            try expectError("no such table: v") { try db.indexes(on: "v") }
            try expectError("no such table: missing") { try db.indexes(on: "missing") }
        }
    }

    @Test("are found in the schema of their table")
    func schemas() throws {
        try withSchema("CREATE TABLE t (a); CREATE INDEX i ON t(a)") { (db) throws in
            try db.execute(
                sql: "ATTACH ':memory:' AS other KEY ''; CREATE TABLE other.t (b); CREATE INDEX other.i ON t(b)")
            #expect(try db.indexes(on: "t").map(\.summary) == ["i(a) c"])
            #expect(try db.indexes(on: "t", in: "other").map(\.summary) == ["i(b) c"])
        }
    }

    @Test("make keys: any columns that contain those of a unique index or constraint")
    func uniqueKeys() throws {
        try withSchema(Self.sql) { (db) throws in
            #expect(try db.table("t", hasUniqueKey: ["id"]))
            #expect(try db.table("T", hasUniqueKey: ["ID", "c"]))
            #expect(try db.table("t", hasUniqueKey: ["b", "A"]))
            #expect(try !db.table("t", hasUniqueKey: ["a"]))
            #expect(try !db.table("t", hasUniqueKey: ["c"]))
            #expect(try !db.table("t", hasUniqueKey: []))
        }
    }

    @Test("on some of the rows make no key")
    func partialKeys() throws {
        try withSchema(Self.sql) { (db) throws in
            #expect(try !db.table("t", hasUniqueKey: ["b"]))
        }
    }

    @Test("are not needed where the rowid is a key")
    func rowIDKeys() throws {
        try withSchema(
            """
            CREATE TABLE t (a); CREATE TABLE hides (rowid TEXT, a); CREATE TABLE p (id INTEGER PRIMARY KEY, a);
            CREATE TABLE w (a PRIMARY KEY) WITHOUT ROWID; CREATE VIEW v AS SELECT a FROM t;
            """
        ) { (db) throws in
            #expect(try db.table("t", hasUniqueKey: ["rowid"]))
            #expect(try db.table("t", hasUniqueKey: ["OID"]))
            #expect(try db.table("p", hasUniqueKey: ["id"]))
            #expect(try db.table("p", hasUniqueKey: ["rowid", "a"]))
            #expect(try !db.table("hides", hasUniqueKey: ["rowid"]))
            #expect(try db.table("hides", hasUniqueKey: ["_rowid_"]))
            #expect(try !db.table("w", hasUniqueKey: ["rowid"]))
            #expect(try db.table("w", hasUniqueKey: ["a"]))
            #expect(try !db.table("v", hasUniqueKey: ["rowid"]))
            #expect(try !db.table("missing", hasUniqueKey: ["rowid"]))
        }
    }
}
