import Strongroom
import TestSupport
import Testing

/// Refers to its own kind.
private struct Employee: Codable, Equatable, FetchableRecord, PersistableRecord {
    var id: Int
    var bossId: Int?
    var name: String

    static let boss = belongsTo(Employee.self, key: "boss")
    static let staff = hasMany(Employee.self, key: "staff")
}

private struct Country: Codable, FetchableRecord, PersistableRecord {
    var code: String
    var year: Int
    static let cities = hasMany(City.self)
    static let mayors = hasMany(Mayor.self, through: cities, using: City.mayor)
}

private struct City: Codable, FetchableRecord, PersistableRecord {
    var id: Int
    var countryCode: String
    var countryYear: Int
    static let country = belongsTo(Country.self)
    static let mayor = hasOne(Mayor.self)
}

private struct Mayor: Codable, Equatable, FetchableRecord, PersistableRecord {
    var id: Int
    var cityId: Int
}

@Suite("Associations: special keys")
struct MoreAssociationTests {
    private func withEmployees(_ body: (Database) throws -> Void) throws {
        try withDatabase { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE employee (id INTEGER PRIMARY KEY, bossId INTEGER REFERENCES employee(id), name TEXT);
                    INSERT INTO employee VALUES (1, NULL, 'Ada'), (2, 1, 'Bob'), (3, 1, 'Cy'), (4, 2, 'Di');
                    """)
            try body(db)
        }
    }

    private func withCountries(_ body: (Database) throws -> Void) throws {
        try withDatabase { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE country (code TEXT, year INTEGER, PRIMARY KEY (code, year)) WITHOUT ROWID;
                    CREATE TABLE city (id INTEGER PRIMARY KEY, countryCode TEXT, countryYear INTEGER,
                        FOREIGN KEY (countryCode, countryYear) REFERENCES country);
                    CREATE TABLE mayor (id INTEGER PRIMARY KEY, cityId INTEGER REFERENCES city);
                    INSERT INTO country VALUES ('FR', 1900), ('FR', 2000), ('DE', 2000);
                    INSERT INTO city VALUES (1, 'FR', 1900), (2, 'FR', 2000), (3, 'FR', 2000);
                    INSERT INTO mayor VALUES (10, 2), (20, 3);
                    """)
            try body(db)
        }
    }

    @Test("A table refers to itself, both ways")
    func selfReference() throws {
        struct Info: Decodable, FetchableRecord {
            var employee: Employee
            var boss: Employee?
            var staff: [Employee]
        }
        try withEmployees { (db) throws in
            let request = Employee.including(optional: Employee.boss).including(all: Employee.staff.order(Column("id")))
                .order(Column("id"))
            #expect(
                try sql(db, request) == #"""
                    SELECT "employee1".*, "employee2".* FROM "employee" "employee1" \#
                    LEFT JOIN "employee" "employee2" ON "employee2"."id" = "employee1"."bossId" \#
                    ORDER BY "employee1"."id"
                    """#)
            let infos = try request.asRequest(of: Info.self).fetchAll(db)
            #expect(infos.map(\.boss?.name) == [nil, "Ada", "Ada", "Bob"])
            #expect(infos.map { $0.staff.map(\.name) } == [["Bob", "Cy"], ["Di"], [], []])
            #expect(
                try Employee.annotated(with: Employee.staff.count).order(Column("id")).asRequest(of: Row.self).fetchAll(
                    db
                )
                .map { $0["staffCount"] as Int } == [2, 1, 0, 0])
        }
    }

    @Test("Names of aliases and numbers keep out of each other's way")
    func names() throws {
        try withEmployees { (db) throws in
            let request = Employee.aliased(TableAlias(name: "employee")).joining(
                optional: Employee.boss.joining(optional: Employee.boss))
            #expect(
                try sql(db, request) == #"""
                    SELECT "employee".* FROM "employee" \#
                    LEFT JOIN "employee" "employee1" ON "employee1"."id" = "employee"."bossId" \#
                    LEFT JOIN "employee" "employee2" ON "employee2"."id" = "employee1"."bossId"
                    """#)
            #expect(try request.fetchCount(db) == 4)
        }
    }

    @Test("A foreign key of several columns")
    func composite() throws {
        try withCountries { (db) throws in
            #expect(
                try sql(db, City.joining(required: City.country)) == #"""
                    SELECT "city".* FROM "city" JOIN "country" \#
                    ON ("country"."code" = "city"."countryCode") AND ("country"."year" = "city"."countryYear")
                    """#)
            let rows = try Row.fetchAll(
                db, Country.including(all: Country.cities).including(all: Country.mayors).orderByPrimaryKey())
            #expect(rows.map { $0.prefetchedRows["cities"]!.map { $0["id"] as Int } } == [[], [1], [2, 3]])
            #expect(rows.map { $0.prefetchedRows["mayors"]!.map { $0["id"] as Int } } == [[], [], [10, 20]])
            let france = try Country.find(db, key: ["code": "FR", "year": 2000])
            #expect(
                try sql(db, france.request(for: Country.cities))
                    == #"SELECT * FROM "city" WHERE ("countryCode" = ?) AND ("countryYear" = ?) ["FR", 2000]"#)
            #expect(
                try france.request(for: Country.mayors).fetchAll(db) == [
                    Mayor(id: 10, cityId: 2), Mayor(id: 20, cityId: 3),
                ])
            let countries = City.hasMany(
                Country.self, using: ForeignKey(["code", "year"], to: ["countryCode", "countryYear"]))
            #expect(throws: DatabaseError.self) { try sql(db, City.annotated(with: countries.count)) }
        }
    }

    @Test("A subquery looks at the table around it, joined or not")
    func correlated() throws {
        try withLibrary { (db) throws in
            let author = TableAlias<Author>(), book = TableAlias<Book>()
            let awards = Award.filter(Column("bookId") == book[Column("id")])
            let request = Book.aliased(book).joining(required: Book.author.aliased(author)).filter(awards.exists())
            #expect(
                try sql(db, request) == #"""
                    SELECT "book".* FROM "book" JOIN "author" ON "author"."id" = "book"."authorId" \#
                    WHERE EXISTS (SELECT * FROM "award" WHERE "bookId" = "book"."id")
                    """#)
            #expect(try request.fetchAll(db).map(\.id) == [1, 3])
            let others = Book.filter(Column("authorId") == author[Column("id")])
            #expect(
                try Author.aliased(author).joining(optional: Author.biography).filter(others.exists()).fetchCount(db)
                    == 2)
            let hidden = Author.filter(Column("name") == author[Column("name")])
            #expect(throws: DatabaseError.self) {
                try sql(db, Author.aliased(author).joining(optional: Author.biography).filter(hidden.exists()))
            }
        }
    }

    @Test("An optional row that is not there has no key")
    func existence() throws {
        try withLibrary { (db) throws in
            let biography = TableAlias<Biography>()
            let request = Author.joining(optional: Author.biography.aliased(biography)).filter(!biography.exists)
            #expect(try request.order(Column("id")).fetchAll(db).map(\.id) == [2, 3])
        }
    }

    @Test("An observation is notified of changes of prefetched rows, and of full-text tables")
    func observation() async throws {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path("db"), configuration: .encrypted())
        try await queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE employee (id INTEGER PRIMARY KEY, bossId INTEGER REFERENCES employee(id), name TEXT);
                    INSERT INTO employee VALUES (1, NULL, 'Ada');
                    CREATE TABLE award (id INTEGER PRIMARY KEY, employeeId INTEGER REFERENCES employee);
                    CREATE VIRTUAL TABLE document USING fts5(title, body);
                    """)
        }
        let notified = Notified<[Int]>()
        let cancellable = ValueObservation.tracking { db -> [Int] in
            let awards = Employee.hasMany(Table("award"))
            let rows = try Row.fetchAll(db, Employee.including(all: awards))
            let found = Document.matching(FTS5Pattern(matchingAllTokensIn: "moby"))
            return try [rows[0].prefetchedRows["awards"]!.count, found.fetchCount(db)]
        }.notify(notified, in: queue)
        try await notified.reaches([0, 0])
        try await queue.write { db in try db.execute(sql: "INSERT INTO award VALUES (1, 1)") }
        try await notified.reaches([1, 0])
        try await queue.write { db in try Document(title: "Moby", body: "").insert(db) }
        try await notified.reaches([1, 1])
        cancellable.cancel()
    }

    @Test("An optional row exists if a column that identifies it is not NULL")
    func existenceOfAnyTable() throws {
        try withLibrary { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE edition (bookId INTEGER, year INTEGER, PRIMARY KEY (bookId, year)) WITHOUT ROWID;
                    CREATE TABLE shelf (name TEXT PRIMARY KEY, bookId INTEGER);
                    CREATE VIEW rarity AS SELECT NULL AS note, id AS bookId FROM book WHERE id = 1;
                    INSERT INTO edition VALUES (1, 1851); INSERT INTO shelf VALUES (NULL, 1);
                    """)
            func conditions(_ table: String) throws -> String {
                let book = ForeignKey(["bookId"], to: ["id"]), alias = TableAlias()
                let association = Book.hasOne(Table(table), using: book).aliased(alias)
                let request = Book.joining(optional: association).filter(alias.exists)
                let text = try sql(db, request)
                #expect(try Book.joining(optional: association).filter(!alias.exists).fetchCount(db) == 3)
                #expect(try request.fetchAll(db).map(\.id) == [1])
                return String(text[text.range(of: "WHERE ")!.upperBound...])
            }
            #expect(try conditions("edition") == #"("edition"."bookId" IS NOT NULL) OR ("edition"."year" IS NOT NULL)"#)
            #expect(try conditions("shelf") == #""shelf"."rowid" IS NOT NULL"#)
            #expect(try conditions("rarity") == #"("rarity"."note" IS NOT NULL) OR ("rarity"."bookId" IS NOT NULL)"#)
        }
    }
}
