import Foundation
import Strongroom
import TestSupport
import Testing

/// Random statements on two databases that differ in nothing but their secrets: the answers must not differ either, in
/// no row, no error and no limit. And a ledger of what SQLite's virtual machine opens.
@Suite("Random statements under restrictions", .timeLimit(.minutes(10)))
struct RestrictionFuzzTests {
    @Test("give the same answers whatever the secrets are, and open no table of secrets")
    func sameAnswers() throws {
        let count = Form.isWhole ? 10_000 : 800
        let one = try RestrictionFixture(), two = try RestrictionFixture(secret: "other", secretCount: 7)
        var generator = SeededGenerator(seed: 38), answered = 0, differs = 0
        let ledger = try ProgramLedger(one.pool)
        for _ in 0..<count {
            let sql = RandomQuery(&generator).sql
            let (first, second) = (one.outcome(of: sql), two.outcome(of: sql))
            #expect(first == second, "\(sql)")
            if !first.hasPrefix("rows") {
                if one.outcome(of: sql, isFree: true) != two.outcome(of: sql, isFree: true) { differs += 1 }
                continue
            }
            answered += 1
            #expect(try ledger.secrets(read: sql) == [], "\(sql)")
        }
        // Neither is the restriction empty, nor are the statements.
        #expect(answered > count / 20 && differs > count / 100, "\(answered) answered, \(differs) refused with secrets")
        print("\(count) statements: \(answered) answered, \(differs) refused that would have shown secrets")
    }

    @Test("are seen by the ledger where they read secrets")
    func ledgerSees() throws {
        let fixture = try RestrictionFixture(), ledger = try ProgramLedger(fixture.pool)
        #expect(try ledger.secrets(read: "SELECT count(*) FROM vault") == ["vault"])
        #expect(try ledger.secrets(read: "SELECT password FROM customer") == ["customer.password"])
        #expect(try ledger.secrets(read: "SELECT city FROM customer NATURAL JOIN vault") == ["vault"])
        #expect(try ledger.secrets(read: "SELECT * FROM diary") == [])
        #expect(try ledger.secrets(read: "SELECT city FROM customer") == [])
    }
}

extension RestrictionFixture {
    /// Returns the rows, or the error, as text.
    fileprivate func outcome(of sql: String, isFree: Bool = false) -> String {
        do {
            let rows = try isFree ? freeRows(sql) : rows(sql)
            return "rows " + rows.map { "\($0)" }.joined(separator: ";")
        } catch let error as DatabaseError {
            return "error \(error)"
        } catch {
            return "\(error)"
        }
    }

    private func freeRows(_ sql: String) throws -> [Row] {
        try pool.read { db in
            let cursor = try Row.fetchCursor(db, sql: sql)
            var rows: [Row] = []
            while rows.count < 50, let row = try cursor.next() { rows.append(row.copy()) }
            return rows
        }
    }
}

/// The tables that the compiled program of a statement opens: the authorizer has no part in it.
/// <https://www.sqlite.org/opcode.html#OpenRead>
private struct ProgramLedger {
    private let pool: DatabasePool
    private let secretPages: [Int64: String]

    /// The positions of the password, by the page of the table or of its index.
    private let passwords: [Int64: Int64]

    init(_ pool: DatabasePool) throws {
        self.pool = pool
        var pages: [Int64: String] = [:], passwords: [Int64: Int64] = [:]
        try pool.read { db in
            let rows = try Row.fetchAll(
                db, sql: "SELECT tbl_name, name, rootpage FROM sqlite_schema WHERE rootpage > 0")
            for row in rows {
                let name: String = row["tbl_name"]
                if name == "vault" || name.hasPrefix("diary") { pages[row["rootpage"]] = name }
                if name == "customer" { passwords[row["rootpage"]] = row["name"] == name ? 2 : 0 }
            }
        }
        (secretPages, self.passwords) = (pages, passwords)
    }

    /// Returns the secrets that the program of the statement reads.
    func secrets(read sql: String) throws -> Set<String> {
        var secrets: Set<String> = [], positions: [Int64: Int64] = [:]
        try pool.read { db in
            for row in try Row.fetchAll(db, sql: "EXPLAIN " + sql) {
                let p1: Int64 = row["p1"], p2: Int64 = row["p2"]
                switch row["opcode"] as String {
                case "OpenRead", "ReopenIdx":
                    if let secret = secretPages[p2] { secrets.insert(secret) }
                    positions[p1] = passwords[p2]
                case "Column":
                    if p2 == positions[p1] { secrets.insert("customer.password") }
                default: break
                }
            }
        }
        return secrets
    }
}
