import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A key in SQL")
struct SecretTests {
    static let statements = [
        "PRAGMA key = 'zork'", "pragma KEY='zork'", "PRAGMA main.key = 'zork'", "PRAGMA \"key\" = 'zork'",
        "PRAGMA [rekey]('zork')",
        "/* PRAGMA */ PRAGMA hexkey = 'zork'", "-- c\nPRAGMA textkey = 'zork'",
        "EXPLAIN QUERY PLAN PRAGMA rekey = 'zork'",
        "\u{FEFF}PRAGMA key = 'zork'", "PRAGMA key = 'zork", "PRAGMA key = 'zork' 'zork'", "PRAGMA `key` = zork",
        "ATTACH '/nowhere/a.db' AS a KEY 'zork'", "attach database '/nowhere/a.db' as a key x'00zork'",
        "ATTACH 'file:/nowhere/a.db?key=zork' AS a",
        "VACUUM INTO 'file:/nowhere/a.db?key=zork'", "vacuum main into 'file:/nowhere/a.db?mode=rwc&hexkey=zork'",
        "ATTACH '/nowhere/a.db' AS a KEY 'zork' 'zork'", "SELECT 1; PRAGMA key = 'zork'; SELECT 2",
    ]

    @Test("is not shown", arguments: statements)
    func isNotShown(sql: String) {
        #expect(!SQLText.showable(sql).contains("zork"))
        #expect(SQLText.containsKey("near \"zork\": syntax error in \"\(sql)\""))
    }

    @Test(
        "is not seen where there is none",
        arguments: [
            "PRAGMA foreign_keys = 'zork'", "SELECT 'PRAGMA key = zork'", "ATTACH 'zork' AS key",
            "INSERT INTO key VALUES ('zork')",
            "PRAGMA key.user_version = zork",
        ])
    func isNotSeen(sql: String) {
        #expect(SQLText.showable(sql) == sql || sql.hasPrefix("ATTACH"))
        #expect(SQLText.showable(sql).contains("zork"))
    }

    @Test("is in no error, trace or log", arguments: statements)
    func isNowhere(sql: String) throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                var seen: [String] = []
                db.trace(options: [.statement, .profile]) { seen.append($0.expandedDescription) }
                do {
                    try db.execute(sql: sql)
                } catch {
                    let expanded = (error as? DatabaseError)?.expandedDescription ?? ""
                    seen.append("\(error) \(expanded) \((error as NSError).userInfo)")
                }
                db.trace()
                seen.append(db.lastErrorMessage ?? "")
                #expect(!seen.joined(separator: "\n").contains("zork"))
            }
        }
    }

    @Test("is not traced")
    func traced() throws {
        let folder = try TemporaryFolder(), lines = Shared<[String]>([])
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.trace(options: [.statement, .profile]) { event in lines.update { $0.append(event.expandedDescription) } }
            try db.execute(sql: "PRAGMA key = 'zork'; PRAGMA kdf_iter = 1000")
        }
        try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration).write {
            try $0.execute(sql: "CREATE TABLE t(a)")
        }
        #expect(lines.value.contains("PRAGMA kdf_iter = 1000") && lines.value.contains("CREATE TABLE t(a)"))
        #expect(!lines.value.contains { $0.contains("zork") || $0.contains("PRAGMA key") })
    }

    @Test("is not shown when it is an argument")
    func argument() throws {
        var configuration = Configuration.encrypted()
        configuration.publicStatementArguments = true
        try withEncryptedQueue(configuration) { queue throws in
            try queue.inDatabase { db throws in
                var seen: [String] = []
                db.trace { seen.append($0.expandedDescription) }
                let failure = try #require(throws: DatabaseError.self) {
                    try db.execute(sql: "ATTACH ? AS a KEY ?", arguments: ["/nowhere/a.db", "zork"])
                }
                #expect(!(failure.description + failure.expandedDescription + seen.joined()).contains("zork"))
                #expect(failure.resultCode == .SQLITE_CANTOPEN)
                #expect(failure.message == "unable to open database: /nowhere/a.db")
                let uri = try #require(throws: DatabaseError.self) {
                    try db.execute(sql: "ATTACH ? AS a", arguments: ["file:/nowhere/a.db?key=zork"])
                }
                #expect(!(uri.description + uri.expandedDescription + seen.joined()).contains("zork"))
            }
        }
    }

    @Test("is refused in the URI of a database")
    func uri() throws {
        let failure = try #require(throws: DatabaseError.self) {
            try DatabaseQueue(path: "file:/nowhere/a.db?mode=rw&KEY=zork")
        }
        #expect(failure.resultCode == .SQLITE_MISUSE)
        #expect(!failure.description.contains("zork"))
    }

    @Test("is not in SQLite's log, which contains all other lines")
    func log() async {
        await #expect(processExitsWith: .success) {
            final class Lines: @unchecked Sendable { var all: [String] = [] }
            let lines = Lines()
            Database.logError = { lines.all.append("\($0.rawValue) \($1)") }
            let queue = try DatabaseQueue()
            try queue.inDatabase { db throws in
                try? db.execute(sql: "SELEC 1")
                try? db.execute(sql: "PRAGMA key = 'zork' 'zork'")
                try? db.execute(sql: "SELEC 1; PRAGMA key = 'zork'")
                try? db.execute(sql: "ATTACH '/nowhere/a' AS a KEY 'zork'")
            }
            Database.logError = nil
            queue.inDatabase { try? $0.execute(sql: "SELEC 2") }
            precondition(lines.all.contains { $0 == "1 near \"SELEC\": syntax error in \"SELEC 1\"" }, "\(lines.all)")
            precondition(lines.all.contains { $0.hasSuffix("in a statement with a key") }, "\(lines.all)")
            precondition(!lines.all.contains { $0.contains("zork") || $0.contains("SELEC 2") }, "\(lines.all)")
        }
    }
}
