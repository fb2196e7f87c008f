import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("The limits of a restricted access", .timeLimit(.minutes(2)))
struct RestrictionLimitTests {
    private static let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "

    private func stops(
        _ sql: String, _ rule: DatabaseError.RestrictionRule, _ change: (inout Restrictions) -> Void = { _ in },
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let fixture = try RestrictionFixture()
        var restrictions = Restrictions()
        change(&restrictions)
        let refusal = fixture.refusal(sql, restrictions)
        #expect(refusal?.rule == rule, sourceLocation: sourceLocation)
        #expect(refusal?.limit != nil, sourceLocation: sourceLocation)
        // They are gone with the access.
        let text = String(repeating: "x", count: 2_000_000)
        #expect(try fixture.pool.read { try String.fetchOne($0, sql: "SELECT ?", arguments: [text]) } == text)
        #expect(
            try fixture.pool.read { try Int.fetchOne($0, sql: Self.endless + "SELECT i FROM n LIMIT 1 OFFSET 20000") }
                == 20001)
    }

    @Test("stop a statement after its rows, which were returned")
    func rows() throws {
        let fixture = try RestrictionFixture()
        var restrictions = Restrictions()
        restrictions.maximumRowCount = 3
        #expect(try fixture.rows("SELECT id FROM product", restrictions).count == 3)
        restrictions.maximumRowCount = 2
        var ids: [Int] = []
        #expect {
            try fixture.pool.read(restrictedTo: restrictions) { db in
                let cursor = try Int.fetchCursor(db, sql: "SELECT id FROM product")
                while let id = try cursor.next() { ids.append(id) }
            }
        } throws: {
            ($0 as? DatabaseError)?.refusal?.rule == .rows && ($0 as? DatabaseError)?.refusal?.limit == 2
        }
        #expect(ids == [1, 2])
    }

    @Test("stop a statement after its time")
    func duration() throws {
        try stops(Self.endless + "SELECT count(*) FROM n", .duration) { $0.maximumDuration = 0.05 }
    }

    @Test("stop a statement that needs too much memory")
    func memory() throws {
        let sql = "WITH RECURSIVE n (i) AS (SELECT 1 UNION SELECT i + 1 FROM n) SELECT count(*) FROM n"
        try stops(sql, .memory) { $0.maximumMemoryByteCount = 1 << 20 }
    }

    @Test("stop large values, deep expressions, long compounds, and much text")
    func sizes() throws {
        try stops("SELECT zeroblob(1001)", .cellBytes) { $0.maximumCellByteCount = 1_000 }
        try stops("SELECT hex(randomblob(600))", .cellBytes) { $0.maximumCellByteCount = 1_000 }
        let deep = String(repeating: "(1 + ", count: 12) + "1" + String(repeating: ")", count: 12)
        try stops("SELECT \(deep)", .expressionDepth) { $0.maximumExpressionDepth = 10 }
        let compound = Array(repeating: "SELECT 1", count: 4).joined(separator: " UNION ALL ")
        try stops(compound, .compoundTerms) { $0.maximumCompoundTermCount = 3 }
        try stops("SELECT 1 /* long */", .statementLength) { $0.maximumStatementByteCount = 10 }
        try stops("SELECT " + Array(repeating: "1", count: 300).joined(separator: ","), .columns)
        try stops("SELECT 'a' LIKE '\(String(repeating: "%a", count: 200))'", .patternLength)
    }

    @Test("apply to a stored value that is larger")
    func storedValue() throws {
        let fixture = try RestrictionFixture()
        try fixture.pool.write { try $0.execute(sql: "UPDATE product SET name = hex(zeroblob(5000)) WHERE id = 1") }
        var restrictions = Restrictions()
        restrictions.maximumCellByteCount = 1_000
        #expect(fixture.refusal("SELECT name FROM product", restrictions)?.rule == .cellBytes)
        #expect(try fixture.rows("SELECT name FROM product WHERE id = 2", restrictions).count == 1)
    }

    @Test("leave a cancellation what it is")
    func cancellation() async throws {
        let fixture = try RestrictionFixture()
        let pool = fixture.pool, hasBegun = Gate()
        pool.add(
            function: DatabaseFunction("begun", argumentCount: 0) { _ in
                hasBegun.open()
                return 1
            })
        var restrictions = Restrictions()
        restrictions.functions = ["begun"]
        restrictions.maximumDuration = 60
        let task = Task { [restrictions] in
            try await pool.read(restrictedTo: restrictions) { db in
                try Int.fetchOne(db, sql: Self.endless + "SELECT sum(i + begun()) FROM n")
            }
        }
        try await onThread { hasBegun.pass() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try fixture.rows("SELECT id FROM product").count == 3)
    }
}
