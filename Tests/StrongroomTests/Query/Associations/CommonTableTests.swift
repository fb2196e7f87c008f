import Strongroom
import Testing

@Suite("Common table expressions")
struct CommonTableTests {
    @Test("A request has a name in another request")
    func request() throws {
        try withLibrary { (db) throws in
            let dear = CommonTableExpression<Book>(named: "dear", request: Book.filter { $0.price > 7 })
            #expect(dear.tableName == "dear")
            let request = dear.all().with(dear).order(Column("id"))
            #expect(
                try sql(db, request)
                    == #"WITH "dear" AS (SELECT * FROM "book" WHERE "price" > ?) "#
                    + #"SELECT * FROM "dear" ORDER BY "id" [7]"#
            )
            #expect(try request.fetchAll(db).map(\.title) == ["Moby Dick", "Nautilus"])
            #expect(try request.fetchCount(db) == 2)
            #expect(try !request.isEmpty(db))
        }
    }

    @Test("A condition looks into a common table")
    func contains() throws {
        try withLibrary { (db) throws in
            let ids = CommonTableExpression(
                named: "ids", sql: "SELECT bookId FROM award WHERE name = ?", arguments: ["gold"])
            let request = Book.with(ids).filter(ids.contains(Column("id")))
            #expect(
                try sql(db, request) == #"""
                    WITH "ids" AS (SELECT bookId FROM award WHERE name = ?) \#
                    SELECT * FROM "book" WHERE "id" IN "ids" ["gold"]
                    """#)
            #expect(try request.fetchAll(db).map(\.id) == [1, 3])
        }
    }

    @Test("A recursive table with named columns, as a literal and in a literal")
    func recursive() throws {
        try withDatabase { (db) throws in
            let end = 5
            let counter = CommonTableExpression<Int>(
                recursive: true, named: "counter", columns: ["x"],
                literal: "VALUES(1) UNION ALL SELECT x + 1 FROM counter WHERE x < \(end)")
            #expect(try counter.all().with(counter).fetchAll(db) == [1, 2, 3, 4, 5])
            #expect(
                try sql(db, counter.all().with(counter)).hasPrefix(
                    #"WITH RECURSIVE "counter"("x") AS (VALUES(1) UNION"#))
            let request: SQLRequest<Int> = "WITH RECURSIVE \(definitionFor: counter) SELECT MAX(x) FROM \(counter)"
            #expect(try request.fetchOne(db) == 5)
        }
    }

    @Test("Of two tables of one name the later counts")
    func redefinition() throws {
        try withDatabase { (db) throws in
            let one = CommonTableExpression<Int>(named: "t", sql: "SELECT 1"),
                two = CommonTableExpression<Int>(named: "T", sql: "SELECT 2")
            #expect(try one.all().with(one).with(two).fetchAll(db) == [2])
        }
    }

    @Test("A common table is joined by a condition, its columns are a scope")
    func association() throws {
        try withLibrary { (db) throws in
            let best = CommonTableExpression(
                named: "best",
                request: Book.select(Column("authorId"), max(Column("price")).forKey("price")).group(Column("authorId"))
            )
            let association = Author.association(to: best) { author, best in author.id == best[Column("authorId")] }
            let request = Author.with(best).including(optional: association).order(Column("id"))
            #expect(
                try sql(db, request) == #"""
                    WITH "best" AS (SELECT "authorId", MAX("price") AS "price" FROM "book" GROUP BY "authorId") \#
                    SELECT "author".*, "best".* FROM "author" LEFT JOIN "best" ON "author"."id" = "best"."authorId" \#
                    ORDER BY "author"."id"
                    """#)
            let rows = try Row.fetchAll(db, request)
            #expect(rows.map { $0.scopes["best"]!["price"] as Int? } == [10, 8, nil])
            #expect(rows[0].unscoped == ["id": 1, "name": "Melville", "country": "US"])
        }
    }

    @Test("Rows are deleted and updated with a common table")
    func changes() throws {
        try withLibrary { (db) throws in
            let ids = CommonTableExpression(named: "ids", sql: "SELECT bookId FROM award")
            let request = Book.with(ids).filter(!ids.contains(Column("id")))
            #expect(try request.updateAll(db, Column("price").set(to: 0)) == 2)
            #expect(try request.deleteAll(db) == 2)
            #expect(try Book.fetchCount(db) == 2)
        }
    }

    @Test("A common table that is joined twice by the same key uses the latest condition")
    func latestCondition() throws {
        try withLibrary { (db) throws in
            let prices = CommonTableExpression(named: "prices", sql: "SELECT price FROM book")
            func dearer(than ratio: Int) -> JoinAssociation<Book, Row> {
                Book.association(to: prices) { $0["price"] > $1["price"] * ratio }
            }
            let request = Book.with(prices).joining(required: dearer(than: 1)).joining(required: dearer(than: 2))
            #expect(try request.fetchCount(db) == 0)
            let reversed = Book.with(prices).joining(required: dearer(than: 2)).joining(required: dearer(than: 1))
            #expect(try reversed.fetchCount(db) == 6)
        }
    }
}
