import Strongroom
import Testing

@Suite("Searching full-text tables")
struct MatchingTests {
    private func with(_ module: some VirtualTableModule, _ sql: String, _ body: (Database) throws -> Void) throws {
        try withDatabase { (db) throws in
            try db.execute(sql: sql)
            try insertDocuments(db)
            try body(db)
        }
    }

    private func withFTS5(_ body: (Database) throws -> Void) throws {
        try with(FTS5(), "CREATE VIRTUAL TABLE document USING fts5(title, body)", body)
    }

    private func withFTS4(_ body: (Database) throws -> Void) throws {
        try with(FTS4(), "CREATE VIRTUAL TABLE document USING fts4(title, body)", body)
    }

    @Test("A record type, a request and a table can be searched")
    func requests() throws {
        try withFTS5 { (db) throws in
            let pattern = FTS5Pattern(matchingAllTokensIn: "ISHMAEL")
            let expected = #"SELECT * FROM "document" WHERE "document" MATCH ? ["ishmael"]"#
            #expect(try sql(db, Document.matching(pattern)) == expected)
            #expect(try sql(db, Document.all().matching(pattern)) == expected)
            #expect(try sql(db, Table("document").matching(pattern)) == expected)
            #expect(try Document.matching(pattern).fetchCount(db) == 2)
        }
        try withFTS4 { (db) throws in
            let pattern = FTS3Pattern(matchingAllTokensIn: "ISHMAEL")
            let expected = #"SELECT * FROM "document" WHERE "document" MATCH ? ["ishmael"]"#
            #expect(try sql(db, Document.matching(pattern)) == expected)
            #expect(try sql(db, Document.all().matching(pattern)) == expected)
            #expect(try sql(db, Table("document").matching(pattern)) == expected)
            #expect(try Document.matching(pattern).fetchCount(db) == 2)
        }
    }

    @Test("No pattern matches nothing")
    func noPattern() throws {
        try withFTS5 { (db) throws in
            #expect(try Document.matching(FTS5Pattern(matchingAllTokensIn: "*")).fetchAll(db) == [])
            #expect(try Table("document").matching(nil as FTS5Pattern?).fetchCount(db) == 0)
        }
        try withFTS4 { (db) throws in
            #expect(try Document.matching(FTS3Pattern(matchingAllTokensIn: "*")).fetchAll(db) == [])
            #expect(try Document.filter(Column("title").match(nil as FTS3Pattern?)).fetchAll(db) == [])
        }
    }

    @Test("A column can be searched")
    func column() throws {
        try withFTS5 { (db) throws in
            let request = try Document.filter(Column("title").match(FTS5Pattern(rawPattern: "ishmael")))
            #expect(try sql(db, request) == #"SELECT * FROM "document" WHERE "title" MATCH ? ["ishmael"]"#)
            #expect(try request.fetchAll(db).map(\.title) == ["Ishmael Returns"])
        }
        try withFTS4 { (db) throws in
            let request = try Document.filter(Column("body").match(FTS3Pattern(rawPattern: "ishmael")))
            #expect(try sql(db, request) == #"SELECT * FROM "document" WHERE "body" MATCH ? ["ishmael"]"#)
            #expect(try request.fetchAll(db).map(\.title) == ["Moby Dick"])
        }
    }

    @Test("The best matches come first")
    func rank() throws {
        try withFTS5 { (db) throws in
            try db.execute(sql: "INSERT INTO document VALUES ('dick dick dick', 'dick')")
            let pattern = FTS5Pattern(matchingAllTokensIn: "dick")
            let request = Document.matching(pattern).order(Column.rank)
            #expect(try sql(db, request) == #"SELECT * FROM "document" WHERE "document" MATCH ? ORDER BY "rank" ["dick"]"#)
            #expect(try request.fetchAll(db).map(\.title) == ["dick dick dick", "Moby Dick"])
        }
    }

    @Test("A table with an alias can be searched")
    func alias() throws {
        try withFTS5 { (db) throws in
            let request = Document.aliased(TableAlias(name: "d")).matching(FTS5Pattern(matchingAllTokensIn: "walden"))
            #expect(try sql(db, request) == #"SELECT "d".* FROM "document" "d" WHERE "d"."document" MATCH ? ["walden"]"#)
            #expect(try request.fetchAll(db).map(\.title) == ["Walden"])
        }
    }

    @Test("A pattern is an argument like any other value")
    func argument() throws {
        try withFTS5 { (db) throws in
            let pattern = FTS5Pattern(matchingPrefixPhrase: "moby")
            let titles = try String.fetchAll(
                db, sql: "SELECT title FROM document WHERE document MATCH ? ORDER BY rowid", arguments: [pattern])
            #expect(titles == ["Moby Dick", "Ishmael Returns"])
        }
    }
}
