import Testing

@testable import Strongroom

@Suite("An observed view")
struct ObservedViewTests {
    private func region(_ schema: String, of sql: String) throws -> String {
        try withDatabase { db in
            try db.execute(sql: schema)
            var described = ""
            try db.inTransaction(.deferred) {
                let (_, region) = try db.recordingRegion { try Row.fetchAll(db, sql: sql) }
                described = region.description
                return .rollback
            }
            return described
        }
    }

    @Test(
        "counts as the tables that it reads, through views in views",
        arguments: ["one", "two", "(SELECT name FROM one)"])
    func tables(source: String) throws {
        let schema = """
            CREATE TABLE wine(id INTEGER PRIMARY KEY, name TEXT);
            CREATE VIEW one AS SELECT id, name FROM wine;
            CREATE VIEW two AS SELECT name FROM one
            """
        let described = try region(schema, of: "SELECT name FROM \(source)")
        #expect(["wine(name)", "wine(id,name)"].contains(described))
    }

    @Test("hides no table of the same name in another schema")
    func shadowed() throws {
        let schema = "CREATE TABLE wine(a); CREATE VIEW v AS SELECT a FROM wine; CREATE TEMPORARY TABLE v(b)"
        let described = try region(schema, of: "SELECT a, b FROM main.v, temp.v")
        #expect(described.contains("v(") && described.contains("wine(a)"))
    }

    @Test("hides no table that a named subquery is called after")
    func subquery() throws {
        let sql = "WITH x AS (SELECT a FROM wine) SELECT a, b FROM x, v"
        let described = try region("CREATE TABLE wine(a); CREATE TABLE v(b)", of: sql)
        #expect(described == "v(b),wine(a)")
    }

    @Test("notifies when a table that it reads changes")
    func notified() async throws {
        let (writer, folder) = try WriterKind.pool.make()
        try await writer.write { try $0.execute(sql: "CREATE VIEW cellar AS SELECT * FROM wine") }
        let notified = Notified<Int>()
        let observation = ValueObservation.tracking { try Int.fetchOne($0, sql: "SELECT count(*) FROM cellar") ?? -1 }
        let cancellable = observation.notify(notified, in: writer)
        try await notified.reaches(0)
        try await writer.write { try $0.insertWine() }
        try await notified.reaches(1)
        cancellable.cancel()
        _ = folder
    }
}
