import Strongroom
import Testing

@Suite("Associations: spelling")
struct AssociationSpellingTests {
    @Test("Conditions of an association come before those of the record")
    func conditions() throws {
        try withLibrary { (db) throws in
            let author = try Author.find(db, id: 1), cheap = Author.books.filter { $0.price < 9 }
            #expect(try sql(db, author.request(for: cheap)) == #"SELECT * FROM "book" WHERE ("price" < ?) AND ("authorId" = ?) [9, 1]"#)
            let all = try statements(db) { _ = try Row.fetchAll(db, Author.order(Column("id")).including(all: cheap)) }
            #expect(all.last == #"SELECT *, "authorId" AS "grdb_authorId" FROM "book" WHERE ("price" < ?) AND ("authorId" IN (?, ?, ?))"#)
        }
    }

    @Test("Keys are asked for in their order, and the rows show whom they belong to")
    func prefetchedRows() throws {
        try withLibrary { (db) throws in
            let rows = try Row.fetchAll(db, Author.including(all: Author.books.including(optional: Book.authorBiography)))
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

    @Test("A stable order tells apart the joined rows, too")
    func stableOrder() throws {
        try withLibrary { (db) throws in
            #expect(try sql(db, Book.including(required: Book.author).order(Column("price")).withStableOrder()) == #"""
                SELECT "book".*, "author".* FROM "book" JOIN "author" ON "author"."id" = "book"."authorId" \#
                ORDER BY "book"."price", "book"."id", "author"."id"
                """#)
        }
    }

    @Test("An absent row has no key")
    func absence() throws {
        try withLibrary { (db) throws in
            let author = TableAlias<Author>()
            #expect(try sql(db, Book.joining(optional: Book.author.aliased(author)).filter(!author.exists)) == #"""
                SELECT "book".* FROM "book" LEFT JOIN "author" ON "author"."id" = "book"."authorId" WHERE "author"."id" IS NULL
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
            #expect(try Book.including(required: Book.author).filter(key: 1).databaseRegion(db).description
                == "author(country,id,name),book(authorId,id,price,title)[1]")
        }
    }
}
