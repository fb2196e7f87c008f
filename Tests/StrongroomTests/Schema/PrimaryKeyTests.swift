import Strongroom
import Testing

@Suite("A primary key")
struct PrimaryKeyTests {
    private func key(_ sql: String) throws -> String {
        try withSchema(sql) { try $0.primaryKey("t").summary }
    }

    @Test("that is INTEGER PRIMARY KEY is the rowid")
    func rowID() throws {
        #expect(try key("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") == "id true id")
        #expect(try key("CREATE TABLE t (a, Id integer, primary key (ID))") == "Id true Id")
        #expect(try key("CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT)") == "id true id")
        #expect(try key("CREATE TABLE t (rowid INTEGER PRIMARY KEY)") == "rowid true rowid")
    }

    @Test("that was not declared is the rowid, without a column")
    func hiddenRowID() throws {
        #expect(try key("CREATE TABLE t (a, b)") == "rowid true -")
        #expect(try key("CREATE VIRTUAL TABLE t USING fts5(a)") == "rowid true -")
    }

    @Test("of another type is not the rowid, nor is INTEGER PRIMARY KEY DESC")
    func otherColumn() throws {
        #expect(try key("CREATE TABLE t (name TEXT PRIMARY KEY)") == "name false -")
        #expect(try key("CREATE TABLE t (id INT PRIMARY KEY)") == "id false -")
        #expect(try key("CREATE TABLE t (id INTEGER PRIMARY KEY DESC)") == "id false -")
    }

    @Test("of several columns keeps the order of the key")
    func composite() throws {
        #expect(try key("CREATE TABLE t (a, b, c, PRIMARY KEY (c, a))") == "c,a false -")
    }

    @Test("of a table without rowid is never the rowid")
    func withoutRowID() throws {
        #expect(try key("CREATE TABLE t (id INTEGER PRIMARY KEY) WITHOUT ROWID") == "id false -")
        #expect(try key("CREATE TABLE t (a, b, PRIMARY KEY (b, a)) WITHOUT ROWID") == "b,a false -")
    }

    @Test("of a missing table is an error, and so is that of a view")
    func missing() throws {
        try withSchema("CREATE VIEW v AS SELECT 1 AS a") { (db) throws in
            try expectError("no such table: missing") { try db.primaryKey("missing") }
            try expectError("database view v has no primary key") { try db.primaryKey("v") }
        }
    }
}

@Suite("A schema source")
struct SchemaSourceTests {
    static let sql = """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a, b);
        CREATE VIEW v AS SELECT id, a AS x, b FROM t;
        CREATE TEMP VIEW passing AS SELECT 1 AS id;
        """

    /// Answers for each view, and counts how often it is asked.
    final class Source: DatabaseSchemaSource, @unchecked Sendable {
        private let answer: @Sendable (DatabaseObjectID) -> [String]?
        private(set) var asked: [DatabaseObjectID] = []

        init(_ answer: @escaping @Sendable (DatabaseObjectID) -> [String]?) {
            self.answer = answer
        }

        func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? {
            asked.append(view)
            return answer(view)
        }
    }

    struct Silent: DatabaseSchemaSource {}

    @Test("defines the primary keys of views, and gets their schema and declared name")
    func views() throws {
        try withSchema(Self.sql) { (db) throws in
            let source = Source { $0.schemaID == .main ? ["X", "id"] : ["id"] }
            try db.withSchemaSource(source) { () throws in
                #expect(try db.primaryKey("V").summary == "x,id false -")
                #expect(try db.primaryKey("passing").summary == "id false -")
            }
            #expect(
                source.asked == [
                    DatabaseObjectID(name: "v", schemaID: .main), DatabaseObjectID(name: "passing", schemaID: .temp),
                ])
        }
    }

    @Test("makes unique keys of views")
    func uniqueKeys() throws {
        try withSchema(Self.sql) { (db) throws in
            try db.withSchemaSource(Source { _ in ["id"] }) { () throws in
                #expect(try db.table("v", hasUniqueKey: ["id"]))
                #expect(try !db.table("v", hasUniqueKey: ["x"]))
            }
        }
    }

    @Test("is not used for tables, nor twice for a view")
    func remembered() throws {
        try withSchema(Self.sql) { (db) throws in
            let source = Source { _ in ["id"] }
            try db.withSchemaSource(source) { () throws in
                #expect(try db.primaryKey("t").isRowID)
                for _ in 1...3 { #expect(try db.primaryKey("v").columns == ["id"]) }
            }
            #expect(source.asked.count == 1)
        }
    }

    @Test("counts inside its block only")
    func scope() throws {
        try withSchema(Self.sql) { (db) throws in
            #expect(db.schemaSource == nil)
            try db.withSchemaSource(Source { _ in ["id"] }) {
                #expect(db.schemaSource is Source)
                #expect(try db.primaryKey("v").columns == ["id"])
                try db.withSchemaSource(nil) {
                    try expectError("database view v has no primary key") { try db.primaryKey("v") }
                }
                #expect(try db.primaryKey("v").columns == ["id"])
            }
            try expectError("database view v has no primary key") { try db.primaryKey("v") }
        }
    }

    @Test("that knows nothing, or names no column, leaves a view without key")
    func ignorance() throws {
        try withSchema(Self.sql) { (db) throws in
            for source: any DatabaseSchemaSource in [Silent(), Source { _ in nil }, Source { _ in [] }] {
                try db.withSchemaSource(source) {
                    try expectError("database view v has no primary key") { try db.primaryKey("v") }
                }
            }
        }
    }

    @Test("can be followed by another one")
    func chain() throws {
        try withSchema(Self.sql) { (db) throws in
            let first = Source { $0.name == "passing" ? ["id"] : nil }
            let second = Source { _ in ["x"] }
            try db.withSchemaSource(first.then(second)) { () throws in
                #expect(try db.primaryKey("v").columns == ["x"])
                #expect(try db.primaryKey("passing").columns == ["id"])
            }
            #expect(second.asked.map(\.name) == ["v"])
        }
    }

    @Test("of the configuration counts from the beginning")
    func configuration() throws {
        var configuration = Configuration.encrypted()
        configuration.schemaSource = Source { _ in ["id"] }
        try withEncryptedQueue(configuration) { queue in
            try queue.writeWithoutTransaction { (db) throws in
                try db.execute(sql: Self.sql)
                #expect(try db.primaryKey("v").columns == ["id"])
            }
        }
    }

    @Test("that names a column the view lacks stops the program")
    func wrongColumn() async {
        await #expect(processExitsWith: .failure) {
            try withSchema(SchemaSourceTests.sql) { (db) throws in
                try db.withSchemaSource(Source { _ in ["nope"] }) { _ = try db.primaryKey("v") }
            }
        }
    }
}
