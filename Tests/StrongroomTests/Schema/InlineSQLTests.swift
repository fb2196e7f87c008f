import Testing

@testable import Strongroom

@Suite("SQL with arguments as literals")
struct InlineSQLTests {
    @Test(
        "has them in the place of its parameters, and of nothing else",
        arguments: [
            ("a = ? /* ? */ -- ?", "a = 1 /* ? */ -- ?"),
            ("'?' = ? AND \"?\" AND `:a` AND [@a]", "'?' = 1 AND \"?\" AND `:a` AND [@a]"),
            ("a$b = ?", "a$b = 1"),
            ("a = ?AND b", "a = 1AND b"),
            ("'it''s ?' = ?", "'it''s ?' = 1"),
            ("/* ' */ ?", "/* ' */ 1"),
        ])
    func parameters(sql: String, expected: String) throws {
        let queue = try DatabaseQueue()
        #expect(try queue.inDatabase { try $0.inlined(SQL(sql: sql, arguments: [1])) } == expected)
    }
}
