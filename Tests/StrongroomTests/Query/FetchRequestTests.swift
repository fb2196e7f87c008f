import Strongroom
import Testing

@Suite("A fetch request")
struct FetchRequestTests {
    private struct Player: FetchableRecord, Hashable {
        var id: Int
        var name: String

        init(_ id: Int, _ name: String) {
            self.id = id
            self.name = name
        }

        init(row: Row) throws {
            id = try row.decode(forColumn: "id")
            name = try row.decode(forColumn: "name")
        }
    }

    private struct FailingDecoder: FetchRequest {
        struct Refusal: Error {}
        typealias RowDecoder = Int
        let sqlSubquery = SQLRequest<Int>(sql: "SELECT 1").sqlSubquery
        func makePreparedRequest(_ db: Database, forSingleResult singleResult: Bool) throws -> PreparedRequest {
            throw Refusal()
        }
        func fetchCount(_ db: Database) throws -> Int { throw Refusal() }
    }

    /// Arthur and Barbara, twice each.
    private func withPlayers(_ body: (Database) throws -> Void) throws {
        try withDatabase { db in
            try db.execute(
                sql: """
                    CREATE TABLE player (id INTEGER, name TEXT, email TEXT);
                    INSERT INTO player VALUES (1, 'Arthur', NULL), (2, 'Barbara', 'b@b'), (1, 'Arthur', NULL), (2, \
                    'Barbara', 'b@b')
                    """)
            try body(db)
        }
    }

    private let players: [Player] = [
        Player(1, "Arthur"), Player(2, "Barbara"), Player(1, "Arthur"), Player(2, "Barbara"),
    ]

    @Test("A fetch request gives rows")
    func rows() throws {
        try withPlayers { (db) throws in
            let request = SQLRequest(sql: "SELECT id FROM player")
            let expected: [Row] = [["id": 1], ["id": 2], ["id": 1], ["id": 2]]
            #expect(try request.fetchAll(db) == expected)
            #expect(try request.fetchSet(db) == Set(expected))
            #expect(try request.fetchOne(db) == ["id": 1])
            #expect(try Array(request.fetchCursor(db).map { $0.copy() }) == expected)
            #expect(try Row.fetchAll(db, request) == expected)
            #expect(try Row.fetchSet(db, request).count == 2)
            #expect(try Row.fetchOne(db, request)?["id"] == 1)
            let cursor = try Row.fetchCursor(db, request)
            #expect(try cursor.next()?["id"] == 1)
            #expect(try SQLRequest(sql: "SELECT 1 WHERE 0").fetchOne(db) == nil)
        }
    }

    @Test("A fetch request gives records")
    func records() throws {
        try withPlayers { (db) throws in
            let request: SQLRequest<Player> = "SELECT * FROM player"
            #expect(try request.fetchAll(db) == players)
            #expect(try request.fetchSet(db) == Set(players))
            #expect(try request.fetchOne(db) == players[0])
            #expect(try Array(request.fetchCursor(db)) == players)
            #expect(try Player.fetchAll(db, request) == players)
            #expect(try Player.fetchSet(db, request).count == 2)
            #expect(try Player.fetchOne(db, request)?.name == "Arthur")
            #expect(try Player.fetchCursor(db, request).next()?.id == 1)
            #expect(try Player.fetchOne(db, SQLRequest<Int>("SELECT 1 WHERE 0")) == nil)
        }
    }

    @Test("A fetch request gives values that are read straight from the column")
    func fastValues() throws {
        try withPlayers { (db) throws in
            let request: SQLRequest<Int> = "SELECT id FROM player"
            #expect(try request.fetchAll(db) == [1, 2, 1, 2])
            #expect(try request.fetchSet(db) == [1, 2])
            #expect(try request.fetchOne(db) == 1)
            #expect(try Array(request.fetchCursor(db)) == [1, 2, 1, 2])
            #expect(try String.fetchAll(db, request) == ["1", "2", "1", "2"])
            let emails: SQLRequest<String?> = "SELECT email FROM player"
            #expect(try emails.fetchAll(db) == [nil, "b@b", nil, "b@b"])
            #expect(try emails.fetchSet(db) == [nil, "b@b"])
        }
    }

    @Test("A fetch request gives values that are converted")
    func convertedValues() throws {
        try withPlayers { (db) throws in
            let request: SQLRequest<Word> = "SELECT name FROM player ORDER BY id"
            let words = ["Arthur", "Arthur", "Barbara", "Barbara"].map(Word.init)
            #expect(try request.fetchAll(db) == words)
            #expect(try request.fetchSet(db) == Set(words))
            #expect(try request.fetchOne(db) == words[0])
            #expect(try Array(request.fetchCursor(db)) == words)
            #expect(try Word.fetchAll(db, request) == words)
            #expect(try SQLRequest<Word?>("SELECT NULL").fetchAll(db) == [nil])
            #expect(try SQLRequest<Word>("SELECT NULL").fetchOne(db) == nil)
            #expect(throws: RowDecodingError.self) { try SQLRequest<Word>("SELECT NULL").fetchAll(db) }
        }
    }

    /// Not read from a column, but converted from a database value.
    private struct Word: DatabaseValueConvertible, Hashable {
        var text: String
        var databaseValue: DatabaseValue { text.databaseValue }

        init(_ text: String) { self.text = text }

        static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Word? {
            String.fromDatabaseValue(dbValue).map(Word.init)
        }
    }

    @Test("A fetch request counts its rows, with arguments and an adapter")
    func counts() throws {
        try withPlayers { (db) throws in
            let request = SQLRequest(
                sql: "SELECT * FROM player WHERE id = ?", arguments: [2], adapter: SuffixRowAdapter(fromIndex: 1))
            #expect(try request.fetchCount(db) == 2)
            #expect(
                try SQLRequest(sql: "SELECT * FROM player WHERE id = :id", arguments: ["id": 2]).fetchCount(db) == 2)
            #expect(try request.adapted { _ in EmptyRowAdapter() }.fetchCount(db) == 2)
            #expect(try AnyFetchRequest(request).fetchCount(db) == 2)
        }
    }

    @Test("A fetch request reports the region that it reads")
    func region() throws {
        try withPlayers { (db) throws in
            let request: SQLRequest<Int> = "SELECT id FROM player WHERE name = \("Arthur")"
            #expect(try request.databaseRegion(db).description == "player(id,name)")
            #expect(try AnyFetchRequest(request).databaseRegion(db).description == "player(id,name)")
            #expect(try request.adapted { _ in EmptyRowAdapter() }.databaseRegion(db).description == "player(id,name)")
        }
    }

    @Test("A fetch request can be type-erased, with another type of results")
    func typeErasure() throws {
        try withPlayers { (db) throws in
            let request = AnyFetchRequest(SQLRequest<Int>(sql: "SELECT id FROM player ORDER BY 1 DESC"))
            #expect(try request.fetchOne(db) == 2)
            #expect(try request.asRequest(of: String.self).fetchOne(db) == "2")
            #expect(try request.asRequest(of: Row.self).fetchOne(db) == ["id": 2])
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") == 4)
            #expect(try Bool.fetchOne(db, SQLRequest<Bool>("SELECT \(request.exists())")) == true)
        }
    }

    @Test("A fetch request adapts its rows with an adapter from a function of the connection")
    func adapters() throws {
        try withPlayers { (db) throws in
            var request = SQLRequest<Player>(sql: "SELECT name AS label, id FROM player")
            request.adapter = ColumnMapping(["name": "label", "id": "id"])
            #expect(try request.fetchAll(db) == players)
            let split = SQLRequest<Int>(sql: "SELECT name, id FROM player").adapted { db in
                let count = try db.makeStatement(sql: "SELECT name FROM player").columnCount
                return splittingRowAdapters(columnCounts: [count])[1]
            }
            #expect(try split.fetchAll(db) == [1, 2, 1, 2])
            struct Refusal: Error {}
            #expect(throws: Refusal.self) { try request.adapted { _ in throw Refusal() }.fetchOne(db) }
        }
    }

    @Test("A fetch request keeps its arguments when others with the same SQL are prepared")
    func independentStatements() throws {
        try withPlayers { (db) throws in
            func request(_ id: Int) -> SQLRequest<String> { "SELECT name FROM player WHERE id = \(id)" }
            let (one, two) = (try request(1).makePreparedRequest(db), try request(2).makePreparedRequest(db))
            #expect(try request(2).fetchOne(db) == "Barbara")
            #expect(try String.fetchOne(one.statement) == "Arthur")
            #expect(try String.fetchOne(two.statement) == "Barbara")
            let cursors = (try request(1).fetchCursor(db), try request(2).fetchCursor(db))
            #expect(try cursors.0.next() == "Arthur")
            #expect(try cursors.1.next() == "Barbara")
            #expect(try cursors.0.next() == "Arthur")
        }
    }

    @Test("A fetch request reuses the statement of a former one with the same SQL")
    func statementReuse() throws {
        try withPlayers { (db) throws in
            func request(_ id: Int) -> SQLRequest<String> { "SELECT name FROM player WHERE id = \(id)" }
            let first = try request(1).makePreparedRequest(db).statement.sqliteStatement
            #expect(try request(2).makePreparedRequest(db).statement.sqliteStatement == first)
        }
    }

    @Test("A fetch request of a type of one's own throws its own errors")
    func ownRequest() throws {
        try withDatabase { db in
            #expect(throws: FailingDecoder.Refusal.self) { try FailingDecoder().fetchAll(db) }
            #expect(throws: FailingDecoder.Refusal.self) { try FailingDecoder().databaseRegion(db) }
            #expect(throws: FailingDecoder.Refusal.self) { try AnyFetchRequest(FailingDecoder()).fetchCount(db) }
        }
    }

    @Test("A fetch request runs a write that returns rows")
    func writing() throws {
        try withPlayers { (db) throws in
            let request: SQLRequest<Int> = "DELETE FROM player WHERE name = \("Arthur") RETURNING id"
            #expect(try request.fetchAll(db) == [1, 1])
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM player") == 2)
        }
    }
}
