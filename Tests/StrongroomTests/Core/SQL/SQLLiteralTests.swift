import Foundation
import Strongroom
import Testing

@Suite("An SQL literal")
struct SQLLiteralTests {
    private func build(_ literal: SQL) throws -> (sql: String, arguments: StatementArguments) {
        try withDatabase { try literal.build($0) }
    }

    private func expect(
        _ literal: SQL, _ sql: String, _ arguments: StatementArguments = [],
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let built = try build(literal)
        #expect(built.sql == sql, sourceLocation: sourceLocation)
        #expect(built.arguments == arguments, sourceLocation: sourceLocation)
    }

    @Test("An SQL literal turns interpolated values into arguments, never into text")
    func values() throws {
        let name = "'; DROP TABLE player; --"
        try expect(
            "UPDATE player SET name = \(name), score = \(1.5) WHERE id = \(7)",
            "UPDATE player SET name = ?, score = ? WHERE id = ?", [name, 1.5, 7])
        try expect("SELECT \(nil as Int?), \("a".prefix(1)), \(true)", "SELECT NULL, ?, ?", ["a", true])
    }

    @Test("An SQL literal turns data into one argument")
    func data() throws {
        try expect("SELECT \(Data([1, 2]))", "SELECT ?", [Data([1, 2])])
    }

    @Test("An SQL literal turns a sequence into a list of arguments, an empty one into a query of nothing")
    func sequences() throws {
        try expect("id IN \([1, 2, 3])", "id IN (?,?,?)", [1, 2, 3])
        try expect("id IN \(Set([1]))", "id IN (?)", [1])
        try expect("id IN \([] as [Int])", "id IN (SELECT NULL WHERE NULL)")
        try expect("id IN \([1, "a", Column("b")] as [any SQLExpressible])", "id IN (?,?,\"b\")", [1, "a"])
    }

    @Test("An SQL literal quotes identifiers, columns and coding keys")
    func identifiers() throws {
        enum Keys: String, CodingKey { case name = "full name" }
        try expect("SELECT \(identifier: "a\"b") FROM \(identifier: "t")", "SELECT \"a\"\"b\" FROM \"t\"")
        try expect("SELECT \(Column("score"))", "SELECT \"score\"")
        try expect("SELECT \(Keys.name)", "SELECT \"full name\"")
        let key: any CodingKey = Keys.name
        try expect("SELECT \(key)", "SELECT \"full name\"")
    }

    @Test("An SQL literal quotes collations")
    func collations() throws {
        try expect("ORDER BY a COLLATE \(.nocase)", "ORDER BY a COLLATE NOCASE")
        let collation = DatabaseCollation("by \"length\"") { (a, b) in
            a.count < b.count ? .orderedAscending : .orderedDescending
        }
        try expect("ORDER BY a COLLATE \(collation)", "ORDER BY a COLLATE \"by \"\"length\"\"\"")
    }

    @Test("An SQL literal takes SQL as it is, with its arguments")
    func rawSQL() throws {
        try expect("SELECT \(sql: "a + ?", arguments: [1]) + \(2)", "SELECT a + ? + ?", [1, 2])
    }

    @Test("An SQL literal takes other literals")
    func literals() throws {
        let condition: SQL = "score > \(100)"
        try expect("SELECT * FROM player WHERE \(condition)", "SELECT * FROM player WHERE score > ?", [100])
        try expect("SELECT * FROM player WHERE \(literal: condition)", "SELECT * FROM player WHERE score > ?", [100])
    }

    @Test("An SQL literal takes selections and orderings")
    func selections() throws {
        let selection: any SQLSelectable = Column("a")
        let ordering: any SQLOrderingTerm = Column("b")
        try expect("SELECT \(selection) ORDER BY \(ordering)", "SELECT \"a\" ORDER BY \"b\"")
        try expect(
            "SELECT \(Column("a").sqlSelection) ORDER BY \(Column("b").sqlOrdering)", "SELECT \"a\" ORDER BY \"b\"")
    }

    @Test("An SQL literal takes queries, as values and in conditions")
    func subqueries() throws {
        let request: SQLRequest<Int> = "SELECT id FROM t WHERE n > \(5)"
        try expect("SELECT (\(request))", "SELECT (SELECT id FROM t WHERE n > ?)", [5])
        try expect(
            "SELECT * FROM t WHERE \(request.contains(1))", "SELECT * FROM t WHERE ? IN (SELECT id FROM t WHERE n > ?)",
            [1, 5])
        try expect("WHERE \(request.contains(Column("a")))", "WHERE \"a\" IN (SELECT id FROM t WHERE n > ?)", [5])
        try expect("WHERE \(request.exists())", "WHERE EXISTS (SELECT id FROM t WHERE n > ?)", [5])
    }

    @Test("An SQL literal is added to, appended to and joined")
    func combining() throws {
        var literal: SQL = "SELECT \(1)"
        literal.append(sql: ", ?", arguments: [2])
        literal.append(literal: ", \(3)")
        literal += ", 4"
        try expect(literal + " FROM t", "SELECT ?, ?, ?, 4 FROM t", [1, 2, 3])
        let parts: [SQL] = ["a = \(1)", "b = \(2)"]
        try expect(parts.joined(separator: " AND "), "a = ? AND b = ?", [1, 2])
        try expect(AnySequence(parts).joined(), "a = ?b = ?", [1, 2])
        try expect(([] as [SQL]).joined(separator: ","), "")
    }

    @Test("An SQL literal knows whether it is empty")
    func emptiness() {
        #expect(SQL("").isEmpty)
        #expect(SQL(sql: "").isEmpty)
        #expect(("\(sql: "")" as SQL).isEmpty)
        #expect(!SQL(" ").isEmpty)
        #expect(!("\(1)" as SQL).isEmpty)
    }

    @Test("An SQL literal is run by a connection")
    func running() throws {
        try withDatabase { db in
            let (name, scores) = ("O'Brien", [10, 20])
            try db.execute(
                literal: """
                    CREATE TABLE player (name TEXT, score INTEGER);
                    INSERT INTO player VALUES (\(name), \(scores[0]));
                    INSERT INTO player VALUES (\(name), \(scores[1]));
                    """)
            let statement = try db.makeStatement(literal: "SELECT score FROM player WHERE name = \(name) ORDER BY 1")
            #expect(try Int.fetchAll(statement) == scores)
            let cached = try db.cachedStatement(literal: "SELECT COUNT(*) FROM player WHERE score IN \([10, 30])")
            #expect(try Int.fetchOne(cached) == 1)
            let statements = try db.allStatements(literal: "SELECT \(1); SELECT \(2)")
            #expect(try Array(statements.map { try Int.fetchOne($0)! }) == [1, 2])
        }
    }

    @Test("An SQL literal without interpolated values leaves the arguments to the caller")
    func argumentsAfterwards() throws {
        try withDatabase { db throws in
            try db.makeStatement(literal: "CREATE TABLE player (name TEXT, score INTEGER)").execute()
            try db.makeStatement(literal: "INSERT INTO player VALUES (?, ?)").execute(arguments: ["Arthur", 10])
            try db.cachedStatement(literal: "INSERT INTO player VALUES (:name, :score)")
                .execute(arguments: ["name": "Barbara", "score": 20])
            let statements = try db.allStatements(
                literal: """
                    SELECT name FROM player WHERE score > ?; SELECT name FROM player WHERE score < ?
                    """)
            let names = try Array(statements.map { try String.fetchAll($0, arguments: [15]) })
            #expect(names == [["Barbara"], ["Arthur"]])
            let statement = try db.makeStatement(literal: "SELECT name FROM player WHERE name = ?")
            #expect(throws: DatabaseError.self) { try String.fetchAll(statement) }
            #expect(throws: DatabaseError.self) { try db.execute(literal: "DELETE FROM player WHERE name = ?") }
        }
    }

    @Test("An SQL literal qualifies its columns by the alias of the request, and those of queries in it by nothing")
    func aliases() throws {
        try withRecords { db throws in
            try db.execute(sql: "INSERT INTO player VALUES (1, 'Arthur', 10), (2, 'Barbara', 20)")
            let alias = TableAlias(name: "p"), score = Column("score")
            let best: SQLRequest<Int> = "SELECT MAX(\(score)) FROM \(Player.self)"
            let request = Player.aliased(alias).filter(literal: "\(score) = (\(best))")
            #expect(
                try sql(db, request) == #"""
                    SELECT "p".* FROM "player" "p" WHERE "p"."score" = (SELECT MAX("score") FROM "player")
                    """#)
            #expect(try request.fetchAll(db).map(\.name) == ["Barbara"])
            let listed: SQLRequest<Int> =
                "SELECT \(score) FROM \(Player.self) AS other WHERE other.name < \(alias[Column("name")])"
            #expect(try Player.aliased(alias).filter(listed.exists()).fetchAll(db).map(\.name) == ["Barbara"])
        }
    }

    @Test("An SQL literal means the table around it by an alias without a name, inside of a query that is text")
    func namelessAlias() throws {
        try withRecords { db throws in
            try db.execute(sql: "INSERT INTO player VALUES (1, 'Arthur', 10), (2, 'Paris', 20)")
            try Place(country: "FR", code: 75, name: "Paris").insert(db)
            let alias = TableAlias<Player>()
            let namesake: SQLRequest<Int> = "SELECT 1 FROM place WHERE place.name = \(alias.name)"
            #expect(try Player.aliased(alias).filter(namesake.exists()).fetchAll(db).map(\.id) == [2])
        }
    }

    @Test("An SQL literal takes the columns of a record that selects all but some, whatever the alias of its table")
    func columnsOfAlias() throws {
        struct Anonymous: TableRecord {
            static let databaseTableName = "player"
            static var databaseSelection: [any SQLSelectable] { [.allColumns(excluding: ["name"])] }
        }
        try withRecords { db throws in
            let (text, _) = try SQL("SELECT \(columnsOf: Anonymous.self, tableAlias: "p") FROM player p").build(db)
            #expect(text == #"SELECT "p"."id", "p"."score" FROM player p"#)
            let own = try SQL("SELECT \(columnsOf: Anonymous.self) FROM player").build(db).sql
            #expect(own == #"SELECT "player"."id", "player"."score" FROM player"#)
        }
    }
}

@Suite("Quotation marks before combining marks")
struct CombiningMarkTests {
    @Test("are doubled in names and literals of SQL, so that a text ends nowhere else")
    func quoting() throws {
        #expect("a\"\u{301}b".quotedDatabaseIdentifier.utf8.elementsEqual("\"a\"\"\u{301}b\"".utf8))
        let queue = try DatabaseQueue()
        let name = "a\"\u{301}b", text = "'\u{301}); DROP TABLE safe; --"
        try queue.write { db in
            try db.create(table: "safe") { $0.primaryKey("id", .integer) }
            try db.create(table: name) { table in
                table.column("n\"\u{301}", .text).defaults(to: text)
            }
            try db.execute(literal: "INSERT INTO \(sql: name.quotedDatabaseIdentifier) DEFAULT VALUES")
            #expect(try String.fetchOne(db, sql: "SELECT * FROM \(name.quotedDatabaseIdentifier)") == text)
            #expect(try db.tableExists("safe") && db.columns(in: name).map(\.name) == ["n\"\u{301}"])
        }
    }
}
