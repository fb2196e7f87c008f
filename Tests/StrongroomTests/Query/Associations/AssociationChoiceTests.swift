import Foundation
import Strongroom
import Testing

private struct Employee: Codable, FetchableRecord, PersistableRecord {
    var id: Int
    var bossId: Int?
    var deputyId: Int?

    static let boss = belongsTo(Employee.self, key: "other", using: ForeignKey(["bossId"]))
    static let deputy = belongsTo(Employee.self, key: "deputy", using: ForeignKey(["deputyId"]))
    static let substitute = hasOne(Employee.self, key: "other", using: ForeignKey(["bossId"]))
}

private func withStaff(_ body: (Database) throws -> Void) throws {
    try withDatabase { db in
        try db.execute(
            sql: """
                CREATE TABLE employee (
                    id INTEGER PRIMARY KEY, bossId INTEGER REFERENCES employee(id), deputyId INTEGER \
                    REFERENCES employee(id));
                INSERT INTO employee VALUES (1, NULL, 2), (2, 1, 3), (3, 2, NULL);
                """)
        try body(db)
    }
}

@Suite("Associations use the given foreign key")
struct AssociationChoiceTests {
    @Test("A foreign key named by its columns is chosen among several to the same table")
    func severalForeignKeys() throws {
        try withStaff { db in
            let request = Employee.including(optional: Employee.deputy).including(optional: Employee.boss)
                .orderByPrimaryKey()
            let rows = try Row.fetchAll(db, request)
            #expect(rows.map { $0.scopes["deputy"]?["id"] as Int? } == [2, 3, nil])
            #expect(rows.map { $0.scopes["other"]?["id"] as Int? } == [nil, 1, 2])
        }
    }

    @Test("The two directions of one foreign key are two associations, even under one key")
    func directions() throws {
        try withStaff { db in
            let request = Employee.joining(optional: Employee.boss).joining(optional: Employee.substitute)
            let error = try #require(throws: DatabaseError.self) { _ = try request.fetchAll(db) }
            #expect(error.message?.contains("two associations have the key other") == true)
        }
    }

    @Test("A table that is called like the alias of another gets a name of its own")
    func namesake() throws {
        try withLibrary { (db) throws in
            let alias = TableAlias<Book>(name: "author")
            let request = Book.all().aliased(alias).joining(required: Book.author)
            #expect(
                try sql(db, request)
                    == #"""
                    SELECT "author".* FROM "book" "author" JOIN "author" "author1" \#
                    ON "author1"."id" = "author"."authorId"
                    """#
            )
        }
    }

    @Test("The common tables of joined requests are defined for the whole statement")
    func commonTables() throws {
        try withLibrary { (db) throws in
            let ids = CommonTableExpression(named: "ids", sql: "SELECT 1")
            let author = Book.author.with(ids).filter(ids.contains(Column("id")))
            let request = Book.joining(required: author).order(Column("id"))
            #expect(
                try sql(db, request).hasPrefix(#"WITH "ids" AS (SELECT 1) SELECT "book".* FROM "book" JOIN "author""#))
            #expect(try request.fetchAll(db).allSatisfy { $0.authorId == 1 })
        }
    }

    @Test("A row without key has no associated rows")
    func nullKey() throws {
        try withLibrary { (db) throws in
            let orphan = Book(id: 9, authorId: nil, title: "", price: 0)
            #expect(try sql(db, orphan.request(for: Book.author)) == #"SELECT * FROM "author" WHERE ? [0]"#)
        }
    }

    @Test("Rows are prefetched for keys in their order, and not for missing ones")
    func prefetchWithoutKey() throws {
        try withStaff { db in
            let chiefs = Employee.hasMany(Employee.self, key: "chiefs", using: ForeignKey(["id"], to: ["bossId"]))
            var prefetches: [String] = []
            db.trace { prefetches.append($0.expandedDescription) }
            let rows = try Row.fetchAll(db, Employee.including(all: chiefs).orderByPrimaryKey().reversed())
            db.trace(nil)
            #expect(rows.map { $0.prefetchedRows["chiefs"]?.count } == [1, 1, 0])
            #expect(prefetches.last?.hasSuffix(#"WHERE "id" IN (1, 2)"#) == true)
        }
    }

    @Test("Rows behind a joined table are prefetched without its other joins")
    func prefetchBehind() throws {
        try withLibrary { (db) throws in
            let book = Award.book.including(required: Book.author).including(all: Book.awards.forKey("siblings"))
            let all = try statements(db) { _ = try Row.fetchAll(db, Award.including(required: book)) }
            #expect(all.count == 2)
            #expect(all.last?.contains(#"JOIN "book""#) == true)
            #expect(all.last?.contains("author\"") == false)
        }
    }

    @Test("An aggregate is compared with a truth")
    func truth() throws {
        try withLibrary { (db) throws in
            let isEmpty = #"HAVING COUNT(DISTINCT "book"."id") = 0"#,
                isNotEmpty = #"HAVING COUNT(DISTINCT "book"."id") > 0"#
            for (aggregate, having) in [
                (Author.books.isEmpty == true, isEmpty), (Author.books.isEmpty == false, isNotEmpty),
                (Author.books.isEmpty != false, isEmpty), (Author.books.isEmpty != true, isNotEmpty),
            ] {
                #expect(try sql(db, Author.having(aggregate)).hasSuffix(having))
            }
        }
    }

    @Test("A common table is defined once when rows are changed by joined rows")
    func changedRows() throws {
        try withLibrary { (db) throws in
            let ids = CommonTableExpression(named: "ids", sql: "SELECT 1")
            let request = Book.with(ids).joining(required: Book.author).filter(ids.contains(Column("id")))
            try db.execute(sql: "DELETE FROM award")
            let deletion = try statements(db) { try request.deleteAll(db) }.last
            #expect(deletion?.components(separatedBy: "WITH ").count == 2)
            #expect(
                deletion?.hasPrefix(#"WITH "ids" AS (SELECT 1) DELETE FROM "book" WHERE "id" IN (SELECT "book"."id""#)
                    == true)
        }
    }

    @Test("Of foreign keys to several tables, the one to the table of the association is taken")
    func severalTables() throws {
        struct Review: Codable, FetchableRecord, PersistableRecord {
            var id: Int
            static let book = belongsTo(Book.self)
            static let author = belongsTo(Author.self)
        }
        try withLibrary { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE review (
                        id INTEGER PRIMARY KEY, writerId INTEGER REFERENCES author(id), subjectId INTEGER \
                        REFERENCES book(id))
                    """)
            #expect(
                try sql(db, Review.joining(required: Review.author)).hasSuffix(
                    #"ON "author"."id" = "review"."writerId""#))
            #expect(
                try sql(db, Review.joining(required: Review.book)).hasSuffix(#"ON "book"."id" = "review"."subjectId""#))
        }
    }

    @Test("A table that is joined twice under one key has the common tables of both")
    func mergedCommonTables() throws {
        try withLibrary { (db) throws in
            let ids = CommonTableExpression(named: "ids", sql: "SELECT 1")
            let request = Book.joining(required: Book.author)
                .joining(required: Book.author.with(ids).filter(ids.contains(Column("id"))))
            #expect(try sql(db, request).hasPrefix(#"WITH "ids" AS (SELECT 1) SELECT"#))
        }
    }

    @Test("Rows of a table whose key is not the rowid are identified by the rowid")
    func rowIDs() throws {
        try withDatabase { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE word (text TEXT PRIMARY KEY, length INTEGER);
                    INSERT INTO word VALUES ('a', 1), (NULL, 2), (NULL, 3);
                    """)
            let request = Table("word").all().group(Column("length")).having(Column("length") > 1)
            let deletion = try statements(db) { () throws in #expect(try request.deleteAll(db) == 2) }.last
            #expect(deletion?.hasPrefix(#"DELETE FROM "word" WHERE "rowid" IN (SELECT "rowid" FROM "word""#) == true)
        }
    }

    @Test("Rows are prefetched for a joined table of which nothing is selected")
    func prefetchBehindUnselected() throws {
        try withLibrary { (db) throws in
            let rows = try Row.fetchAll(
                db,
                Award.joining(required: Award.book.including(all: Book.awards.forKey("siblings"))).orderByPrimaryKey())
            let expected = try Award.orderByPrimaryKey().fetchAll(db).map { award in
                try Award.filter(Column("bookId") == award.bookId).fetchCount(db)
            }
            #expect(rows.map { $0.prefetchedRows["siblings"]?.count } == expected)
        }
    }

    @Test("Two tables under one key are two associations")
    func tablesUnderOneKey() throws {
        try withLibrary { (db) throws in
            let one = CommonTableExpression(named: "one", sql: "SELECT 1 AS a"),
                two = CommonTableExpression(named: "two", sql: "SELECT 2 AS a")
            let request = Book.with(one).with(two)
                .joining(required: Book.association(to: one).forKey("number"))
                .joining(required: Book.association(to: two).forKey("number"))
            let error = try #require(throws: DatabaseError.self) { _ = try request.fetchAll(db) }
            #expect(error.message?.contains("two associations have the key number") == true)
        }
    }

    @Test("Columns that are selected with SQL text leave those of joined tables where they are")
    func selectedText() throws {
        try withLibrary { (db) throws in
            let request = Book.select(sql: "book.id, book.title").including(required: Book.author).order(Column("id"))
            let row = try #require(try Row.fetchOne(db, request))
            #expect(Array(row.columnNames) == ["id", "title"])
            #expect(row.scopes["author"].map { Array($0.columnNames) } == ["id", "name", "country"])
        }
    }

    @Test("A request that can't be joined can't lead to other rows")
    func obstacleOnTheWay() throws {
        try withLibrary { (db) throws in
            let awards = Author.hasMany(Award.self, through: Author.books.distinct(), using: Book.awards)
            let error = try #require(throws: DatabaseError.self) {
                _ = try Row.fetchAll(db, Author.including(all: awards))
            }
            #expect(error.message?.contains("distinct()") == true)
        }
    }

    @Test("A number less an aggregate is not the aggregate less the number")
    func subtraction() throws {
        try withLibrary { (db) throws in
            let count = #"COUNT(DISTINCT "book"."id")"#
            #expect(try sql(db, Author.having(10 - Author.books.count > 8)).contains("(? - \(count)) > ?"))
            #expect(try sql(db, Author.having(Author.books.count - 10 > 8)).contains("(\(count) - ?) > ?"))
        }
    }

    @Test("Prefetches of one key that go different ways: the last one counts")
    func replacedPrefetch() throws {
        try withLibrary { (db) throws in
            let request = Author.including(all: Author.books.forKey("works")).including(
                all: Author.awards.forKey("works"))
            let row = try #require(try Row.fetchOne(db, request.order(Column("id"))))
            #expect(row.prefetchedRows["works"]?.map { $0["name"] as String? } == ["gold", "silver"])
        }
    }

    @Test("A table that is joined twice under one key has the prefetches of both")
    func mergedPrefetches() throws {
        try withLibrary { (db) throws in
            let request = Award.including(required: Award.book.including(all: Book.awards.forKey("siblings")))
                .including(
                    required: Award.book.including(
                        all: Book.hasMany(Author.self, key: "writers", using: ForeignKey(["id"], to: ["authorId"]))))
            let row = try #require(try Row.fetchOne(db, request))
            #expect(row.prefetchedRows.keys == ["siblings", "writers"])
        }
    }

    @Test("All columns of another table that annotate a row don't move those of joined tables")
    func annotatedWithAll() throws {
        try withLibrary { (db) throws in
            let request = Book.annotated(withRequired: Book.author.select(AllColumns()).forKey("writer"))
                .including(optional: Book.author).order(Column("id"))
            let row = try #require(try Row.fetchOne(db, request))
            #expect(Array(row.columnNames) == ["id", "authorId", "title", "price", "id", "name", "country"])
            #expect(row.scopes["author"].map { Array($0.columnNames) } == ["id", "name", "country"])
        }
    }

    @Test("The key of associated rows is singular for one row, and plural for many")
    func keyOfWay() throws {
        try withLibrary { (db) throws in
            let medals = Author.hasMany(Award.self, through: Author.books, using: Book.awards, key: "medals")
            #expect(try Row.fetchOne(db, Author.including(all: medals))?.prefetchedRows.keys == ["medals"])
            let joined = try Row.fetchOne(db, Author.including(required: medals))
            #expect(joined?.scopesTree.names.contains("medal") == true)
        }
    }

    @Test("An expression of an alias is an operand like any other")
    func aliasedOperand() throws {
        try withLibrary { (db) throws in
            let alias = TableAlias<Book>(name: "b")
            let price = alias[Column("price") + 1] * 2
            #expect(try sql(db, Book.all().aliased(alias).filter(price > 5)).contains(#"(("b"."price" + ?) * ?) > ?"#))
        }
    }

    @Test("One row of joined rows is limited, even where one key is given")
    func oneOfJoinedRows() throws {
        try withLibrary { (db) throws in
            let request = Author.joining(optional: Author.books).filter(Column("id") == 1)
            #expect(try request.makePreparedRequest(db, forSingleResult: true).statement.sql.hasSuffix("LIMIT 1"))
        }
    }

    @Test("SQL text is refused in the selection of two joined tables")
    func twoTexts() throws {
        try withLibrary { (db) throws in
            let request = Book.select(sql: "book.id").including(required: Book.author.select(sql: "author.id"))
            let error = try #require(throws: DatabaseError.self) { _ = try Row.fetchAll(db, request) }
            #expect(error.resultCode == .SQLITE_MISUSE)
        }
    }

    @Test("A request that can't be joined can't be joined twice either")
    func obstacleOfSecondJoin() throws {
        try withLibrary { (db) throws in
            let request = Book.joining(optional: Book.author).joining(optional: Book.author.distinct())
            let error = try #require(throws: DatabaseError.self) { _ = try request.fetchAll(db) }
            #expect(error.message?.contains("distinct()") == true)
        }
    }

    @Test("A value is compared with an aggregate in that order")
    func comparison() throws {
        try withLibrary { (db) throws in
            let count = #"COUNT(DISTINCT "book"."id")"#
            #expect(try sql(db, Author.having(1 < Author.books.count)).contains("HAVING ? < \(count)"))
            #expect(try sql(db, Author.having(Author.books.count < 1)).contains("HAVING \(count) < ?"))
        }
    }
}
