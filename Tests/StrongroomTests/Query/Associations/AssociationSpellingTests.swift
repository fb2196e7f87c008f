import Strongroom
import Testing

@Suite("Associations: spelling")
struct AssociationSpellingTests {
    @Test("Conditions of an association come before those of the record")
    func conditions() throws {
        try withLibrary { (db) throws in
            let author = try Author.find(db, id: 1), cheap = Author.books.filter { $0.price < 9 }
            #expect(
                try sql(db, author.request(for: cheap))
                    == #"SELECT * FROM "book" WHERE ("price" < ?) AND ("authorId" = ?) [9, 1]"#)
            let all = try statements(db) { _ = try Row.fetchAll(db, Author.order(Column("id")).including(all: cheap)) }
            #expect(
                all.last
                    == #"""
                    SELECT *, "authorId" AS "grdb_authorId" FROM "book" \#
                    WHERE ("price" < ?) AND ("authorId" IN (?, ?, ?))
                    """#
            )
        }
    }

    @Test("Keys are queried in their order, and rows contain the key of their owner")
    func prefetchedRows() throws {
        try withLibrary { (db) throws in
            let rows = try Row.fetchAll(
                db, Author.including(all: Author.books.including(optional: Book.authorBiography)))
            let book = try #require(rows[0].prefetchedRows["books"]?.first)
            #expect(book["grdb_authorId"] == 1)
            #expect(Array(book.columnNames) == ["id", "authorId", "title", "price", "grdb_authorId"])
            #expect(book.scopes["author"]?.scopes["biography"] != nil)
            #expect(rows[2].debugDescription.hasSuffix("+ books: 0 row"))
            #expect(try Author.including(all: Author.books).databaseRegion(db).description.contains("book("))
        }
    }

    @Test("Rows are as wide as the statement where nothing of the joined tables is selected")
    func adapters() throws {
        try withLibrary { (db) throws in
            for request in [Book.joining(required: Book.author), Book.annotated(with: Book.awards.count)] {
                #expect(try request.makePreparedRequest(db).adapter == nil)
            }
            let row = try #require(try Row.fetchOne(db, Book.joining(required: Book.author)))
            #expect(row == row.unadapted)
            #expect(try Book.including(optional: Book.author).makePreparedRequest(db).adapter != nil)
        }
    }

    @Test("A stable order orders joined rows, too")
    func stableOrder() throws {
        try withLibrary { (db) throws in
            #expect(
                try sql(db, Book.including(required: Book.author).order(Column("price")).withStableOrder()) == #"""
                    SELECT "book".*, "author".* FROM "book" JOIN "author" ON "author"."id" = "book"."authorId" \#
                    ORDER BY "book"."price", "book"."id", "author"."id"
                    """#)
        }
    }

    @Test("An absent row has no key")
    func absence() throws {
        try withLibrary { (db) throws in
            let author = TableAlias<Author>()
            #expect(
                try sql(db, Book.joining(optional: Book.author.aliased(author)).filter(!author.exists)) == #"""
                    SELECT "book".* FROM "book" LEFT JOIN "author" ON "author"."id" = "book"."authorId" \#
                    WHERE "author"."id" IS NULL
                    """#)
        }
    }

    @Test("A record that does not know its foreign key has no partner")
    func unknownKey() throws {
        struct Title: Codable, TableRecord, EncodableRecord {
            static let databaseTableName = "book"
            static let author = belongsTo(Author.self)
            var title: String
        }
        try withLibrary { (db) throws in
            #expect(try Title(title: "Typee").request(for: Title.author).fetchAll(db).isEmpty)
        }
    }

    @Test("One row of a joined table is a part of the region")
    func region() throws {
        try withLibrary { (db) throws in
            #expect(
                try Book.including(required: Book.author).filter(key: 1).databaseRegion(db).description
                    == "author(country,id,name),book(authorId,id,price,title)[1]")
        }
    }

    @Test("Whether there is nothing is a count without argument, and joins are counted in any order")
    func counts() throws {
        try withLibrary { (db) throws in
            #expect(
                try sql(db, Author.having(Author.books.isEmpty)).hasSuffix(#"HAVING COUNT(DISTINCT "book"."id") = 0"#))
            #expect(
                try sql(db, Author.having(Author.books.isEmpty == false)).hasSuffix(
                    #"HAVING COUNT(DISTINCT "book"."id") > 0"#))
            let count = try statements(db) {
                _ = try Book.joining(required: Book.author.order(Column("name"))).fetchCount(db)
            }
            #expect(
                count.last
                    == #"""
                    SELECT COUNT(*) FROM (SELECT "book".* FROM "book" JOIN "author" \#
                    ON "author"."id" = "book"."authorId")
                    """#
            )
        }
    }

    @Test("Plural names become singular for one row, and repeated associations are fetched once")
    func keys() throws {
        try withLibrary { (db) throws in
            let row = try #require(
                try Row.fetchOne(
                    db, Author.annotated(with: Author.books.forKey("works").count, Author.books.forKey("works").isEmpty)
                ))
            #expect(Array(row.columnNames.suffix(2)) == ["workCount", "hasNoWork"])
            let twice = Author.including(all: Author.books.filter { $0.price > 7 }).including(
                all: Author.books.order { $0.title })
            #expect(
                try statements(db) { _ = try Row.fetchAll(db, twice) }.last
                    == #"""
                    SELECT *, "authorId" AS "grdb_authorId" FROM "book" \#
                    WHERE ("price" > ?) AND ("authorId" IN (?, ?, ?)) ORDER BY "title"
                    """#
            )
        }
    }

    @Test("Associated rows of a joined row are found through it")
    func nestedPrefetch() throws {
        try withLibrary { (db) throws in
            let request = Book.including(required: Book.author.select(Column("name")).including(all: Author.books))
                .order(Column("id"))
            let rows = try Row.fetchAll(db, request)
            #expect(rows.map { $0.scopes["author"]?.prefetchedRows["books"]?.count } == [2, 2, 1])
            #expect(
                try statements(db) { _ = try Row.fetchAll(db, request) }.last == #"""
                    SELECT "book".*, "author"."id" AS "grdb_id" FROM "book" JOIN "author" \#
                    ON ("author"."id" = "book"."authorId") AND ("author"."id" IN (?, ?))
                    """#)
        }
    }
}
