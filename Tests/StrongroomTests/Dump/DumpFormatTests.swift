import Foundation
import Strongroom
import Testing

/// A stream that keeps what it gets.
final class Printout: TextOutputStream {
    private(set) var text = ""

    func write(_ string: String) { text += string }
}

/// The output of `dump`.
func printed(_ dump: (Printout) throws -> Void) rethrows -> String {
    let printout = Printout()
    try dump(printout)
    return printout.text
}

@Suite("A dump of rows")
struct DumpFormatTests {
    private static let players: SQL = """
        SELECT * FROM (SELECT 1 AS id, 'Arthur' AS name, 1.5 AS "le score" UNION ALL SELECT 2, 'O''Brien "x"|y', NULL)
        """

    private static let blobs: SQL = "SELECT X'' AS b UNION ALL SELECT CAST('é''' AS BLOB) UNION ALL SELECT X'FF12'"

    private func dump(_ sql: SQL, _ format: some DumpFormat) throws -> String {
        try withSchema("CREATE TABLE empty (a, b)") { (db) throws in
            try printed { try db.dumpSQL(sql, format: format, to: $0) }
        }
    }

    // MARK: - debug and list

    @Test("A dump of rows is a line for each row, in the debug and list formats")
    func lines() throws {
        let text = """
            1|Arthur|1.5
            2|O'Brien "x"|y|

            """
        #expect(try dump(Self.players, .debug()) == text)
        #expect(try dump(Self.players, .list()) == text)
    }

    @Test("A dump of rows has the requested header, separator and NULL")
    func options() throws {
        let text = """
            id; name; le score
            1; Arthur; 1.5
            2; O'Brien "x"|y; -

            """
        #expect(try dump(Self.players, .debug(header: true, separator: "; ", nullValue: "-")) == text)
        #expect(try dump(Self.players, .list(header: true, separator: "; ", nullValue: "-")) == text)
    }

    @Test(
        "A dump of rows shows blobs as text if they are text, else as digits (debug format) or repaired (list format)")
    func blobs() throws {
        #expect(try dump(Self.blobs, .debug()) == "\né'\nX'FF12'\n")
        #expect(try dump(Self.blobs, .list()) == "\né'\n\u{FFFD}\u{12}\n")
    }

    @Test("A dump of rows shows blobs that are as long as UUIDs as such, in the debug format")
    func uuids() throws {
        #expect(
            try dump("SELECT x'6BA7B8109DAD11D180B400C04FD430C8', 'x'", .debug())
                == "6BA7B810-9DAD-11D1-80B4-00C04FD430C8|x\n")
    }

    @Test("A dump of rows shows numbers as Swift does")
    func numbers() throws {
        let sql: SQL = "SELECT 1, 1.0, 1e100, 1e15, -9223372036854775808, 1e999, -1e999"
        #expect(try dump(sql, .debug()) == "1|1.0|1e+100|1000000000000000.0|-9223372036854775808|inf|-inf\n")
    }

    @Test("A dump of rows shows text whole, beyond a NUL character")
    func nulCharacter() throws {
        #expect(try dump("SELECT \("a\0b")", .debug()) == "a\0b\n")
        #expect(try dump("SELECT \("a\0b")", .quote()) == "CAST(X'610062' AS TEXT)\n")
    }

    // MARK: - line

    @Test("A dump of rows is a paragraph for each row, in the line format")
    func paragraphs() throws {
        #expect(
            try dump(Self.players, .line(nullValue: "-")) == """
                      id = 1
                    name = Arthur
                le score = 1.5

                      id = 2
                    name = O'Brien "x"|y
                le score = -

                """)
    }

    @Test("A dump of rows puts an empty line between the statements, in the line format")
    func paragraphsOfStatements() throws {
        #expect(
            try dump("SELECT 1 AS a; SELECT * FROM empty; SELECT 2 AS bb, 3 AS c", .line())
                == "a = 1\n\nbb = 2\n c = 3\n")
    }

    // MARK: - quote

    @Test("A dump of rows is made of SQL literals, in the quote format")
    func literals() throws {
        #expect(try dump(Self.players, .quote()) == "1,'Arthur',1.5\n2,'O''Brien \"x\"|y',NULL\n")
        #expect(
            try dump(Self.players, .quote(header: true, separator: " | ")) == """
                'id' | 'name' | 'le score'
                1 | 'Arthur' | 1.5
                2 | 'O''Brien "x"|y' | NULL

                """)
        #expect(try dump(Self.blobs, .quote()) == "X''\nX'C3A927'\nX'FF12'\n")
    }

    // Older ones write some numbers with other digits.
    @Test(
        "A dump of rows has the literals of SQLite's quote() function, in the quote format",
        .enabled(if: Database.sqliteLibVersionNumber >= 3_044_000))
    func quoteFunction() throws {
        let numbers: [Double] = [
            0, -1, 0.1, 1, 100.5, 1e15, 1e16, 1e100, 1e-5, .pi, 2.0 / 3, 1.2345678901234568e17,
            Double.leastNonzeroMagnitude,
            .greatestFiniteMagnitude, -0.0, .infinity, -.infinity,
        ]
        let values =
            numbers.map(\.databaseValue) + [Int64.min.databaseValue, "it's".databaseValue, "".databaseValue, .null]
        try withSchema("") { (db) throws in
            for value in values {
                let quoted = try #require(try String.fetchOne(db, sql: "SELECT quote(?)", arguments: [value]))
                #expect(try printed { try db.dumpSQL("SELECT \(value)", format: .quote(), to: $0) } == quoted + "\n")
            }
        }
    }

    // MARK: - JSON

    @Test("A dump of rows is an array of objects with the columns in their order, in the JSON format")
    func objects() throws {
        #expect(
            try dump(Self.players, .json()) == """
                [{"id":1,"name":"Arthur","le score":1.5},
                {"id":2,"name":"O'Brien \\"x\\"|y","le score":null}]

                """)
    }

    @Test("A dump of rows spreads over lines with a pretty printing encoder")
    func prettyObjects() throws {
        let encoder = JSONDumpFormat.defaultEncoder
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        #expect(
            try dump("SELECT 1 AS b, 'a/b' AS a UNION ALL SELECT 2, NULL", .json(encoder: encoder)) == """
                [
                  {
                    "b":1,
                    "a":"a\\/b"
                  },
                  {
                    "b":2,
                    "a":null
                  }
                ]

                """)
    }

    @Test("A dump of rows encodes blobs and infinities as the encoder says, in the JSON format")
    func encoders() throws {
        let sql: SQL = "SELECT X'FF00' AS b, 1e999 AS i, 'a/b' AS t"
        #expect(try dump(sql, .json()) == #"[{"b":"/wA=","i":"inf","t":"a/b"}]"# + "\n")
        let encoder = JSONEncoder()
        encoder.dataEncodingStrategy = .custom { data, encoder in
            var container = encoder.singleValueContainer()
            try container.encode(data.count)
        }
        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "+", negativeInfinity: "-", nan: "?")
        #expect(try dump(sql, .json(encoder: encoder)) == #"[{"b":2,"i":"+","t":"a\/b"}]"# + "\n")
    }

    @Test("A dump of rows throws the encoder's error")
    func encodingErrors() throws {
        #expect(throws: EncodingError.self) { try dump("SELECT 1e999", .json(encoder: JSONEncoder())) }
    }

    @Test("A dump of rows in JSON is an empty array for a query without rows, and nothing for other statements")
    func emptyArray() throws {
        #expect(try dump("SELECT * FROM empty", .json()) == "[]\n")
        #expect(try dump("INSERT INTO empty VALUES (1, 2); DELETE FROM empty", .json()) == "")
    }

    // MARK: - All formats

    @Test("A dump of rows runs all statements, and writes the header of each that has rows")
    func severalStatements() throws {
        let sql: SQL =
            "SELECT \(1) AS a; SELECT * FROM empty; CREATE TABLE u (x); SELECT \("x") AS b UNION SELECT 'y'; -- end"
        #expect(try dump(sql, .debug(header: true)) == "a\n1\nb\nx\ny\n")
        #expect(try dump(sql, .quote(header: true)) == "'a'\n1\n'b'\n'x'\n'y'\n")
        #expect(try dump(sql, .json()) == "[{\"a\":1}]\n[]\n[{\"b\":\"x\"},\n{\"b\":\"y\"}]\n")
    }

    @Test("A dump of rows shows columns of the same name one after the other")
    func duplicateNames() throws {
        #expect(try dump("SELECT 1 AS a, 2 AS a", .list(header: true)) == "a|a\n1|2\n")
        #expect(try dump("SELECT 1 AS a, 2 AS a", .json()) == "[{\"a\":1,\"a\":2}]\n")
    }

    @Test("A dump of rows of nothing is nothing")
    func nothing() throws {
        #expect(try dump("", .debug(header: true)) == "")
        #expect(try dump("-- a comment", .json()) == "")
    }

    @Test("A dump of rows keeps the output from before an error")
    func errors() throws {
        try withSchema("") { (db) throws in
            let printout = Printout()
            let error = #expect(throws: DatabaseError.self) {
                try db.dumpSQL("SELECT 1; SELECT * FROM missing", to: printout)
            }
            #expect(error?.message == "no such table: missing")
            #expect(printout.text == "1\n")
        }
    }

    /// Surrounds rows with margins.
    private struct Airy: DumpFormat {
        func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) {
            stream.write("row\n")
            stream.margin()
        }

        func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {
            stream.write("end of \(statement.columnNames)\n")
            stream.margin()
        }
    }

    @Test("A dump of rows uses a copy of the format for each statement")
    func copies() throws {
        struct Numbered: DumpFormat {
            var count = 0

            mutating func writeRow(_ db: Database, statement: Statement, to stream: inout DumpStream) {
                count += 1
                stream.write("\(count)\n")
            }

            func finalize(_ db: Database, statement: Statement, to stream: inout DumpStream) {}
        }
        #expect(try dump("SELECT 7 UNION SELECT 8; SELECT 9", Numbered()) == "1\n2\n1\n")
    }

    @Test("A dump of rows takes formats of one's own, with margins between what is printed and none at the end")
    func ownFormat() throws {
        #expect(
            try dump("SELECT 1 AS a; SELECT 2 AS b WHERE 0", Airy()) == """
                row

                end of ["a"]

                end of ["b"]

                """)
    }
}
