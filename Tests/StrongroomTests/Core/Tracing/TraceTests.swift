import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("A trace")
struct TraceTests {
    private func traced(
        options: Database.TracingOptions = .statement, publicArguments: Bool = false,
        _ body: (Database) throws -> Void, _ show: @escaping (Database.TraceEvent) -> String = { "\($0)" }
    ) throws -> [String] {
        var configuration = Configuration.encrypted()
        configuration.publicStatementArguments = publicArguments
        return try withEncryptedQueue(configuration) { queue throws in
            try queue.inDatabase { db throws in
                try db.execute(sql: "CREATE TABLE t (a)")
                var lines: [String] = []
                db.trace(options: options) { lines.append(show($0)) }
                try body(db)
                db.trace()
                try db.execute(sql: "SELECT 'not traced'")
                return lines
            }
        }
    }

    @Test("reports each statement when it starts, without arguments")
    func statements() throws {
        let lines = try traced { db in
            try db.execute(sql: " INSERT INTO t VALUES (?); ", arguments: ["secret"])
            try db.inTransaction { .commit }
            _ = try Int.fetchAll(db, sql: "SELECT 1")
            _ = try Int.fetchAll(db, sql: "SELECT 1")
        }
        #expect(
            lines == [
                "INSERT INTO t VALUES (?)", "BEGIN IMMEDIATE TRANSACTION", "COMMIT TRANSACTION", "SELECT 1", "SELECT 1",
            ])
    }

    @Test("omits the library's statements that set the key")
    func passphrase() throws {
        let lines = Shared<[String]>([])
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            db.trace { event in lines.update { $0.append("\(event)") } }
            try db.usePassphrase("secret")
        }
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration)
        try queue.inDatabase { try $0.execute(sql: "CREATE TABLE t (a)") }
        #expect(lines.value == ["CREATE TABLE t (a)"])
    }

    @Test("omits the queries of an observation about a table")
    func observedTable() throws {
        try withEncryptedQueue { queue throws in
            try queue.write { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, a)") }
            let observation = DatabaseRegionObservation(tracking: Table("t"))
            let cancellable = observation.start(in: queue, onError: { _ in }, onChange: { _ in })
            let lines = try queue.inDatabase { db throws in
                var lines: [String] = []
                db.trace { lines.append("\($0)") }
                try db.execute(sql: "INSERT INTO t (a) VALUES (1)")
                try db.execute(sql: "UPDATE t SET id = 2, a = 3")
                db.trace()
                return lines
            }
            cancellable.cancel()
            #expect(lines == ["INSERT INTO t (a) VALUES (1)", "UPDATE t SET id = 2, a = 3"])
        }
    }

    @Test("omits the library's own queries: opening, and checks of the schema")
    func ownStatements() throws {
        var configuration = Configuration.encrypted()
        let lines = Shared<[String]>([])
        configuration.prepareDatabase { db in db.trace { event in lines.update { $0.append("\(event)") } } }
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.path("db.sqlite"), configuration: configuration)
        try pool.write { try $0.execute(sql: "CREATE TABLE t (a)") }
        _ = try pool.read { try $0.columns(in: "t") }
        lines.update { $0 = [] }
        _ = try pool.read { try $0.columns(in: "t") }
        #expect(lines.value == ["BEGIN DEFERRED TRANSACTION", "COMMIT TRANSACTION"])
        lines.update { $0 = [] }
        _ = try DatabasePool(path: folder.path("other.sqlite"), configuration: configuration)
        #expect(lines.value == [])
    }

    @Test("omits the library's queries of the schema")
    func alterations() throws {
        let lines = try traced { db in
            try db.create(table: "author") { $0.autoIncrementedPrimaryKey("id") }
            try db.alter(table: "t") { t in
                t.add(column: "b")
                t.add(column: "authorId").references("author")
            }
        }
        #expect(
            lines == [
                #"CREATE TABLE "author" ("id" INTEGER PRIMARY KEY AUTOINCREMENT)"#,
                #"ALTER TABLE "t" ADD COLUMN "b""#,
                #"ALTER TABLE "t" ADD COLUMN "authorId" REFERENCES "author"("id")"#,
            ])
    }

    @Test("reports savepoints under their name in GRDB")
    func savepoints() throws {
        let lines = try traced { db in
            try db.inTransaction {
                try db.inSavepoint { .commit }
                try db.inSavepoint { .rollback }
                return .commit
            }
        }
        #expect(
            lines == [
                "BEGIN IMMEDIATE TRANSACTION",
                "SAVEPOINT grdb", "RELEASE SAVEPOINT grdb",
                "SAVEPOINT grdb", "ROLLBACK TRANSACTION TO SAVEPOINT grdb", "RELEASE SAVEPOINT grdb",
                "COMMIT TRANSACTION",
            ])
    }

    @Test("shows arguments on demand, or where the configuration says so")
    func arguments() throws {
        let insert: (Database) throws -> Void = { try $0.execute(sql: "INSERT INTO t VALUES (?)", arguments: ["it's"]) }
        #expect(try traced(insert) { $0.expandedDescription } == ["INSERT INTO t VALUES ('it''s')"])
        #expect(try traced(publicArguments: true, insert) == ["INSERT INTO t VALUES ('it''s')"])
        #expect(
            try traced(insert) {
                guard case .statement(let statement) = $0 else { return "" }
                return "\(statement.sql) \(statement.expandedSQL) \(statement)"
            } == ["INSERT INTO t VALUES (?) INSERT INTO t VALUES ('it''s') INSERT INTO t VALUES (?)"])
    }

    @Test("shows empty data as an empty blob")
    func emptyBlob() throws {
        try withDatabase { db throws in
            var seen: [String] = []
            db.trace { seen.append($0.expandedDescription) }
            _ = try Row.fetchOne(db, sql: "SELECT ?", arguments: [Data()])
            db.trace(nil)
            #expect(seen == ["SELECT x''"])
            #expect(try String.fetchOne(db, sql: "SELECT typeof(?)", arguments: [Data()]) == "blob")
        }
    }

    @Test("reports the queries that an insertion needs before the insertion")
    func schemaQuestions() throws {
        try withRecords { db throws in
            var last = ""
            db.trace { last = $0.description }
            try Note(text: "x").insert(db)
            db.trace(nil)
            #expect(last == #"INSERT INTO "note" ("text") VALUES (?)"#)
        }
    }

    @Test("reports triggers as comments")
    func triggers() throws {
        let lines = try traced(
            { db in
                try db.execute(sql: "CREATE TRIGGER tr AFTER INSERT ON t BEGIN DELETE FROM t; END")
                try db.execute(sql: "INSERT INTO t VALUES (1)")
            }, { $0.expandedDescription })
        #expect(lines.contains("INSERT INTO t VALUES (1)"))
        #expect(lines.contains("-- TRIGGER tr"))
    }

    @Test("reports the durations of statements")
    func profile() throws {
        var durations: [TimeInterval] = []
        let lines = try traced(
            options: [.profile, .statement],
            { db in
                _ = try Int.fetchOne(
                    db,
                    sql: """
                        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT \
                        count(*) FROM n
                        """)
            },
            { event in
                guard case .profile(let statement, let duration) = event else { return "start" }
                durations.append(duration)
                return "\(event)".hasSuffix("s \(statement.sql)") ? "end" : "\(event)"
            })
        #expect(lines == ["start", "end"])
        #expect(durations.allSatisfy { $0 > 0.0001 && $0 < 60 })
    }

    @Test("of an event that was kept shows no arguments")
    func kept() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                var kept: Database.TraceEvent?
                db.trace { kept = $0 }
                _ = try Int.fetchOne(db, sql: "SELECT ?", arguments: [1])
                #expect(kept?.expandedDescription == "SELECT ?")
            }
        }
    }
}
