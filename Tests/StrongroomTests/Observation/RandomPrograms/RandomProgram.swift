import TestSupport

/// One statement of a random program.
struct RandomStatement {
    enum Savepoint { case begin(String), release(String), rollBack(String) }

    let sql: String
    var savepoint: Savepoint?
}

/// One step of a random program.
enum RandomStep {
    /// A statement of the program, or of a transaction that it leaves open.
    case run(RandomStatement)

    /// Statements in a block that commits, unless one of them fails or the block throws at its end.
    case block([RandomStatement], isSavepoint: Bool, fails: Bool)

    /// A change of the schema by another connection, outside of transactions.
    case foreign(String)

    /// The start, or the next start, of the observation of a query.
    case observe(Int)
}

/// A source of statements on tables in which changes are hard to see: generated columns, conflicts that replace rows or
/// keep some, keys that cascade, triggers, tables without rowid, and a virtual table.
struct RandomProgram {
    static let schema = """
        CREATE TABLE a (
            id INTEGER PRIMARY KEY, x, y UNIQUE, z, g AS (x * 2), h AS (g + id), s AS (x || 's') STORED);
        CREATE INDEX a_h ON a (h);
        CREATE TABLE b (id INTEGER PRIMARY KEY, u UNIQUE ON CONFLICT REPLACE, v);
        CREATE TABLE w (k PRIMARY KEY, x, y UNIQUE) WITHOUT ROWID;
        CREATE TABLE c (id INTEGER PRIMARY KEY, a REFERENCES a ON DELETE CASCADE ON UPDATE CASCADE, t, g AS (a + 1));
        CREATE TABLE d (id INTEGER PRIMARY KEY, b REFERENCES b DEFERRABLE INITIALLY DEFERRED);
        CREATE TABLE l (n INTEGER PRIMARY KEY, t);
        CREATE VIRTUAL TABLE f USING fts5(t, u);
        CREATE TRIGGER logs AFTER UPDATE OF x ON a WHEN NEW.x % 3 = 0 BEGIN INSERT INTO l (t) VALUES (NEW.x); END;
        CREATE TRIGGER keeps AFTER INSERT ON l WHEN NEW.t = 9 BEGIN SELECT RAISE(FAIL, 'kept'); END;
        CREATE TRIGGER undoes AFTER INSERT ON w WHEN NEW.x = 11 BEGIN SELECT RAISE(ROLLBACK, 'undone'); END;
        CREATE TRIGGER replaces AFTER UPDATE OF v ON b WHEN NEW.v % 4 = 0 BEGIN
            UPDATE OR REPLACE a SET y = NEW.v WHERE id = NEW.id;
        END;
        """

    /// The tables whose rows SQLite reports.
    static let tables: Set = ["a", "b", "c", "d", "l"]

    /// Queries of all contents.
    static let contents = [
        "SELECT quote(id) || quote(x) || quote(y) || quote(z) || quote(h) || quote(s) FROM a",
        "SELECT quote(id) || quote(u) || quote(v) FROM b",
        "SELECT quote(k) || quote(x) || quote(y) FROM w",
        "SELECT quote(id) || quote(a) || quote(t) FROM c",
        "SELECT quote(id) || quote(b) FROM d",
        "SELECT quote(n) || quote(t) FROM l",
        "SELECT quote(rowid) || quote(t) || quote(u) FROM f",
    ]

    /// The observed queries, each of few columns.
    static let observed = [
        "SELECT quote(g) FROM a", "SELECT quote(h) FROM a", "SELECT quote(s) FROM a", "SELECT quote(z) FROM a",
        "SELECT quote(y) FROM a WHERE id = 3", "SELECT quote(v) FROM b", "SELECT quote(x) FROM w",
        "SELECT quote(y) FROM w", "SELECT quote(t) FROM c", "SELECT quote(g) FROM c", "SELECT quote(t) FROM l",
        "SELECT quote(rowid) FROM f WHERE f MATCH 't1 OR t2'", "SELECT count(*) FROM d",
    ]

    private var random: SeededGenerator
    private var foreignCount = 0

    init(seed: UInt64) { random = SeededGenerator(seed: seed) }

    mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &random) }
    private mutating func one<T>(_ choices: [T]) -> T { choices.randomElement(using: &random)! }

    // MARK: - Steps

    mutating func step(inTransaction: Bool) -> RandomStep {
        switch number(1...100) {
        case ...8: return .observe(number(0...(Self.observed.count - 1)))
        case ...14 where !inTransaction: return .foreign(foreign())
        case ...24: return .run(transaction(inTransaction))
        case ...38: return .run(savepoint())
        case ...42: return .run(RandomStatement(sql: inTransaction ? own() : one([own(), "VACUUM"])))
        case ...50:
            let changes = (0...number(0...3)).map { _ in change() }
            return .block(changes, isSavepoint: one([true, false]), fails: one([true, false]))
        default: return .run(change())
        }
    }

    private mutating func transaction(_ isOpen: Bool) -> RandomStatement {
        let usual = isOpen ? ["COMMIT", "COMMIT", "ROLLBACK"] : ["BEGIN", "BEGIN IMMEDIATE"]
        return RandomStatement(sql: number(1...10) == 1 ? one(["BEGIN", "COMMIT"]) : one(usual))
    }

    private mutating func savepoint() -> RandomStatement {
        let name = one(["one", "two", "three"])
        switch number(1...4) {
        case 1...2: return RandomStatement(sql: "SAVEPOINT \(name)", savepoint: .begin(name))
        case 3: return RandomStatement(sql: "RELEASE \(name)", savepoint: .release(name))
        default: return RandomStatement(sql: "ROLLBACK TO \(name)", savepoint: .rollBack(name))
        }
    }

    /// A change of the schema that changes no value.
    private mutating func own() -> String {
        foreignCount += 1
        return one([
            "CREATE INDEX i\(foreignCount) ON b (v)", "ALTER TABLE l ADD COLUMN c\(foreignCount)",
            "CREATE TRIGGER t\(foreignCount) AFTER UPDATE ON w BEGIN UPDATE l SET t = NEW.x WHERE n = 1; END",
        ])
    }

    private mutating func foreign() -> String {
        foreignCount += 1
        return one([
            own(),
            "CREATE TRIGGER t\(foreignCount) AFTER DELETE ON l BEGIN INSERT INTO b (v) VALUES (OLD.t); END",
            "CREATE UNIQUE INDEX IF NOT EXISTS b_v ON b (v) WHERE v > 6",
            "DROP INDEX IF EXISTS b_v",
        ])
    }

    // MARK: - Changes

    private mutating func value() -> String { number(1...12) == 1 ? "NULL" : "\(number(1...12))" }

    private mutating func conflict() -> String {
        one(["", "", " OR ABORT", " OR FAIL", " OR IGNORE", " OR REPLACE", " OR ROLLBACK"])
    }

    private mutating func rows(_ count: Int) -> String {
        (1...number(1...3)).map { _ in "(" + (1...count).map { _ in value() }.joined(separator: ", ") + ")" }
            .joined(separator: ", ")
    }

    private mutating func change() -> RandomStatement {
        switch number(1...10) {
        case 1...4: RandomStatement(sql: insertion())
        case 5...8: RandomStatement(sql: update())
        default: RandomStatement(sql: deletion())
        }
    }

    private mutating func insertion() -> String {
        switch number(1...9) {
        case 1: "INSERT\(conflict()) INTO a (id, x, y, z) VALUES \(rows(4))"
        case 2: "INSERT\(conflict()) INTO a (x, y) VALUES \(rows(2))"
        case 3: "INSERT INTO a (id, y) VALUES \(rows(2)) ON CONFLICT (y) DO UPDATE SET x = \(value())"
        case 4: "INSERT\(conflict()) INTO b VALUES \(rows(3))"
        case 5: "INSERT\(conflict()) INTO w VALUES \(rows(3))"
        case 6: "INSERT\(conflict()) INTO c (a, t) VALUES \(rows(2))"
        case 7: "INSERT\(conflict()) INTO d (b) VALUES \(rows(1))"
        case 8: "INSERT\(conflict()) INTO l (t) VALUES \(rows(1))"
        default: "INSERT\(conflict()) INTO f (rowid, t, u) VALUES (\(number(1...5)), 't\(number(1...3))', 'u')"
        }
    }

    private mutating func update() -> String {
        let condition = one(["", " WHERE id = \(number(1...5))", " WHERE id > \(number(1...5))"])
        return switch number(1...10) {
        case 1: "UPDATE\(conflict()) a SET x = \(value())\(condition)"
        case 2: "UPDATE\(conflict()) a SET y = \(value())\(condition)"
        case 3: "UPDATE\(conflict()) a SET id = \(number(1...6))\(condition)"
        case 4: "UPDATE a SET z = \(value())\(condition)"
        case 5: "UPDATE\(conflict()) b SET u = \(value())\(condition)"
        case 6: "UPDATE\(conflict()) b SET v = \(value()), id = id + \(number(0...1))\(condition)"
        case 7: "UPDATE\(conflict()) w SET y = \(value()) WHERE k = \(number(1...12))"
        case 8: "UPDATE\(conflict()) w SET k = \(number(1...12)), x = \(value()) WHERE k < \(number(1...12))"
        case 9: "UPDATE f SET t = 't\(number(1...3))' WHERE rowid = \(number(1...5))"
        default: "UPDATE\(conflict()) f SET rowid = \(number(1...5)) WHERE rowid = \(number(1...5))"
        }
    }

    private mutating func deletion() -> String {
        let table = one(["a", "b", "c", "d"])
        return switch number(1...5) {
        case 1: "DELETE FROM \(table)"
        case 2: "DELETE FROM w WHERE k = \(number(1...12))"
        case 3: "DELETE FROM l WHERE n = \(number(1...5))"
        case 4: "DELETE FROM f WHERE rowid = \(number(1...5))"
        default: "DELETE FROM \(table) WHERE id = \(number(1...5))"
        }
    }
}
