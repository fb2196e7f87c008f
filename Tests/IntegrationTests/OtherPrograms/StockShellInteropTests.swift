import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("The library and the stock shell")
struct StockShellInteropTests {
    let scratch: TemporaryFolder
    let path: String

    init() throws {
        scratch = try TemporaryFolder()
        path = scratch.path("shared.sqlite")
    }

    func open(_ passphrase: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase { db in try db.usePassphrase(passphrase) }
        return try DatabaseQueue(path: path, configuration: configuration)
    }

    @Test("The shell reads rows of the library, with every type of value")
    func libraryToShell() async throws {
        let queue = try open("it's a secret")
        try await queue.write { db in
            try db.execute(sql: "CREATE TABLE t (a, b, c, d, e)")
            try db.execute(
                sql: "INSERT INTO t VALUES (?, ?, ?, ?, ?)",
                arguments: [Int64.min, 0.1, "naïve\u{1F512}", Data([0, 1, 255]), nil])
        }
        try queue.close()
        let shell = StockShell(path: path, passphrase: "it's a secret")
        #expect(
            try await shell.run("SELECT a, b, c, hex(d), e IS NULL FROM t;")
                == "-9223372036854775808|0.1|naïve\u{1F512}|0001FF|1")
        #expect(try await shell.run("PRAGMA cipher_integrity_check; PRAGMA integrity_check;") == "ok")
    }

    @Test("The library reads rows of the shell, with every type of value")
    func shellToLibrary() async throws {
        try await StockShell(path: path, passphrase: "päss").run(
            """
            CREATE TABLE t (a, b, c, d, e);
            INSERT INTO t VALUES (9223372036854775807, -2.5, 'it''s', x'00ff', NULL);
            """)
        let values = try await open("päss").read { db in
            try Row.fetchOne(db, sql: "SELECT * FROM t").map { Array($0.databaseValues) }
        }
        #expect(
            values == [
                Int64.max.databaseValue, (-2.5).databaseValue, "it's".databaseValue, Data([0, 255]).databaseValue,
                .null,
            ])
    }

    @Test("A passphrase changed by the library is the one the shell needs")
    func changedByLibrary() async throws {
        let queue = try open("before")
        try await queue.write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (42)") }
        try await queue.writeWithoutTransaction { db in try db.changePassphrase("after") }
        try queue.close()
        #expect(try await StockShell(path: path, passphrase: "after").run("SELECT a FROM t;") == "42")
        #expect(try await StockShell(path: path, passphrase: "before").attempt("SELECT a FROM t;").status != 0)
    }

    @Test("A passphrase changed by the shell is the one the library needs")
    func changedByShell() async throws {
        try await StockShell(path: path, passphrase: "before").run(
            """
            CREATE TABLE t (a);
            INSERT INTO t VALUES (42);
            .output /dev/null
            PRAGMA rekey = 'after';
            """)
        #expect(try await open("after").read { db in try Int.fetchOne(db, sql: "SELECT a FROM t") } == 42)
        let error = #expect(throws: DatabaseError.self) { try open("before") }
        #expect(error?.resultCode == .SQLITE_NOTADB)
    }

    @Test("Both write to the same database, one after the other")
    func takingTurns() async throws {
        try await open("shared").write { db in try db.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
        try await StockShell(path: path, passphrase: "shared").run("INSERT INTO t VALUES (2);")
        let queue = try open("shared")
        try await queue.write { db in try db.execute(sql: "INSERT INTO t VALUES (3)") }
        #expect(try await queue.read { db in try Int.fetchAll(db, sql: "SELECT a FROM t ORDER BY a") } == [1, 2, 3])
    }
}
