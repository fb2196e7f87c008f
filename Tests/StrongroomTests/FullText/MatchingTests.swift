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
            #expect(
                try sql(db, request) == #"SELECT * FROM "document" WHERE "document" MATCH ? ORDER BY "rank" ["dick"]"#)
            #expect(try request.fetchAll(db).map(\.title) == ["dick dick dick", "Moby Dick"])
        }
    }

    @Test("A table with an alias can be searched")
    func alias() throws {
        try withFTS5 { (db) throws in
            let request = Document.aliased(TableAlias(name: "d")).matching(FTS5Pattern(matchingAllTokensIn: "walden"))
            #expect(
                try sql(db, request) == #"SELECT "d".* FROM "document" "d" WHERE "d"."document" MATCH ? ["walden"]"#)
            #expect(try request.fetchAll(db).map(\.title) == ["Walden"])
        }
    }

    @Test(
        "A pattern that is nil, in SQL, matches nothing",
        arguments: [
            "SELECT title FROM document WHERE document MATCH ? ORDER BY rowid",
            "SELECT title FROM document WHERE title MATCH ?1",
            "SELECT title FROM document WHERE \"document\"match:pattern LIMIT 3",
            "SELECT d.title FROM document d WHERE (d.document MATCH @pattern) AND d.body <> 'MATCH ?'",
            "SELECT title FROM document WHERE document MATCH /* what */ $pattern -- MATCH",
            "SELECT title FROM document WHERE rowid IN (SELECT rowid FROM document WHERE document MATCH ?)",
        ])
    func nilArgument(_ sql: String) throws {
        for module in ["fts3", "fts4", "fts5"] {
            try with(FTS4(), "CREATE VIRTUAL TABLE document USING \(module)(title, body)") { (db) throws in
                let named = sql.contains("pattern")
                for string in ["*", "walden", ""] {
                    let pattern = FTS5Pattern(matchingAllTokensIn: string)
                    let arguments: StatementArguments = named ? ["pattern": pattern] : [pattern]
                    let titles = try String.fetchAll(db, sql: sql, arguments: arguments)
                    #expect(titles == (pattern == nil ? [] : ["Walden"]), "\(module)")
                }
            }
        }
    }

    @Test("A pattern that is nil, in SQL, leaves the rest of the statement to its own")
    func nilArgumentAmongOthers() throws {
        try withFTS5 { (db) throws in
            let none: FTS5Pattern? = nil
            let count = "SELECT COUNT(*) FROM document WHERE document MATCH ?"
            #expect(try Int.fetchOne(db, sql: count, arguments: [none]) == 0)
            let union = "SELECT ? UNION ALL SELECT title FROM document WHERE document MATCH ?"
            #expect(try String?.fetchAll(db, sql: union, arguments: [nil, none]) == [nil])
            try db.execute(sql: "DELETE FROM document WHERE document MATCH ?", arguments: [none])
            #expect(try Document.fetchCount(db) > 0)
            let statement = try db.makeStatement(sql: count)
            try statement.setArguments([none])
            #expect(statement.arguments == [none])
            statement.setUncheckedArguments([none])
            #expect(try Int.fetchOne(statement) == 0)
            let matching = "SELECT rowid FROM document WHERE document MATCH ?1"
            let all = "SELECT COUNT(*) FROM document WHERE ?1 IS NULL OR rowid IN (\(matching))"
            #expect(try Int.fetchOne(db, sql: all, arguments: [none]) == Document.fetchCount(db))
        }
    }

    @Test("A pattern that is nil, in an SQL literal, matches nothing")
    func nilInterpolation() throws {
        try withFTS5 { (db) throws in
            let none = FTS5Pattern(matchingAllTokensIn: ""), walden = FTS5Pattern(matchingAllTokensIn: "walden")
            func request(_ pattern: FTS5Pattern?) -> SQLRequest<String> {
                "SELECT title FROM document WHERE document MATCH \(pattern) ORDER BY rank"
            }
            #expect(try request(none).fetchAll(db) == [])
            #expect(try request(walden).fetchAll(db) == ["Walden"])
            #expect(try Document.filter(literal: "document MATCH \(none)").fetchCount(db) == 0)
            #expect(try Document.filter(sql: "document MATCH ?", arguments: [none]).fetchCount(db) == 0)
        }
        try withFTS4 { (db) throws in
            let none: FTS3Pattern? = nil
            #expect(try Document.filter(literal: "document MATCH \(none)").fetchCount(db) == 0)
        }
    }

    @Test("A part of an expression after MATCH stays as it is")
    func expressionAfterMatch() throws {
        try withFTS5 { (db) throws in
            let sql = "SELECT COUNT(*) FROM document WHERE document MATCH ? || '*'"
            #expect(try Int.fetchOne(db, sql: sql, arguments: ["wald"]) == 1)
            #expect(throws: DatabaseError.self) { try Int.fetchOne(db, sql: sql, arguments: [nil as FTS5Pattern?]) }
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
