import Strongroom
import Testing

@Suite("Arguments that don't fit")
struct ArgumentErrorTests {
    private func failure(_ sql: String, _ arguments: StatementArguments) throws -> DatabaseError {
        try withDatabase { db throws in
            try #require(throws: DatabaseError.self) { try db.execute(sql: sql, arguments: arguments) }
        }
    }

    @Test(
        "are counted when there are too few or too many",
        arguments: [
            ("SELECT ?, ?", [1], 1), ("SELECT ?, ?", [1, 2, 3], 3), ("SELECT ?", [], 0), ("SELECT 1", [1], 1),
            ("SELECT ?; SELECT ?", [1, 2, 3], 3),
        ] as [(String, [Int], Int)])
    func counts(sql: String, values: [Int], count: Int) throws {
        let error = try failure(sql, StatementArguments(values))
        #expect(error.resultCode == .SQLITE_MISUSE)
        #expect(error.message == "wrong number of statement arguments: \(count)")
        #expect(error.arguments == nil)
    }

    @Test("name the first that is missing, a numbered one by its number")
    func names() throws {
        #expect(try failure("SELECT :a, :b", ["b": 1]).message == "missing statement argument: a")
        #expect(try failure("SELECT ?1, ?3", [1, 2]).message == "missing statement argument: 3")
    }

    @Test("can be given by the number of a parameter")
    func numbers() throws {
        try withDatabase { db throws in
            let row = try Row.fetchOne(db, sql: "SELECT ?2 AS b, ?1 AS a", arguments: ["1": "one", "2": "two"])
            #expect(row == ["b": "two", "a": "one"])
        }
    }

    @Test("are described with the named ones first")
    func description() {
        let arguments: StatementArguments = ["it's", 1] + ["b": 2, "a": nil]
        #expect(arguments.description == #"["a": NULL, "b": 2, "it\'s", 1]"#)
    }
}
