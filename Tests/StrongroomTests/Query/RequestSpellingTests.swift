import Strongroom
import Testing

@Suite("Requests: spelling")
struct RequestSpellingTests {
    private func countSQL(_ db: Database, _ request: some FetchRequest) throws -> String {
        try statements(db) { _ = try request.fetchCount(db) }.last ?? ""
    }

    @Test("Rows are counted where they are, unless the selection has names or the request definitions")
    func count() throws {
        try withRecords { (db) throws in
            let ids = CommonTableExpression(named: "ids", sql: "SELECT 1 AS id")
            #expect(try countSQL(db, Player.select(max(score))) == #"SELECT COUNT(*) FROM "player""#)
            #expect(try countSQL(db, Player.select(id, score + 1)) == #"SELECT COUNT(*) FROM "player""#)
            #expect(try countSQL(db, Player.select(id.forKey("key"))) == #"SELECT COUNT(*) FROM "player""#)
            #expect(
                try countSQL(db, Player.select(id.forKey("key")).distinct())
                    == #"SELECT COUNT(DISTINCT "id") FROM "player""#)
            #expect(
                try countSQL(db, Player.select(id.forKey("key"), name))
                    == #"SELECT COUNT(*) FROM (SELECT "id" AS "key", "name" FROM "player")"#)
            #expect(
                try countSQL(db, Player.annotated(with: (score + 1).forKey("next")))
                    == #"SELECT COUNT(*) FROM (SELECT *, "score" + ? AS "next" FROM "player")"#)
            #expect(
                try countSQL(db, Player.with(ids).filter(ids.contains(id)))
                    == #"SELECT COUNT(*) FROM (WITH "ids" AS (SELECT 1 AS id) "#
                    + #"SELECT * FROM "player" WHERE "id" IN "ids")"#
            )
        }
    }

    @Test("Nothing excluded is everything, and NULL keys stay in the list")
    func selection() throws {
        try withRecords { (db) throws in
            #expect(try sql(db, Player.select(.allColumns(excluding: ["nothing"]))) == #"SELECT * FROM "player""#)
            #expect(
                try sql(db, Player.filter(keys: [1, nil] as [Int?]))
                    == #"SELECT * FROM "player" WHERE "id" IN (?, NULL) [1]"#)
            #expect(
                try sql(db, Player.aliased(TableAlias(name: "player")).filter(id == 1))
                    == #"SELECT "player".* FROM "player" WHERE "player"."id" = ? [1]"#)
        }
    }

    @Test("Views and common tables are in a stable order by all that is selected")
    func stableOrder() throws {
        try withRecords { (db) throws in
            try db.execute(sql: "CREATE VIEW best AS SELECT id, name FROM player")
            let pairs = CommonTableExpression(named: "pairs", sql: "SELECT 1 AS a, 2 AS b")
            #expect(try sql(db, Table("best").all().withStableOrder()) == #"SELECT * FROM "best" ORDER BY 1, 2"#)
            #expect(
                try sql(db, pairs.all().with(pairs).withStableOrder())
                    == #"WITH "pairs" AS (SELECT 1 AS a, 2 AS b) SELECT * FROM "pairs" ORDER BY 1, 2"#)
        }
    }

    @Test("A filter that is never true reads nothing, and a statement knows the rows of its request")
    func regions() throws {
        try withRecords { (db) throws in
            func region(_ request: QueryInterfaceRequest<Player>) throws -> [String] {
                let statement = try request.makePreparedRequest(db).statement
                return try [statement.databaseRegion.description, request.databaseRegion(db).description]
            }
            #expect(try region(Player.none()) == ["empty", "empty"])
            #expect(try region(Player.filter(score > 1).filter(false.sqlExpression)) == ["empty", "empty"])
            #expect(try region(Player.filter(id == nil)) == ["empty", "empty"])
            #expect(try region(Player.filter(id: 1)) == ["player(id,name,score)[1]", "player(id,name,score)[1]"])
            #expect(
                try region(Player.aliased(TableAlias(name: "player")).filter(id: 1)) == [
                    "player(id,name,score)[1]", "player(id,name,score)[1]",
                ])
            #expect(try region(Player.filter(score == 1)) == ["player(id,name,score)", "player(id,name,score)"])
        }
    }

    @Test("SQLite limits deletions and updates itself, if it can")
    func limitedChanges() throws {
        try withRecords { (db) throws in
            try db.execute(sql: "INSERT INTO player (name, score) VALUES ('a', 1), ('b', 2), ('c', 3)")
            let options = try String.fetchAll(db, sql: "PRAGMA compile_options")
            let canLimit = options.contains("ENABLE_UPDATE_DELETE_LIMIT")
            let deletion = try statements(db) { _ = try Player.order(score.desc).limit(1).deleteAll(db) }
            let update = try statements(db) { _ = try Player.limit(1).updateAll(db, score += 1) }
            #expect(try Player.order(id).fetchAll(db).map(\.score) == [2, 2])
            #expect(
                deletion.last
                    == (canLimit
                        ? #"DELETE FROM "player" ORDER BY "score" DESC LIMIT 1"#
                        : #"DELETE FROM "player" WHERE "id" IN "#
                            + #"(SELECT "id" FROM "player" ORDER BY "score" DESC LIMIT 1)"#)
            )
            #expect(
                update.last
                    == (canLimit
                        ? #"UPDATE "player" SET "score" = "score" + ? LIMIT 1"#
                        : #"UPDATE "player" SET "score" = "score" + ? WHERE "id" IN "#
                            + #"(SELECT "id" FROM "player" LIMIT 1)"#)
            )
            #expect(try Player.limit(1).deleteAndFetchAll(db).count == 1)
        }
    }
}
