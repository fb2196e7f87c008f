import Foundation
import Strongroom
import Testing

@Suite("A dump of tables")
struct DumpContentTests {
    static let sql = """
        CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE Empty (a, b);
        CREATE TABLE pair (a, b, PRIMARY KEY (b, a)) WITHOUT ROWID;
        CREATE TABLE loose (rowid TEXT, a);
        CREATE VIEW backwards AS SELECT name, id FROM player ORDER BY id DESC;
        INSERT INTO player VALUES (2, 'Barbara'), (1, 'Craig');
        INSERT INTO pair VALUES ('z', 1), ('a', 2), ('c', 1);
        INSERT INTO loose VALUES ('z', 1), ('a', 2);
        """

    private func dump(
        _ tables: [String], tableHeader: DumpTableHeaderOptions = .automatic, stableOrder: Bool = false,
        sql: String = sql
    ) throws -> String {
        try withSchema(sql) { (db) throws in
            try printed { try db.dumpTables(tables, tableHeader: tableHeader, stableOrder: stableOrder, to: $0) }
        }
    }

    @Test("A dump of tables orders rows by the primary key")
    func order() throws {
        #expect(try dump(["player"]) == "1|Craig\n2|Barbara\n")
        #expect(try dump(["pair"]) == "c|1\nz|1\na|2\n")
        #expect(try dump(["loose"]) == "z|1\na|2\n")
    }

    @Test("A dump of tables keeps the order of a view, unless a stable order is requested")
    func views() throws {
        #expect(try dump(["backwards"]) == "Barbara|2\nCraig|1\n")
        #expect(try dump(["backwards"], stableOrder: true) == "Barbara|2\nCraig|1\n")
        let sql = "CREATE VIEW v AS SELECT 'b' AS x UNION ALL SELECT 'a'"
        #expect(try dump(["v"], sql: sql) == "b\na\n")
        #expect(try dump(["v"], stableOrder: true, sql: sql) == "a\nb\n")
    }

    @Test("A dump of tables prints the names of several tables, or if they are requested")
    func headers() throws {
        #expect(try dump(["Empty", "player"]) == "Empty\n\nplayer\n1|Craig\n2|Barbara\n")
        #expect(try dump(["player"], tableHeader: .always) == "player\n1|Craig\n2|Barbara\n")
        #expect(try dump(["Empty"]) == "")
        #expect(try dump([]) == "")
    }

    @Test("A dump of tables takes any name, and finds it in any schema")
    func names() throws {
        try withSchema("CREATE TABLE \"été \"\"q\"\"\" (a); INSERT INTO \"été \"\"q\"\"\" VALUES (1)") { (db) throws in
            try db.execute(sql: "ATTACH ':memory:' AS other KEY ''; CREATE TABLE other.x (a); INSERT INTO x VALUES (2)")
            #expect(try printed { try db.dumpTables(["été \"q\"", "x"], to: $0) } == "été \"q\"\n1\n\nx\n2\n")
        }
    }

    @Test("A dump of tables fails at a missing table, after printing the tables before it")
    func missing() throws {
        try withSchema(Self.sql) { (db) throws in
            let printout = Printout()
            let error = #expect(throws: DatabaseError.self) { try db.dumpTables(["Empty", "missing"], to: printout) }
            #expect(error?.message == "no such table: missing")
            #expect(printout.text == "Empty\n\nmissing\n")
        }
    }

    static let wholeSQL = """
        CREATE TABLE player (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE);
        CREATE TABLE Alpha (a);
        CREATE VIRTUAL TABLE doc USING fts5(title);
        CREATE TABLE doc_mine (a);
        CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY);
        CREATE VIEW names AS SELECT name FROM player;
        CREATE INDEX b_index ON player(name, id);
        CREATE TRIGGER a_trigger AFTER INSERT ON player BEGIN SELECT 1; END;
        INSERT INTO player (name) VALUES ('Arthur');
        INSERT INTO doc VALUES ('hello');
        INSERT INTO grdb_migrations VALUES ('v1');
        """

    private let wholeSchema = """
        sqlite_master
        CREATE TABLE Alpha (a);
        CREATE VIRTUAL TABLE doc USING fts5(title);
        CREATE TABLE doc_mine (a);
        CREATE VIEW names AS SELECT name FROM player;
        CREATE TABLE player (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE);
        CREATE INDEX b_index ON player(name, id);
        CREATE TRIGGER a_trigger AFTER INSERT ON player BEGIN SELECT 1; END;

        """

    @Test("A dump of tables shows the schema by table, without internal tables")
    func schema() throws {
        try withSchema(Self.wholeSQL) { (db) throws in
            #expect(try printed { try db.dumpSchema(to: $0) } == wholeSchema)
        }
    }

    @Test("A dump of tables shows the whole content: the schema, then the tables")
    func content() throws {
        try withSchema(Self.wholeSQL) { (db) throws in
            try db.execute(sql: "CREATE TEMP TABLE Alpha (other); INSERT INTO temp.Alpha VALUES (1)")
            #expect(
                try printed { try db.dumpContent(format: .quote(), to: $0) } == wholeSchema + """

                    Alpha

                    doc
                    'hello'

                    doc_mine

                    player
                    1,'Arthur'

                    """)
        }
    }

    @Test("A dump of tables of an empty database is its heading")
    func emptyDatabase() throws {
        try withSchema("") { (db) throws in
            #expect(try printed { try db.dumpSchema(to: $0) } == "sqlite_master\n")
            #expect(try printed { try db.dumpContent(to: $0) } == "sqlite_master\n")
        }
    }

    @Test("A dump of tables shows the rows of a request, not of its adapter")
    func requests() throws {
        try withSchema(Self.sql) { (db) throws in
            let request: SQLRequest<Row> = "SELECT id, name FROM player WHERE id < \(2)"
            #expect(
                try printed { try db.dumpRequest(request, format: .list(header: true), to: $0) } == "id|name\n1|Craig\n"
            )
            let adapted = request.adapted { _ in SuffixRowAdapter(fromIndex: 1) }
            #expect(try printed { try db.dumpRequest(adapted, to: $0) } == "1|Craig\n")
        }
    }

    @Test("A dump of tables shows associated rows below their row, without the columns of the key")
    func associatedRows() throws {
        struct Team: TableRecord {
            static let databaseTableName = "team"
            static let players = hasMany(Player.self, using: ForeignKey(["teamId"]))
        }
        struct Player: TableRecord {
            static let databaseTableName = "player"
            static let team = belongsTo(Team.self, using: ForeignKey(["teamId"]))
            static let awards = hasMany(Award.self, using: ForeignKey(["playerId"]))
        }
        struct Award: TableRecord { static let databaseTableName = "award" }
        try withSchema(
            """
            CREATE TABLE team (id INTEGER PRIMARY KEY, name);
            CREATE TABLE player (id INTEGER PRIMARY KEY, teamId, name);
            CREATE TABLE award (id INTEGER PRIMARY KEY, playerId);
            """
        ) { (db) throws in
            let teams = Team.including(all: Team.players.including(all: Player.awards))
            #expect(try printed { try db.dumpRequest(teams, to: $0) } == "")
            try db.execute(sql: "INSERT INTO team VALUES (1, 'Reds'), (2, 'Blues')")
            #expect(try printed { try db.dumpRequest(teams, to: $0) } == "1|Reds\n2|Blues\n\nplayers\n")
            try db.execute(
                sql: """
                    INSERT INTO player VALUES (10, 1, 'Ann'), (11, NULL, 'Bob'); \
                    INSERT INTO award VALUES (100, 10), (101, 11)
                    """)
            #expect(
                try printed { try db.dumpRequest(teams, format: .list(header: true), to: $0) } == """
                    id|name
                    1|Reds
                    2|Blues

                    players
                    id|teamId|name
                    10|1|Ann

                    awards
                    id|playerId
                    100|10

                    """)
            #expect(
                try printed {
                    try db.dumpRequest(
                        Player.including(optional: Player.team.including(all: Team.players)), format: .json(), to: $0)
                } == """
                    [{"id":10,"teamId":1,"name":"Ann","id":1,"name":"Reds"},
                    {"id":11,"teamId":null,"name":"Bob","id":null,"name":null}]

                    team.players
                    [{"id":10,"teamId":1,"name":"Ann"}]

                    """)
        }
    }

    @Test("A dump of tables needs no access of its own")
    func readers() throws {
        try withEncryptedQueue { queue in
            try queue.write { try $0.execute(sql: "CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
            #expect(try printed { try queue.dumpSQL("SELECT a + 1 AS b FROM t", format: .line(), to: $0) } == "b = 2\n")
            let request: SQLRequest<Int> = "SELECT a FROM t"
            #expect(try printed { try queue.dumpRequest(request, to: $0) } == "1\n")
            #expect(try printed { try queue.dumpTables(["t"], tableHeader: .always, to: $0) } == "t\n1\n")
            #expect(try printed { try queue.dumpSQL("UPDATE t SET a = 1; SELECT changes()", to: $0) } == "1\n")
            #expect(try printed { try queue.dumpSchema(to: $0) } == "sqlite_master\nCREATE TABLE t (a);\n")
            #expect(
                try printed { try queue.dumpContent(format: .json(), to: $0) }
                    == "sqlite_master\nCREATE TABLE t (a);\n\nt\n[{\"a\":1}]\n")
        }
    }
}
