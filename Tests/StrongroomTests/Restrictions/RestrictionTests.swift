import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("A restricted access", .timeLimit(.minutes(2)))
struct RestrictionTests {
    private static let allowed: [(sql: String, rows: Int)] = [
        ("SELECT * FROM product", 3),
        ("SELECT id, city, label, rowid FROM customer", 3),
        ("SELECT count(*) FROM customer", 1),
        ("SELECT p.name FROM main.product AS p JOIN customer c ON c.product_id = p.id WHERE c.city = 'Oslo'", 1),
        ("SELECT name, city FROM product JOIN customer USING (id)", 3),
        ("SELECT * FROM directory", 3), ("SELECT count(*) FROM directory", 1), ("SELECT 1 FROM directory", 3),
        ("SELECT * FROM nested", 3), ("SELECT count(*) FROM nested", 1),
        ("SELECT max(n) FROM (SELECT count(*) AS n FROM directory UNION ALL SELECT 1)", 1),
        ("WITH cheap AS (SELECT * FROM product WHERE price < 10) SELECT count(*) FROM cheap", 1),
        ("WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 5) SELECT i FROM n", 5),
        ("SELECT title, highlight(note, 1, '[', ']') FROM note WHERE note MATCH 'rope' ORDER BY rank", 1),
        ("SELECT value FROM json_each('[1, 2]')", 2),
        ("SELECT id FROM product WHERE id IN (SELECT product_id FROM customer)", 3),
        ("SELECT id, row_number() OVER w FROM product WINDOW w AS (ORDER BY price)", 3),
        ("SELECT 1 IS NOT DISTINCT FROM 2, price FROM product", 3),
        ("VALUES (1), (2)", 2), ("PRAGMA user_version", 1),
        ("SELECT 'FROM secret', \"name\" FROM \"product\" -- FROM secret", 3),
    ]

    @Test("runs queries of what is allowed", arguments: allowed.indices)
    func runs(_ index: Int) throws {
        let (sql, count) = Self.allowed[index]
        #expect(try RestrictionFixture().rows(sql).count == count, "\(sql)")
    }

    @Test("returns the first rows of several statements, and of records")
    func severalStatements() throws {
        struct Product: Codable, FetchableRecord, TableRecord { var id: Int, name: String, price: Double }
        let fixture = try RestrictionFixture()
        try fixture.pool.read(restrictedTo: RestrictionFixture.restrictions) { (db: Database) throws -> Void in
            #expect(try Product.fetchOne(db, key: 2)?.name == "lamp")
            #expect(try Product.filter(Column("price") > 5).fetchCount(db) == 2)
            #expect(try String.fetchSet(db, sql: "SELECT name FROM directory").count == 3)
        }
    }

    @Test("allows each table and view of the main database by default, and none of SQLite's own")
    func defaults() throws {
        let fixture = try RestrictionFixture()
        #expect(try fixture.rows("SELECT password FROM secret JOIN leak ON 1", Restrictions()).count == 9)
        for table in [
            "sqlite_schema", "main.sqlite_master", "note_data", "pragma_table_list", "dbstat", "sqlite_dbpage",
        ] {
            #expect(fixture.refusal("SELECT count(*) FROM \(table)", Restrictions())?.rule == .table)
        }
    }

    @Test("is one of queues, snapshots and wrapped readers, and of tasks, and ends with the block")
    func readers() async throws {
        let fixture = try RestrictionFixture()
        try fixture.pool.close()
        let queue = try DatabaseQueue(path: fixture.folder.path("shop.db"), configuration: .encrypted())
        let pool = try DatabasePool(path: fixture.folder.path("shop.db"), configuration: .encrypted())
        let readers: [any DatabaseReader] = [queue, try pool.makeSnapshot(), AnyDatabaseReader(pool), pool]
        for reader in readers {
            let refusal = { (error: any Error) in (error as? DatabaseError)?.refusal?.object == "secret" }
            #expect {
                try reader.read(restrictedTo: RestrictionFixture.restrictions) { db in
                    _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM secret")
                }
            } throws: {
                refusal($0)
            }
            await #expect {
                try await reader.read(restrictedTo: RestrictionFixture.restrictions) { db in
                    _ = try Int.fetchOne(db, sql: "SELECT count(*) FROM secret")
                }
            } throws: {
                refusal($0)
            }
            #expect(try await reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM secret") } == 3)
        }
    }

    @Test("restricts statements that were prepared before, and nested accesses to its connection")
    func preparedBefore() throws {
        let fixture = try RestrictionFixture()
        try fixture.pool.close()
        let queue = try DatabaseQueue(path: fixture.folder.path("shop.db"), configuration: .encrypted())
        var statement: Statement?
        try queue.read { (db: Database) throws -> Void in
            statement = try db.cachedStatement(sql: "SELECT count(*) FROM product")
            #expect(try Int.fetchOne(statement!) == 3)
        }
        try queue.read(restrictedTo: RestrictionFixture.restrictions) { (db: Database) throws -> Void in
            #expect { _ = try Int.fetchOne(statement!) } throws: {
                ($0 as? DatabaseError)?.refusal?.rule == .preparedBefore
            }
            #expect(try Int.fetchOne(db.cachedStatement(sql: "SELECT count(*) FROM product")) == 3)
            #expect { try queue.unsafeReentrantRead { _ = try Row.fetchOne($0, sql: "SELECT * FROM vault") } } throws: {
                ($0 as? DatabaseError)?.refusal?.object == "vault"
            }
        }
        try queue.read { (_: Database) throws -> Void in #expect(try Int.fetchOne(statement!) == 3) }
        statement = nil
    }

    @Test("has functions of the program only by name, and none that reads on its own")
    func functions() throws {
        let fixture = try RestrictionFixture()
        let function = DatabaseFunction("twice", argumentCount: 1) { $0[0] }
        let upper = DatabaseFunction("upper", argumentCount: 1) { _ in "replaced" }
        fixture.pool.add(function: function)
        fixture.pool.add(function: upper)
        var restrictions = RestrictionFixture.restrictions
        #expect(fixture.refusal("SELECT twice(1)")?.object == "twice")
        #expect(fixture.refusal("SELECT upper('a')")?.rule == .function)
        restrictions.functions = ["Twice"]
        #expect(try fixture.rows("SELECT twice(1)", restrictions).count == 1)
        for name in [
            "load_extension('a')", "sqlcipher_export('a')", "fts3_tokenizer('a')", "fts5(1)", "sqlite_log(1, 2)",
        ] {
            #expect(fixture.refusal("SELECT \(name)")?.rule == .function, "\(name)")
        }
    }

    @Test("refuses restrictions that name what does not exist, or have a limit of zero")
    func unfit() throws {
        let fixture = try RestrictionFixture()
        var unfit = [
            Restrictions(tables: ["nothing"]), Restrictions(tables: ["sqlite_schema"]),
            Restrictions(tables: ["note_data"]),
            Restrictions(tables: [.table("product", columns: ["nothing"])]),
            Restrictions(tables: [.table("note", columns: ["title"])]),
        ]
        var restrictions = Restrictions()
        restrictions.functions = ["nothing"]
        unfit.append(restrictions)
        restrictions.functions = ["load_extension"]
        unfit.append(restrictions)
        let limits: [WritableKeyPath<Restrictions, Int>] = [
            \.maximumRowCount, \.maximumCellByteCount, \.maximumMemoryByteCount, \.maximumExpressionDepth,
            \.maximumCompoundTermCount, \.maximumStatementByteCount,
        ]
        for limit in limits {
            restrictions = Restrictions()
            restrictions[keyPath: limit] = 0
            unfit.append(restrictions)
        }
        restrictions = Restrictions()
        restrictions.maximumDuration = 0
        unfit.append(restrictions)
        for each in unfit {
            #expect { try fixture.pool.read(restrictedTo: each) { _ in Issue.record("\(each)") } } throws: {
                ($0 as? DatabaseError)?.reason == .unfitRestrictions
            }
        }
    }

    @Test("lists the schema that it can read, as data and as SQL")
    func schema() throws {
        let fixture = try RestrictionFixture()
        let schema = try fixture.pool.restrictedSchema(RestrictionFixture.restrictions)
        #expect(schema.sources.map(\.name) == ["customer", "directory", "nested", "note", "product"])
        #expect(!schema.description.contains("password") && !schema.description.contains("secret"))
        #expect(
            schema.description.contains(
                "CREATE TABLE customer (id INTEGER PRIMARY KEY, city TEXT, product_id INTEGER, label TEXT, "
                    + "FOREIGN KEY (product_id) REFERENCES product (id));"))
        #expect(schema.functions.contains("count") && !schema.functions.contains("load_extension"))
        #expect(throws: DatabaseError.self) { try fixture.pool.read { try $0.restrictedSchema } }
    }
}
