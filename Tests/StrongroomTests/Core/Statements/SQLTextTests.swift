import CSQLCipher
import Testing

@testable import Strongroom

@Suite("SQL, cut into statements")
struct SQLTextTests {
    private static let blanks = [" ", "\n", ";", "-- f;\n", "/* g; */"]
    private static let others = [
        "'a;b'", "'it''s;'", "\"c;\"", "[d;]", "`e;`", "CREATE", "TEMP", "TRIGGER", "TABLE", "BEGIN", "END", "SELECT",
        "EXPLAIN", "x", "1", "(", ",", ".",
    ]

    @Test("A statement ends where SQLite says that it is complete")
    func ends() {
        var dice = StressTests.Dice(state: 7), triggers = 0
        for _ in 0..<20_000 {
            let tokens = (0..<Int.random(in: 1...16, using: &dice)).map { _ in
                (Bool.random(using: &dice) ? Self.blanks : Self.others).randomElement(using: &dice)!
            }
            // Up to the first semicolon that completes something.
            var sql = "", length: Int?, isBlank = true
            for token in tokens {
                sql += token + " "
                if !Self.blanks.contains(token) { isBlank = false }
                if token == ";", !isBlank, length == nil {
                    if sqlite3_complete(sql) == 1 { length = sql.utf8.count - 1 } else { triggers += 1 }
                }
            }
            let text = SQLText(sql)
            #expect(text.length == length ?? sql.utf8.count, "\(sql)")
            #expect(text.isBlank == isBlank, "\(sql)")
        }
        #expect(triggers > 20)
    }

    @Test("A key is hidden although no space is before its keyword", arguments: ["?", "?1", "'a.db'", "[a.db]"])
    func keyAfterParameter(file: String) {
        #expect(SQLText.showable("ATTACH \(file)KEY 'secret'") == "ATTACH \(file)KEY '…'")
    }

    @Test("Any bytes have an end, and come to an end")
    func bytes() {
        var dice = StressTests.Dice(state: 11)
        let alphabet = Array("'\"[]`-/*;\n key=KEYpragma attach vacuum\u{FEFF}é.".utf8) + [0, 255]
        for _ in 0..<5000 {
            let bytes = (0..<Int.random(in: 0...40, using: &dice)).map { _ in alphabet.randomElement(using: &dice)! }
            let isCut = bytes.withUnsafeBufferPointer { whole in
                var rest = whole
                while !rest.isEmpty {
                    let length = SQLText(first: rest).length
                    guard (1...rest.count).contains(length) else { return false }
                    rest = UnsafeBufferPointer(rebasing: rest.dropFirst(length))
                }
                return true
            }
            #expect(isCut, "\(bytes)")
        }
    }
}
