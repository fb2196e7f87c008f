import Foundation
import Strongroom
import TestSupport
import Testing

/// Statements that would escape a restriction, if it relied on SQLite's authorizer, or on the text alone.
@Suite("A restriction refuses", .timeLimit(.minutes(2)))
struct RestrictionAttackTests {
    private typealias Rule = DatabaseError.RestrictionRule

    private static let attacks: [(sql: String, rule: DatabaseError.RestrictionRule, object: String?)] = [
        // Objects.
        ("SELECT * FROM secret", .table, "secret"), ("SELECT count(*) FROM vault", .table, "vault"),
        ("SELECT 1 FROM \"SECRET\"", .table, "secret"), ("SELECT 1 FROM 'secret'", .table, "secret"),
        ("SELECT 1 FROM [secret]", .table, "secret"), ("SELECT 1 FROM main . secret", .table, "main.secret"),
        ("SELECT 1 FROM product, vault", .table, "vault"), ("SELECT 1 FROM (product JOIN vault)", .table, "vault"),
        ("SELECT 1 FROM product LEFT JOIN vault ON 1", .table, "vault"), ("SELECT 1 IN vault", .table, "vault"),
        ("SELECT 1 WHERE EXISTS (SELECT 1 FROM vault)", .table, "vault"),
        ("SELECT 1 FROM product ORDER BY (SELECT count(*) FROM vault)", .table, "vault"),
        ("SELECT 1 UNION SELECT 1 FROM vault", .table, "vault"), ("SELECT 1 FROM leak", .table, "leak"),
        ("SELECT 1 FROM crowd", .table, "crowd"), ("SELECT 1 FROM temp.product", .table, "temp.product"),
        ("SELECT 1 FROM product window, vault", .table, "vault"),
        ("SELECT 1 FROM ((product)), vault", .table, "vault"), ("SELECT 1 IN main.vault", .table, "main.vault"),
        ("SELECT 1 FROM product JOIN customer ON 1 IS DISTINCT FROM 2, vault", .table, "vault"),
        ("SELECT 1 FROM (WITH c AS (SELECT 1) SELECT 1 FROM c), vault", .table, "vault"),
        ("SELECT 1 FROM\u{0B} vault", .table, "vault"), ("SELECT 1 FROM/*x*/vault", .table, "vault"),
        // Columns.
        ("SELECT password FROM customer", .column, "customer.password"),
        ("SELECT * FROM customer", .column, "customer.password"),
        ("SELECT id FROM customer ORDER BY password", .column, "customer.password"),
        ("SELECT count(*) FROM customer GROUP BY password", .column, "customer.password"),
        ("SELECT max(password) OVER () FROM customer", .column, "customer.password"),
        ("SELECT 1 FROM customer WHERE customer.\"PassWord\" > 'h'", .column, "customer.password"),
        ("SELECT 1 FROM customer WHERE (id, password) > (1, 'h')", .column, "customer.password"),
        ("SELECT 1 FROM product p WHERE EXISTS (SELECT 1 FROM customer c WHERE c.password > p.name)", .column, nil),
        // SQLite does not report the columns that these compare, nor the table in the second one.
        ("SELECT id FROM customer JOIN (SELECT 'hunter21' AS password) USING (password)", .column, nil),
        ("SELECT city FROM customer NATURAL JOIN (SELECT 'hunter21' AS password)", .column, nil),
        ("SELECT password FROM (SELECT 1 AS password) FULL JOIN customer USING (password)", .column, nil),
        ("SELECT product.id FROM product NATURAL JOIN vault", .table, "vault"),
        ("SELECT name FROM (SELECT 1 AS name) FULL JOIN secret USING (name)", .table, "secret"),
        // Names that SQLite reports like those of views.
        ("WITH directory AS (SELECT password FROM secret) SELECT * FROM directory", .commonTableName, "directory"),
        ("WITH directory AS (SELECT name FROM secret) SELECT * FROM main.directory", .commonTableName, nil),
        ("WITH \"dir\"\"ectory\" AS (SELECT 1), directory AS (SELECT * FROM secret) SELECT 1", .commonTableName, nil),
        ("WITH inside AS (SELECT name FROM secret) SELECT * FROM inside", .commonTableName, "inside"),
        ("WITH c (a, b) AS NOT MATERIALIZED (SELECT id, password FROM secret) SELECT * FROM c", .table, "secret"),
        ("WITH secret AS (SELECT 1) SELECT * FROM secret", .commonTableName, "secret"),
        ("WITH json_each AS (SELECT 1) SELECT * FROM json_each", .commonTableName, "json_each"),
        (
            "SELECT (WITH pragma_table_list AS (SELECT 1) SELECT 1), count(*) FROM pragma_table_list", .commonTableName,
            nil
        ),
        ("SELECT * FROM (SELECT password FROM secret) AS directory", .table, "secret"),
        // Text that hides its words from a reader with other tokens than SQLite's.
        ("SELECT $a('), (WITH directory AS (SELECT name FROM secret) SELECT 1) --'", .commonTableName, "directory"),
        ("SELECT @a::b('), (SELECT count(*) FROM vault) --'", .table, "vault"),
        ("SELECT #a('), (SELECT count(*) FROM vault) --'", .table, "vault"),
        ("SELECT 'it''s', (SELECT 1 FROM vault) --'", .table, "vault"),
        // Tables of SQLite, of modules and of full-text tables.
        ("SELECT sql FROM sqlite_schema", .table, "sqlite_schema"), ("SELECT 1 FROM sqlite_master", .table, nil),
        ("SELECT * FROM pragma_table_info('secret')", .table, "pragma_table_info"),
        ("SELECT * FROM dbstat", .table, nil),
        ("SELECT data FROM sqlite_dbpage", .table, nil), ("SELECT sql FROM sqlite_stmt", .table, nil),
        ("SELECT * FROM bytecode('SELECT 1')", .table, nil), ("SELECT * FROM fts5vocab", .table, nil),
        ("SELECT * FROM diary", .table, "diary"), ("SELECT block FROM note_data", .table, "note_data"),
        // Statements.
        ("DELETE FROM product", .statement, "DELETE"), ("UPDATE product SET id = 9", .statement, nil),
        ("INSERT INTO product DEFAULT VALUES", .statement, nil), ("REPLACE INTO product VALUES (1)", .statement, nil),
        ("WITH a AS (SELECT 1) DELETE FROM product", .statement, nil), ("ATTACH ':memory:' AS a", .statement, "ATTACH"),
        ("WITH a AS (SELECT 1) INSERT INTO product DEFAULT VALUES", .statement, nil),
        ("WITH a AS (SELECT 1) UPDATE product SET id = 9", .statement, nil),
        ("CREATE TEMP VIEW v AS SELECT * FROM secret", .statement, nil), ("VACUUM INTO 'copy'", .statement, nil),
        ("EXPLAIN SELECT * FROM product", .statement, nil), ("ANALYZE", .statement, nil), ("BEGIN", .statement, nil),
        ("COMMIT", .statement, nil), ("SAVEPOINT a", .statement, nil), ("REINDEX", .statement, nil),
        ("PRAGMA table_info(secret)", .pragma, "table_info"), ("PRAGMA user_version = 9", .pragma, nil),
        ("PRAGMA trusted_schema = 1", .pragma, nil), ("PRAGMA writable_schema = 1", .pragma, nil),
        ("PRAGMA temp.user_version", .pragma, nil), ("PRAGMA key = 'x'", .pragma, nil),
        ("PRAGMA cipher_version", .pragma, nil), ("PRAGMA hard_heap_limit = 1", .pragma, nil),
    ]

    @Test("each attack, by the rule that it breaks", arguments: attacks.indices)
    func attack(_ index: Int) throws {
        let attack = Self.attacks[index], fixture = try RestrictionFixture()
        let refusal = fixture.refusal(attack.sql)
        #expect(refusal?.rule == attack.rule, "\(attack.sql)")
        if let object = attack.object { #expect(refusal?.object == object, "\(attack.sql)") }
        // The connection is as before.
        #expect(try fixture.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM vault") } == 3)
    }

    @Test("the words of the reference that SQLite does not compile, with nothing read")
    func unread() throws {
        let fixture = try RestrictionFixture()
        for sql in [
            "SELECT", "SELECT 1 FROM", "WITH", "SELECT * FROM product, ", "SELECT \"", "SELECT /*", "SELECT $a(",
        ] {
            #expect(throws: DatabaseError.self, "\(sql)") { try fixture.rows(sql) }
        }
    }

    @Test("a temporary table that hides an allowed one")
    func temporaryTable() throws {
        let fixture = try RestrictionFixture()
        try fixture.pool.close()
        let queue = try DatabaseQueue(path: fixture.folder.path("shop.db"), configuration: .encrypted())
        try queue.inDatabase { try $0.execute(sql: "CREATE TEMP TABLE product AS SELECT * FROM secret") }
        for sql in ["SELECT * FROM product", "SELECT count(*) FROM product"] {
            #expect {
                try queue.read(restrictedTo: RestrictionFixture.restrictions) { _ = try Row.fetchAll($0, sql: sql) }
            } throws: {
                ($0 as? DatabaseError)?.refusal?.object == "product"
            }
        }
        let rows = try queue.read(restrictedTo: RestrictionFixture.restrictions) {
            try Row.fetchAll($0, sql: "SELECT price FROM main.product")
        }
        #expect(rows.count == 3)
    }

    @Test("attached databases")
    func attached() throws {
        let fixture = try RestrictionFixture()
        try fixture.pool.close()
        let queue = try DatabaseQueue(path: fixture.folder.path("shop.db"), configuration: .encrypted())
        try queue.inDatabase { try $0.execute(sql: "ATTACH ':memory:' AS other; CREATE TABLE other.fruit (id)") }
        for sql in ["SELECT * FROM fruit", "SELECT count(*) FROM other.fruit", "SELECT 1 FROM other.sqlite_schema"] {
            #expect {
                try queue.read(restrictedTo: Restrictions()) { _ = try Row.fetchAll($0, sql: sql) }
            } throws: {
                ($0 as? DatabaseError)?.refusal?.rule == .table
            }
        }
    }

    @Test("functions that find a full-text table by a number, where a view hides one")
    func fullTextFunctions() throws {
        let fixture = try RestrictionFixture()
        try fixture.pool.write { try $0.execute(sql: "CREATE VIEW found AS SELECT rowid FROM diary") }
        let sql = "SELECT highlight(note, 0, '', '') FROM note, found"
        #expect(fixture.refusal(sql, Restrictions(tables: ["note", "found"]))?.object == "highlight")
        #expect(fixture.refusal("SELECT rowid FROM found", Restrictions(tables: ["note", "found"])) == nil)
        #expect(fixture.refusal(sql, Restrictions()) == nil)
    }

    @Test("messages in which a view could quote what it may not show")
    func messages() throws {
        let fixture = try RestrictionFixture()
        try fixture.pool.write { db in
            try db.execute(sql: "CREATE VIEW loud AS SELECT json_extract('{}', password) AS x FROM secret")
        }
        #expect { _ = try fixture.rows("SELECT x FROM loud", Restrictions(tables: ["loud"])) } throws: {
            ($0 as? DatabaseError)?.resultCode == .SQLITE_ERROR && !"\($0)".contains("hunter2")
        }
        #expect { _ = try fixture.pool.read { try Row.fetchAll($0, sql: "SELECT x FROM loud") } } throws: {
            "\($0)".contains("hunter2")
        }
    }
}
