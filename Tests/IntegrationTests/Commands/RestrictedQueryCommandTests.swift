import Foundation
import TestSupport
import Testing

@Suite("strongroom query --restrict")
struct RestrictedQueryCommandTests {
    let scratch: TemporaryFolder
    let database: String
    let secret: String

    init() async throws {
        scratch = try TemporaryFolder()
        database = try await scratch.encryptedDatabase(rawKey: "right")
        secret = try scratch.rawKey("right")
    }

    func query(_ sql: String, _ more: String...) async throws -> Outcome {
        var program = try Program(built: "strongroom", "query", database, "--raw-key-file", secret)
        program.arguments += more
        return try await program.run(input: sql)
    }

    @Test("refuses what is not allowed, with the rule and the object")
    func refused() async throws {
        let allowed = try await query("SELECT count(id) AS n FROM book", "--tables", "book:id", "--json")
        #expect(allowed.output == "{\"n\":300}\n", "\(allowed.errors)")
        for (sql, options, rule, object) in [
            ("SELECT * FROM book", ["--tables", "book:id"], "column", "book.author"),
            ("SELECT * FROM sqlite_schema", ["--restrict"], "table", "sqlite_schema"),
            ("DELETE FROM book", ["--max-rows", "5"], "statement", "DELETE"),
            ("SELECT load_extension('x')", ["--max-time", "5"], "function", "load_extension"),
            ("PRAGMA table_info(book)", ["--max-memory", "64M"], "pragma", "table_info"),
        ] {
            let outcome = try await strongroom(
                ["query", database, "--raw-key-file", secret, "--json"] + options, input: sql)
            #expect(outcome.status == 1)
            #expect(try outcome.object["rule"] as? String == rule, "\(sql): \(outcome.output) \(outcome.errors)")
            #expect(try outcome.object["object"] as? String == object)
        }
    }

    @Test("stops at each limit, and prints the rows before that of rows")
    func limits() async throws {
        let rows = try await query("SELECT id FROM book ORDER BY id", "--max-rows", "2", "--output", "csv")
        #expect(rows.status == 1 && rows.output == "id\n1\n2\n")
        #expect(rows.errors.contains("more than 2 rows"))
        let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION SELECT i + 1 FROM n) SELECT count(*) FROM n"
        let time = try await query(endless, "--max-time", "0.1", "--max-memory", "1G")
        #expect(time.status == 1 && time.errors.contains("more than 0.1 s;"), "\(time.errors)")
        let memory = try await query(endless, "--max-memory", "2M", "--max-time", "60")
        #expect(memory.status == 1 && memory.errors.contains("bytes of memory"), "\(memory.errors)")
    }

    @Test(
        "takes any limit of memory that is a number, and no other",
        arguments: [("\(Int.max)", 0), ("8589934591G", 0), ("1", 1), ("8589934592G", 2), ("64ß", 2), ("-5", 1)])
    func greatestLimits(size: String, status: Int) async throws {
        // More than what is reserved for the connection.
        let sorting = """
            WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 60) \
            SELECT i FROM n ORDER BY hex(zeroblob(200000)) || i
            """
        let outcome = try await query(sorting, "--max-memory=" + size, "--json")
        #expect(outcome.status == Int32(status), "\(outcome.errors)")
    }

    @Test("is an error with --write, with a limit of zero, and with a table that does not exist")
    func usage() async throws {
        #expect(try await query("SELECT 1", "--restrict", "--write").status == 2)
        let zero = try await query("SELECT 1", "--max-rows", "0")
        #expect(zero.status == 1 && zero.errors.contains("Give a limit greater than zero"))
        let absent = try await query("SELECT 1", "--tables", "nothing")
        #expect(absent.status == 1 && absent.errors.contains("nothing"))
        #expect(try await query("SELECT 1", "--max-memory", "many").status == 2)
    }
}
