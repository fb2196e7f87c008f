import Strongroom
import Testing

@Suite("Associations: rows that belong to others")
struct PrefetchTests {
    struct AuthorInfo: Decodable, Equatable, FetchableRecord {
        var author: Author
        var books: [Book]
    }

    @Test("including(all:) fetches with one more statement")
    func hasMany() throws {
        try withLibrary { (db) throws in
            let request = Author.including(all: Author.books.order(\.price)).order(Column("id"))
            var infos: [AuthorInfo] = []
            let all = try statements(db) { infos = try request.asRequest(of: AuthorInfo.self).fetchAll(db) }
            #expect(infos.map { $0.books.map(\.title) } == [["Typee", "Moby Dick"], ["Nautilus"], []])
            #expect(all.count == 2)
            #expect(
                all.last == #"""
                    SELECT *, "authorId" AS "grdb_authorId" FROM "book" WHERE "authorId" IN (?, ?, ?) ORDER BY "price"
                    """#)
        }
    }

    @Test("Prefetched rows show the selected columns, and the rows that they belong to")
    func rows() throws {
        try withLibrary { (db) throws in
            let row = try #require(
                try Row.fetchOne(db, Author.including(all: Author.books.select(Column("title"))).order(Column("id"))))
            #expect(
                row.prefetchedRows["books"] == [
                    ["title": "Moby Dick", "grdb_authorId": 1], ["title": "Typee", "grdb_authorId": 1],
                ])
            #expect((row["books"] as [BookTitle]).map(\.title) == ["Moby Dick", "Typee"])
        }
    }

    struct BookTitle: Decodable, FetchableRecord {
        var title: String
    }

    @Test("Associated rows of associated rows")
    func nested() throws {
        struct BookInfo: Decodable, FetchableRecord {
            var book: Book
            var awards: [Award]
        }
        struct Info: Decodable, FetchableRecord {
            var author: Author
            var books: [BookInfo]
        }
        try withLibrary { (db) throws in
            let request = Author.including(
                all: Author.books.including(all: Book.awards.order(Column("id"))).order(Column("id")))
            let infos = try request.order(Column("id")).asRequest(of: Info.self).fetchAll(db)
            #expect(infos[0].books.map { $0.awards.map(\.name) } == [["gold", "silver"], []])
            #expect(infos[1].books.map { $0.awards.map(\.name) } == [["gold"]])
            #expect(infos[2].books.isEmpty)
        }
    }

    @Test("Associated rows of a joined row")
    func joined() throws {
        struct Info: Decodable, FetchableRecord {
            struct AuthorInfo: Decodable {
                var author: Author
                var books: [Book]
            }
            var book: Book
            var author: Author?
            var books: [Book]
        }
        try withLibrary { (db) throws in
            let request = Book.including(optional: Book.author.including(all: Author.books.order(Column("id")))).order(
                Column("id"))
            let rows = try Row.fetchAll(db, request)
            #expect(rows.map { $0.scopes["author"]!.prefetchedRows["books"]!.count } == [2, 2, 1, 0])
            #expect(try Info(row: rows[0]).books.map(\.title) == ["Moby Dick", "Typee"])
        }
    }

    @Test("Any number of rows by way of another table")
    func through() throws {
        struct Info: Decodable, FetchableRecord {
            var author: Author
            var awards: [Award]
        }
        try withLibrary { (db) throws in
            let request = Author.including(all: Author.awards.order(Column("id"))).order(Column("id"))
            var infos: [Info] = []
            let all = try statements(db) { infos = try request.asRequest(of: Info.self).fetchAll(db) }
            #expect(infos.map { $0.awards.map(\.id) } == [[1, 2], [3], []])
            #expect(
                all.last == #"""
                    SELECT "award".*, "book"."authorId" AS "grdb_authorId" FROM "award" JOIN "book" \#
                    ON ("book"."id" = "award"."bookId") AND ("book"."authorId" IN (?, ?, ?)) ORDER BY "award"."id"
                    """#)
        }
    }

    @Test("More rows than a statement takes arguments")
    func many() throws {
        try withLibrary { (db) throws in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
                    INSERT INTO author SELECT i, 'x', NULL FROM n;
                    INSERT INTO book SELECT id, id, 't', 1 FROM author WHERE id >= 100;
                    """)
            let rows = try Row.fetchAll(db, Author.filter(Column("id") >= 100).including(all: Author.books))
            #expect(rows.count == 39_901)
            #expect(rows.allSatisfy { $0.prefetchedRows["books"]?.count == 1 })
        }
    }

    @Test("A list of values has the leftmost column of its rows")
    func values() throws {
        enum Title: String, Codable { case moby = "Moby Dick", typee = "Typee" }
        struct Info: Decodable, FetchableRecord {
            var titles: [String]
            var enums: Set<Title>
            var prices: [Double?]
        }
        try withLibrary { (db) throws in
            let request = Author.filter(Column("id") == 1)
                .including(all: Author.books.order(Column("id")).select(Column("title")).forKey("titles"))
                .including(all: Author.books.select(Column("title")).distinct().forKey("enums"))
                .including(all: Author.books.select(SQL("NULL").sqlExpression.forKey("x")).forKey("prices"))
            let info = try #require(try request.asRequest(of: Info.self).fetchOne(db))
            #expect(info.titles == ["Moby Dick", "Typee"])
            #expect(info.enums == [.moby, .typee])
            #expect(info.prices == [nil, nil])
        }
    }

    @Test("A missing list of prefetched rows is an error that names the existing lists")
    func missingList() throws {
        struct Info: Decodable, FetchableRecord {
            var works: [Book]
            var author: Author
        }
        struct Titles: Decodable, FetchableRecord {
            var titles: Set<String>
            var author: Author
        }
        func missingKey<T: FetchableRecord>(_ db: Database, _ request: QueryInterfaceRequest<T>) -> String? {
            let result = Result { try request.fetchOne(db) }
            guard case .failure(DecodingError.keyNotFound(let key, let context)) = result else { return nil }
            return key.stringValue + ": " + context.debugDescription
        }
        try withLibrary { (db) throws in
            let request = Author.including(all: Author.books)
            let works = missingKey(db, request.asRequest(of: Info.self))
            #expect(works == #"works: Available keys for prefetched rows: ["books"]"#)
            let titles = missingKey(db, Author.all().asRequest(of: Titles.self))
            #expect(titles == "titles: No available prefetched rows")
        }
    }

    @Test("A request without the column that rows belong to says so")
    func missingColumn() throws {
        try withLibrary { (db) throws in
            #expect { try Row.fetchAll(db, Author.select(Column("name")).including(all: Author.books)) } throws: {
                ($0 as? DatabaseError)?.message?.contains("needs the column id") == true
            }
        }
    }

    @Test("The region of a request includes prefetched rows")
    func region() throws {
        try withLibrary { (db) throws in
            let region = try Author.including(all: Author.awards).databaseRegion(db)
            #expect(region.isModified(byEventsOfKind: .insert(tableName: "award")))
            #expect(region.isModified(byEventsOfKind: .insert(tableName: "book")))
            #expect(!region.isModified(byEventsOfKind: .insert(tableName: "biography")))
        }
    }

    @Test("request(for:) requests the associated rows of a record")
    func requestFor() throws {
        try withLibrary { (db) throws in
            let author = try Author.find(db, key: 1), book = try Book.find(db, key: 3), edda = try Book.find(db, key: 4)
            #expect(try sql(db, author.request(for: Author.books)) == #"SELECT * FROM "book" WHERE "authorId" = ? [1]"#)
            #expect(
                try author.request(for: Author.books.order(\.title)).fetchAll(db).map(\.title) == [
                    "Moby Dick", "Typee",
                ])
            #expect(try book.request(for: Book.author).fetchOne(db)?.name == "Verne")
            #expect(try edda.request(for: Book.author).fetchOne(db) == nil)
            #expect(
                try sql(db, author.request(for: Author.awards)) == #"""
                    SELECT "award".* FROM "award" JOIN "book" ON ("book"."id" = "award"."bookId") \#
                    AND ("book"."authorId" = ?) [1]
                    """#)
            #expect(try author.request(for: Author.awards).fetchCount(db) == 2)
            let authors = try Award.fetchAll(db).map { try $0.request(for: Award.author).fetchOne(db)?.name }
            #expect(authors == ["Melville", "Melville", "Verne"])
            #expect(try author.request(for: Author.books.filter { $0.price < 10 }).deleteAll(db) == 1)
        }
    }

    @Test("Tables between, of the same key on the same way, have all conditions of each other")
    func sharedPivots() throws {
        try withLibrary { (db) throws in
            func awards(_ condition: SQLExpression, book: String = "books") -> HasManyThroughAssociation<Author, Award>
            {
                Author.hasMany(Award.self, through: Author.books.filter(condition).forKey(book), using: Book.awards)
            }
            let cheap = Column("price") < 9, long = Column("title") != "Typee"
            let shared = Author.including(all: awards(cheap).forKey("cheap")).including(
                all: awards(long).forKey("long"))
            let row = try #require(try Row.fetchOne(db, shared.filter(key: 2)))
            #expect(row.prefetchedRows["cheap"]?.count == 1 && row.prefetchedRows["long"]?.count == 1)
            let first = try #require(try Row.fetchOne(db, shared.filter(key: 1)))
            #expect(first.prefetchedRows["cheap"] == [] && first.prefetchedRows["long"] == [])
            let apart = Author.including(all: awards(cheap, book: "cheapBooks").forKey("cheap"))
                .including(all: awards(long, book: "longBooks").forKey("long"))
            let other = try #require(try Row.fetchOne(db, apart.filter(key: 1)))
            #expect(other.prefetchedRows["cheap"] == [] && other.prefetchedRows["long"]?.count == 2)
        }
    }

    @Test("Associated rows of a joined row without selected columns belong to the row itself")
    func unselectedPath() throws {
        try withLibrary { (db) throws in
            let request = Book.joining(optional: Book.author.including(all: Author.awards)).order(Column("id"))
            let row = try #require(try Row.fetchOne(db, request))
            #expect(row.scopes.isEmpty)
            #expect(row.prefetchedRows["awards"]?.count == 2)
            #expect(
                row.debugDescription == """
                    ▿ [id:1 authorId:1 title:"Moby Dick" price:10]
                      + awards: 2 rows
                    """)
        }
    }
}
