import Foundation
import Strongroom
import Testing

@Suite("Associations: aggregates")
struct AssociationAggregateTests {
    private let join = #"FROM "author" LEFT JOIN "book" ON "book"."authorId" = "author"."id""#

    @Test("Rows are annotated with the count of their associated rows")
    func count() throws {
        try withLibrary { (db) throws in
            let request = Author.annotated(with: Author.books.count).order(Column("id"))
            #expect(
                try sql(db, request) == #"""
                    SELECT "author".*, COUNT(DISTINCT "book"."id") AS "bookCount" \#(join) \#
                    GROUP BY "author"."id" ORDER BY "author"."id"
                    """#)
            #expect(try Row.fetchAll(db, request).map { $0["bookCount"] as Int } == [2, 1, 0])
            #expect(try request.fetchCount(db) == 3)
        }
    }

    @Test("All aggregates have names, and share one join")
    func names() throws {
        try withLibrary { (db) throws in
            let books = Author.books
            let request = Author.annotated(
                with: books.isEmpty, books.average(Column("price")), books.max { $0.price }, books.min { $0.price },
                books.sum { $0.price }
            ).order(Column("id"))
            let rows = try Row.fetchAll(db, request)
            #expect(
                Array(rows[0].columnNames.dropFirst(3))
                    == ["hasNoBook", "averageBookPrice", "maxBookPrice", "minBookPrice", "bookPriceSum"])
            #expect(rows[0]["averageBookPrice"] == 8.0)
            #expect(rows[0]["maxBookPrice"] == 10)
            #expect(rows[0]["minBookPrice"] == 6)
            #expect(rows[0]["bookPriceSum"] == 16)
            #expect(rows.map { $0["hasNoBook"] as Bool } == [false, false, true])
            #expect(try sql(db, request).components(separatedBy: "JOIN").count == 2)
            #expect(
                try Row.fetchAll(
                    db, Author.annotated(with: (books.total { $0.price } ?? 0).forKey("worth")).order(Column("id"))
                )
                .map { $0["worth"] as Double } == [16, 8, 0])
        }
    }

    @Test("Rows are chosen by aggregates")
    func having() throws {
        try withLibrary { (db) throws in
            let many = Author.having(Author.books.count >= 2)
            #expect(
                try sql(db, many) == #"""
                    SELECT "author".* \#(join) GROUP BY "author"."id" HAVING COUNT(DISTINCT "book"."id") >= ? [2]
                    """#)
            #expect(try many.fetchAll(db).map(\.name) == ["Melville"])
            #expect(try Author.having(Author.books.isEmpty).fetchAll(db).map(\.name) == ["Nobody"])
            #expect(try Author.having(!Author.books.isEmpty).fetchCount(db) == 2)
            #expect(try Author.having(Author.books.isEmpty == false).fetchCount(db) == 2)
            #expect(
                try Author.having(Author.books.count == Author.lives.count + 1).fetchAll(db).map(\.name) == [
                    "Melville", "Verne",
                ])
            #expect(
                try Author.having(Author.books.count > 0 && Author.awards.count < 2).fetchAll(db).map(\.name) == [
                    "Verne"
                ])
            #expect(
                try Author.having(Author.books.max(Column("price")) - Author.books.min(Column("price")) == 4)
                    .fetchCount(db) == 1)
        }
    }

    @Test("Counts of several associations don't disturb each other")
    func several() throws {
        try withLibrary { (db) throws in
            let cheap = Author.books.filter { $0.price < 7 }.forKey("cheapBooks")
            let request = Author.annotated(with: Author.books.count, cheap.count, Author.awards.count).order(
                Column("id"))
            let rows = try Row.fetchAll(db, request)
            #expect(rows.map { $0["bookCount"] as Int } == [2, 1, 0])
            #expect(rows.map { $0["cheapBookCount"] as Int } == [1, 0, 0])
            #expect(rows.map { $0["awardCount"] as Int } == [2, 1, 0])
        }
    }
}

extension Author {
    /// The biographies, as if there could be several.
    static let lives = hasMany(Biography.self, key: "lives")
}
