import CSQLCipher
import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("The VFS that a URI names")
struct VFSTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func uri(_ query: String) -> String { "file:" + folder.path("db.sqlite") + "?" + query }

    /// Which of the system's VFS has the file.
    private func vfs(of schema: String, _ db: Database) -> String? {
        var name: UnsafeMutablePointer<CChar>?
        defer { sqlite3_free(name) }
        let code = sqlite3_file_control(db.sqliteConnection, schema, SQLITE_FCNTL_VFSNAME, &name)
        return code == SQLITE_OK ? name.map { String(cString: $0) } : nil
    }

    @Test(
        "opens the file, and its locks are known as those of others are",
        arguments: [
            ("vfs=unix-dotfile", "unix-dotfile"), ("v%66s=unix-excl&mode=rwc#here", "unix-excl"),
            ("vfs=nowhere&vfs=unix-none", "unix-none"),
        ])
    func locks(query: String, vfs: String) throws {
        let queue = try DatabaseQueue(path: uri(query), configuration: .encrypted())
        try queue.inDatabase { db throws in
            #expect(self.vfs(of: "main", db) == vfs)
            try db.execute(sql: "CREATE TABLE t(a); BEGIN IMMEDIATE")
            #expect(db.connection.holdsLock)
            try db.execute(sql: "INSERT INTO t VALUES (1); COMMIT")
            #expect(!db.connection.holdsLock)
            #expect(try db.checkpoint(.passive).walFrameCount == -1)
        }
        try queue.close()
        let reopened = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: .encrypted())
        #expect(try reopened.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
    }

    @Test("is SQLite's error where there is none of that name, and makes no file", arguments: ["nowhere", ""])
    func unknown(name: String) throws {
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: uri("mode=rwc&vfs=" + name), configuration: .encrypted())
        }
        #expect(error?.resultCode == .SQLITE_ERROR)
        #expect(error?.message == "no such vfs: " + name)
        #expect(!FileManager.default.fileExists(atPath: folder.path("db.sqlite")))
    }

    @Test("can be that of databases in memory, which several connections share")
    func memory() throws {
        let name = "file:/\(UUID().uuidString)?vfs=memdb"
        let first = try DatabaseQueue(path: name), second = try DatabaseQueue(path: name)
        try first.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (3)") }
        #expect(try second.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 3)
    }

    @Test("can't be another one for a database that SQL attaches", arguments: [false, true])
    func attached(inTransaction: Bool) throws {
        let queue = try DatabaseQueue(path: folder.path("main.sqlite"), configuration: .encrypted())
        let name = uri("vfs=unix-dotfile")
        try queue.writeWithoutTransaction { db throws in
            if inTransaction { try db.execute(sql: "BEGIN") }
            let attempts: [(String, StatementArguments)] = [
                ("ATTACH '\(name)' AS other", []), ("ATTACH ? AS other", [name]),
            ]
            for (sql, arguments) in attempts {
                let error = #expect(throws: DatabaseError.self) { try db.execute(sql: sql, arguments: arguments) }
                #expect(error?.resultCode == .SQLITE_MISUSE)
                #expect(error?.recoverySuggestion?.contains("main database") == true)
            }
            if inTransaction { try db.execute(sql: "COMMIT") }
            #expect(try String.fetchAll(db, sql: "SELECT name FROM pragma_database_list") == ["main"])
            let memory = "file:/\(UUID().uuidString)?vfs=memdb"
            try db.execute(sql: "ATTACH '\(memory)' AS other KEY ''; CREATE TABLE other.t(a)")
            try db.execute(sql: "ATTACH ':memory:' AS another KEY ''; ATTACH '\(folder.path("third"))' AS third")
            #expect(vfs(of: "third", db) == vfs(of: "main", db))
        }
    }
}
