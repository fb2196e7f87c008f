import Strongroom
import Testing

@Suite("The order of joined rows")
struct JoinedOrderTests {
    private let author = Book.author.order(Column("name"))

    /// The terms after ORDER BY.
    private func expectOrder(
        _ expectations: [(any FetchRequest, String)], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try withLibrary { (db) throws in
            for (request, expected) in expectations {
                let text = try sql(db, request).split(separator: " ORDER BY ", maxSplits: 1)
                let order = text.count == 2 ? String(text[1]) : "none"
                #expect(order == expected, sourceLocation: sourceLocation)
            }
        }
    }

    @Test("The order of joined rows follows that of the main rows, and is reversed with it, whenever it is joined")
    func reversed() throws {
        let request = Book.order(Column("title"))
        try expectOrder([
            (request.including(required: author), #""book"."title", "author"."name""#),
            (request.including(required: author).reversed(), #""book"."title" DESC, "author"."name" DESC"#),
            (request.reversed().including(required: author), #""book"."title" DESC, "author"."name" DESC"#),
            (request.reversed().including(required: author.reversed()), #""book"."title" DESC, "author"."name""#),
            (request.including(required: author.reversed()).reversed(), #""book"."title" DESC, "author"."name""#),
        ])
    }

    @Test("The order of joined rows is reversed with the association that it is joined to")
    func reversedBehind() throws {
        let award = Award.book.order(Column("title")).including(required: author)
        try expectOrder([
            (Award.including(required: award.reversed()), #""book"."title" DESC, "author"."name" DESC"#),
            (
                Award.including(required: award).including(required: Award.book.order(Column("price")).reversed()),
                #""book"."price" DESC, "author"."name" DESC"#
            ),
        ])
    }

    @Test("The order of joined rows is removed with that of the main rows")
    func unordered() throws {
        let award = Award.book.including(required: author)
        try expectOrder([
            (Book.including(required: author).unordered(), "none"),
            (Award.including(required: award).unordered(), "none"),
            (Award.including(required: award.unordered()), "none"),
            (Book.all().unordered().including(required: author), #""author"."name""#),
        ])
    }

    @Test("The order of joined rows is stable for associations from before the call of withStableOrder")
    func stable() throws {
        try expectOrder([
            (Book.including(required: author).withStableOrder(), #""book"."id", "author"."name", "author"."id""#),
            (Book.all().withStableOrder().including(required: author), #""book"."id", "author"."name""#),
            (Book.including(required: Book.author.withStableOrder()), #""author"."id""#),
        ])
    }

    @Test("The order of joined rows is neither stable nor reversed after another order of main or joined rows")
    func replaced() throws {
        try expectOrder([
            (Book.all().withStableOrder().order(Column("title")), #""title""#),
            (Book.order(Column("price")).reversed().order(Column("title")), #""title""#),
            (Book.including(required: Book.author.withStableOrder()).including(required: author), #""author"."name""#),
            (Book.including(required: author).including(required: Book.author.withStableOrder()), #""author"."id""#),
        ])
    }

    @Test("The order of prefetched rows is removed and made stable with that of the main rows")
    func prefetched() throws {
        try withLibrary { (db) throws in
            let books = Author.books.order(Column("title"))
            func order(_ request: QueryInterfaceRequest<Author>) throws -> String {
                let prefetch = try statements(db) { _ = try Row.fetchAll(db, request) }.last ?? ""
                return prefetch.split(separator: " ORDER BY ").dropFirst().joined()
            }
            #expect(try order(Author.including(all: books)) == #""title""#)
            #expect(try order(Author.including(all: books).unordered()).isEmpty)
            #expect(try order(Author.including(all: books).withStableOrder()) == #""title", "id""#)
            #expect(try order(Author.including(all: books).reversed()) == #""title""#)
            let awards = Author.hasMany(Award.self, through: books, using: Book.awards)
            #expect(
                try order(Author.including(all: awards).withStableOrder())
                    == #""award"."id", "book"."title", "book"."id""#)
        }
    }

    @Test("The order of joined rows of a view without a key is that of all its columns, and can be reversed")
    func view() throws {
        try withLibrary { db throws in
            try db.execute(sql: "CREATE VIEW title AS SELECT title, price FROM book")
            #expect(try sql(db, Table("title").all().withStableOrder().reversed()).hasSuffix("ORDER BY 1 DESC, 2 DESC"))
        }
    }
}
