import Foundation
import Strongroom
import Testing

@Suite("Associations: joins")
struct JoinTests {
    struct BookInfo: Decodable, Equatable, FetchableRecord {
        var book: Book
        var author: Author?
    }

    private let authorJoin = #"JOIN "author" ON "author"."id" = "book"."authorId""#

    @Test("including(required:) fetches both, and omits rows without an associated row")
    func required() throws {
        try withLibrary { (db) throws in
            let request = Book.including(required: Book.author)
            #expect(try sql(db, request) == #"SELECT "book".*, "author".* FROM "book" \#(authorJoin)"#)
            let infos = try request.order(Column("id")).asRequest(of: BookInfo.self).fetchAll(db)
            #expect(infos.map(\.book.title) == ["Moby Dick", "Typee", "Nautilus"])
            #expect(infos.map(\.author?.name) == ["Melville", "Melville", "Verne"])
            #expect(try request.fetchCount(db) == 3)
        }
    }

    @Test("including(optional:) fetches both, and nil for rows without an associated row")
    func optional() throws {
        try withLibrary { (db) throws in
            let request = Book.including(optional: Book.author).order(Column("id"))
            #expect(
                try sql(db, request)
                    == #"SELECT "book".*, "author".* FROM "book" LEFT \#(authorJoin) ORDER BY "book"."id""#)
            #expect(try request.asRequest(of: BookInfo.self).fetchAll(db).map(\.author?.id) == [1, 1, 2, nil])
        }
    }

    @Test("Joining selects no column of the joined table")
    func joining() throws {
        try withLibrary { (db) throws in
            #expect(try sql(db, Book.joining(required: Book.author)) == #"SELECT "book".* FROM "book" \#(authorJoin)"#)
            #expect(
                try sql(db, Book.joining(optional: Book.author)) == #"SELECT "book".* FROM "book" LEFT \#(authorJoin)"#)
            #expect(
                try Book.joining(required: Book.author.filter { $0.country == "FR" }).fetchAll(db).map(\.title) == [
                    "Nautilus"
                ])
        }
    }

    @Test("Conditions stand with the table that they are for, orders come one after the other")
    func conditions() throws {
        try withLibrary { (db) throws in
            let french = Book.author.filter { $0.country == "FR" }.order(\.name)
            let request = Book.filter { $0.price > 5 }.order(\.title).including(optional: french)
            #expect(
                try sql(db, request) == #"""
                    SELECT "book".*, "author".* FROM "book" \#
                    LEFT JOIN "author" ON ("author"."id" = "book"."authorId") AND ("author"."country" = ?) \#
                    WHERE "book"."price" > ? ORDER BY "book"."title", "author"."name" ["FR", 5]
                    """#)
            #expect(
                try sql(db, request.reversed()).hasSuffix(
                    #"ORDER BY "book"."title" DESC, "author"."name" DESC ["FR", 5]"#))
        }
    }

    @Test("An alias brings the joined table into a condition of the whole")
    func alias() throws {
        try withLibrary { (db) throws in
            let author = TableAlias<Author>()
            let request = Book.joining(optional: Book.author.aliased(author)).filter(
                author.country == "FR" || author.id == nil)
            #expect(
                try sql(db, request)
                    == #"""
                    SELECT "book".* FROM "book" LEFT \#(authorJoin) \#
                    WHERE ("author"."country" = ?) OR ("author"."id" IS NULL) ["FR"]
                    """#
            )
            #expect(try request.order(Column("id")).fetchAll(db).map(\.id) == [3, 4])
            let named = Book.including(required: Book.author.aliased(TableAlias(name: "a")))
            #expect(
                try sql(db, named)
                    == #"SELECT "book".*, "a".* FROM "book" JOIN "author" "a" ON "a"."id" = "book"."authorId""#)
        }
    }

    @Test("A table that comes twice gets numbers")
    func numbers() throws {
        try withLibrary { (db) throws in
            let request = Award.including(
                required: Award.book.including(required: Book.author.including(optional: Author.books)))
            #expect(
                try sql(db, request) == #"""
                    SELECT "award".*, "book1".*, "author".*, "book2".* FROM "award" \#
                    JOIN "book" "book1" ON "book1"."id" = "award"."bookId" \#
                    JOIN "author" ON "author"."id" = "book1"."authorId" \#
                    LEFT JOIN "book" "book2" ON "book2"."authorId" = "author"."id"
                    """#)
        }
    }

    @Test("The same association is joined once, another one needs its own key")
    func keys() throws {
        try withLibrary { (db) throws in
            let twice = Book.including(optional: Book.author).joining(
                required: Book.author.filter { $0.country == "FR" })
            #expect(
                try sql(db, twice) == #"""
                    SELECT "book".*, "author".* FROM "book" JOIN "author" \#
                    ON ("author"."id" = "book"."authorId") AND ("author"."country" = ?) ["FR"]
                    """#)
            let both = Author.including(optional: Author.books.filter { $0.price > 7 }.forKey("dear"))
                .including(optional: Author.books.filter { $0.price < 7 }.forKey("cheap")).filter {
                    $0.name == "Melville"
                }
            let row = try #require(try Row.fetchOne(db, both))
            #expect(row.scopes["dear"]?["title"] == "Moby Dick")
            #expect(row.scopes["cheap"]?["title"] == "Typee")
            let other = Book.belongsTo(Author.self, using: ForeignKey(["id"], to: ["id"]))
            #expect { try sql(db, Book.including(optional: Book.author).including(optional: other)) } throws: {
                ($0 as? DatabaseError)?.message?.contains("forKey") == true
            }
        }
    }

    @Test("Rows of joined tables are scopes, however deep")
    func scopes() throws {
        try withLibrary { (db) throws in
            let request = Award.including(required: Award.book.select(Column("title")).including(required: Book.author))
            let row = try #require(try Row.fetchOne(db, request.order(Column("id"))))
            #expect(
                row == ["id": 1, "bookId": 1, "name": "gold"] || row.unscoped == ["id": 1, "bookId": 1, "name": "gold"])
            #expect(row.scopes["book"]?.unscoped == ["title": "Moby Dick"])
            #expect(row.scopes["book"]?.scopes["author"]?["name"] == "Melville")
            #expect(row.scopesTree["author"]?["name"] == "Melville")
        }
    }

    @Test("hasOne, and hasOne through another")
    func hasOne() throws {
        try withLibrary { (db) throws in
            #expect(
                try sql(db, Author.including(optional: Author.biography)) == #"""
                    SELECT "author".*, "biography".* FROM "author" LEFT JOIN "biography" \#
                    ON "biography"."authorId" = "author"."id"
                    """#)
            let request = Book.including(required: Book.authorBiography)
            #expect(
                try sql(db, request) == #"""
                    SELECT "book".*, "biography".* FROM "book" \#(authorJoin) \#
                    JOIN "biography" ON "biography"."authorId" = "author"."id"
                    """#)
            struct Info: Decodable, FetchableRecord {
                var book: Book
                var biography: Biography
            }
            #expect(
                try request.order(Column("id")).asRequest(of: Info.self).fetchAll(db).map(\.biography.text) == [
                    "Sailor", "Sailor",
                ])
        }
    }

    @Test("annotated(with…) puts the columns beside the row's own")
    func annotated() throws {
        try withLibrary { (db) throws in
            let request = Book.annotated(withOptional: Book.author.select(Column("name").forKey("author"))).order(
                Column("id"))
            #expect(
                try sql(db, request)
                    == #"""
                    SELECT "book".*, "author"."name" AS "author" FROM "book" LEFT \#(authorJoin) \#
                    ORDER BY "book"."id"
                    """#
            )
            let rows = try Row.fetchAll(db, request)
            #expect(rows.map { $0["author"] as String? } == ["Melville", "Melville", "Verne", nil])
            #expect(try Book.annotated(withRequired: Book.author).fetchCount(db) == 3)
        }
    }

    @Test("A foreign key that is not in the schema must be given")
    func foreignKeys() throws {
        try withLibrary { (db) throws in
            #expect { try sql(db, Author.including(required: Author.belongsTo(Book.self))) } throws: {
                ($0 as? DatabaseError)?.message?.contains("table author has no foreign key to book") == true
            }
            let byName = Award.hasMany(
                Award.self, key: "others", using: ForeignKey([Column("name")], to: [Column("name")]))
            #expect(
                try sql(db, Award.joining(required: byName)) == #"""
                    SELECT "award1".* FROM "award" "award1" JOIN "award" "award2" ON "award2"."name" = "award1"."name"
                    """#)
        }
    }

    @Test("Required behind optional, and groups in a join, are refused")
    func refusals() throws {
        try withLibrary { (db) throws in
            #expect(throws: DatabaseError.self) {
                try sql(db, Award.including(optional: Award.book.including(required: Book.author)))
            }
            #expect(throws: DatabaseError.self) { try sql(db, Author.including(optional: Author.books.distinct())) }
        }
    }

    @Test("Rows are deleted and updated by joined rows")
    func changes() throws {
        try withLibrary { (db) throws in
            let french = Book.joining(required: Book.author.filter { $0.country == "FR" })
            #expect(try french.updateAll(db, Column("price").set(to: 1)) == 1)
            #expect(try Book.find(db, key: 3).price == 1)
            try Award.deleteAll(db)
            #expect(try french.deleteAll(db) == 1)
            #expect(try Book.fetchCount(db) == 3)
        }
    }

    @Test("Tables without record types are joined as well")
    func tables() throws {
        try withLibrary { (db) throws in
            let books = Table("book"), authors = Table("author")
            #expect(
                try sql(db, books.including(required: books.belongsTo(authors)))
                    == #"SELECT "book".*, "author".* FROM "book" \#(authorJoin)"#)
            #expect(try authors.joining(required: authors.hasMany(books)).fetchCount(db) == 3)
            #expect(try authors.joining(optional: authors.hasOne(books)).fetchCount(db) == 4)
        }
    }

    @Test("The columns of a row are those of one record: another key without a scope is missing")
    func oneMainRecord() throws {
        struct Two: Decodable, FetchableRecord {
            var author: Author
            var editor: Author
        }
        struct Dated: Decodable, FetchableRecord {
            var author: Author
            var issued: Date
        }
        func missingKey<T: FetchableRecord>(_ db: Database, _ type: T.Type) -> String? {
            let result = Result { try Author.all().asRequest(of: type).fetchOne(db) }
            guard case .failure(DecodingError.keyNotFound(let key, let context)) = result else { return nil }
            return key.stringValue + ": " + context.debugDescription
        }
        try withLibrary { (db) throws in
            #expect(missingKey(db, Two.self) == "editor: No such key: author or editor")
            #expect(missingKey(db, Dated.self) == "issued: No such key: author or issued")
        }
    }

    @Test("Rows decode one after the other, each with a record of its own columns and one of a scope")
    func mainRecordOfEachRow() throws {
        struct Info: Decodable, FetchableRecord {
            var book: Book
            var author: Author?
        }
        try withLibrary { (db) throws in
            let infos = try Book.including(optional: Book.author).orderByPrimaryKey().asRequest(of: Info.self).fetchAll(
                db)
            #expect(try infos.map(\.book) == Book.orderByPrimaryKey().fetchAll(db))
            #expect(infos.map(\.author?.id) == infos.map(\.book.authorId))
        }
    }

    @Test("An enum without a column is a missing column")
    func missingEnum() throws {
        enum Kind: String, Decodable { case novel }
        struct Info: Decodable, FetchableRecord { var kind: Kind }
        try withLibrary { (db) throws in
            let error = try #require(throws: RowDecodingError.self) {
                _ = try Author.all().asRequest(of: Info.self).fetchOne(db)
            }
            #expect(error.description.hasPrefix(#"column not found: "kind""#))
        }
    }

    @Test("A table that is joined or prefetched again comes last")
    func joinedAgain() throws {
        try withLibrary { (db) throws in
            let request = Book.joining(required: Book.author).annotated(with: Book.awards.count).joining(
                optional: Book.author)
            #expect(
                try sql(db, request).contains(
                    #"""
                    FROM "book" LEFT JOIN "award" ON "award"."bookId" = "book"."id" \#
                    JOIN "author" ON "author"."id" = "book"."authorId"
                    """#))
            let books = Author.books.order(Column("title"))
            let prefetches = try statements(db) {
                _ = try Row.fetchAll(
                    db, Author.including(all: books).including(all: Author.awards).including(all: books))
            }
            #expect(prefetches.count == 3)
            #expect(prefetches.last?.hasSuffix(#"ORDER BY "title""#) == true)
        }
    }
}
