import Foundation
import Strongroom
import TestSupport

/// A database with tables that a restricted access may read, and with secrets.
///
/// Two fixtures with different secrets differ in nothing that `restrictions` allow: in no row, and in no count.
struct RestrictionFixture {
    let folder: TemporaryFolder
    let pool: DatabasePool

    /// The restrictions: two tables, one without its passwords, two views and a full-text table.
    static let restrictions = Restrictions(tables: [
        "product", .table("customer", columns: ["id", "city", "product_id", "label"]), "directory", "nested", "note",
    ])

    init(secret: String = "hunter2", secretCount: Int = 3) throws {
        folder = try TemporaryFolder()
        pool = try DatabasePool(path: folder.path("shop.db"), configuration: .encrypted())
        try pool.write { db in
            try db.execute(sql: Self.schema)
            for id in 1...3 {
                try db.execute(
                    sql: "INSERT INTO customer (id, city, password, product_id) VALUES (?, ?, ?, ?)",
                    arguments: [id, ["Oslo", "Rome", "Bern"][id - 1], "\(secret)\(id)", id])
                try db.execute(
                    sql: "INSERT INTO secret VALUES (?, ?, ?)", arguments: [id, "name \(id)", "\(secret)\(id)"])
            }
            for id in 1...secretCount {
                try db.execute(sql: "INSERT INTO vault VALUES (?, ?)", arguments: [id, "\(secret)\(id)"])
                try db.execute(sql: "INSERT INTO diary VALUES (?)", arguments: ["dear \(secret) \(id)"])
            }
        }
    }

    private static let schema = """
        CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT, price REAL);
        CREATE TABLE customer (
            id INTEGER PRIMARY KEY, city TEXT, password TEXT, product_id INTEGER REFERENCES product (id),
            label TEXT GENERATED ALWAYS AS (upper(city)) VIRTUAL);
        CREATE INDEX customer_on_password ON customer (password);
        CREATE TABLE secret (id INTEGER PRIMARY KEY, name TEXT, password TEXT);
        CREATE TABLE vault (id INTEGER PRIMARY KEY, name TEXT);
        CREATE VIEW directory AS SELECT id, name FROM secret WHERE password IS NOT NULL;
        CREATE VIEW nested AS WITH inside AS (SELECT name FROM directory) SELECT name FROM inside;
        CREATE VIEW leak AS SELECT password AS name FROM secret;
        CREATE VIEW crowd AS SELECT 1 AS name FROM vault;
        CREATE VIRTUAL TABLE note USING fts5 (title, body);
        CREATE VIRTUAL TABLE diary USING fts5 (body);
        INSERT INTO product VALUES (1, 'rope', 3.5), (2, 'lamp', 9), (3, 'sail', 120);
        INSERT INTO note VALUES ('first', 'a rope and a lamp'), ('second', 'nothing else');
        """

    /// Runs SQL in a restricted access. Returns the rows.
    func rows(_ sql: String, _ restrictions: Restrictions = Self.restrictions) throws -> [Row] {
        try pool.read(restrictedTo: restrictions) { try Row.fetchAll($0, sql: sql) }
    }

    /// Returns the rule that refuses the SQL, with the object. Nil if it runs, or fails otherwise.
    func refusal(_ sql: String, _ restrictions: Restrictions = Self.restrictions) -> DatabaseError.Refusal? {
        do {
            _ = try rows(sql, restrictions)
            return nil
        } catch {
            return (error as? DatabaseError)?.refusal
        }
    }
}
