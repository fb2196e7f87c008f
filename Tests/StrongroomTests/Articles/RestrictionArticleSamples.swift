import Foundation
import Strongroom
import TestSupport
import Testing

// The samples of the article on restricted queries, as they stand there: `ArticleTextTests` compares.

@Suite("Samples of the article on restricted queries", .timeLimit(.minutes(1)))
struct RestrictionArticleSamples {
    private let fixture: RestrictionFixture
    private var pool: DatabasePool { fixture.pool }

    init() throws { fixture = try RestrictionFixture() }

    @Test("Restricted queries: a restricted read")
    func read() throws {
        func run(_ untrustedSQL: String) throws -> [Row] {
            var restrictions = Restrictions(tables: ["product", .table("customer", columns: ["id", "city"])])
            restrictions.maximumRowCount = 100
            let rows = try pool.read(restrictedTo: restrictions) { db in
                try Row.fetchAll(db, sql: untrustedSQL)
            }
            return rows
        }
        #expect(try run("SELECT city FROM customer JOIN product USING (id)").count == 3)
        #expect(throws: DatabaseError.self) { try run("SELECT * FROM customer") }
    }

    @Test("Restricted queries: the rule of a refusal")
    func refusal() throws {
        let restrictions = RestrictionFixture.restrictions, untrustedSQL = "SELECT * FROM secret"
        var lines: [String] = []
        func log(_ line: String) { lines.append(line) }
        func rows() throws -> [Row] {
            do {
                return try pool.read(restrictedTo: restrictions) { try Row.fetchAll($0, sql: untrustedSQL) }
            } catch let error as DatabaseError where error.reason == .restricted {
                log("refused by \(error.refusal!.rule): \(error.refusal?.object ?? "a limit")")
                throw error
            }
        }
        #expect(throws: DatabaseError.self) { try rows() }
        #expect(lines == ["refused by table: secret"])
    }

    @Test("Restrictions: a schema for a prompt")
    func schema() throws {
        let restrictions = RestrictionFixture.restrictions, question = "Which products cost more than 10?"
        let schema = try pool.restrictedSchema(restrictions)
        let prompt = "Write one SELECT of SQLite for this schema:\n\(schema)\n\(question)"
        #expect(prompt.contains("CREATE TABLE product (id INTEGER PRIMARY KEY, name TEXT, price REAL);"))
    }
}
