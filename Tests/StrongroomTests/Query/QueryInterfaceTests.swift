import Strongroom
import Testing

private struct Longest: DatabaseAggregate {
    private var length = 0

    mutating func step(_ values: [DatabaseValue]) {
        length = Swift.max(length, String.fromDatabaseValue(values[0])?.count ?? 0)
    }

    func finalize() -> (any DatabaseValueConvertible)? { length }
}

@Suite("Requests as SQL")
struct QueryInterfaceTests {
    private func expect(
        _ expected: [(any FetchRequest, String)], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try withRecords { db throws in
            for (request, text) in expected {
                #expect(try sql(db, request) == text, sourceLocation: sourceLocation)
            }
        }
    }

    @Test("Select the given columns")
    func selection() throws {
        try expect([
            (Player.all(), #"SELECT * FROM "player""#),
            (Player.select(id, name.forKey("n")), #"SELECT "id", "name" AS "n" FROM "player""#),
            (Player.select { [$0.id, $0.score] }, #"SELECT "id", "score" FROM "player""#),
            (Player.select(id).select(name), #"SELECT "name" FROM "player""#),
            (Player.select(sql: "id, ?", arguments: [1]), #"SELECT id, ? FROM "player" [1]"#),
            (Player.select(literal: "id, \(2)"), #"SELECT id, ? FROM "player" [2]"#),
            (Player.annotated(with: (score + 1).forKey("x")), #"SELECT *, "score" + ? AS "x" FROM "player" [1]"#),
            (Player.select(.allColumns(excluding: ["NAME"])), #"SELECT "id", "score" FROM "player""#),
            (Player.select(.allColumns, .rowID), #"SELECT *, "rowid" FROM "player""#),
            (Player.selectID(), #"SELECT "id" FROM "player""#),
            (Place.selectPrimaryKey(as: Row.self), #"SELECT "country", "code" FROM "place""#),
            (Note.selectPrimaryKey(as: Int.self), #"SELECT "rowid" FROM "note""#),
            (Player.select(score, as: Int.self).distinct(), #"SELECT DISTINCT "score" FROM "player""#),
            (Table("player").all(), #"SELECT * FROM "player""#),
            (Table<Int>("player").select(score), #"SELECT "score" FROM "player""#),
        ])
    }

    @Test("Filter rows")
    func filter() throws {
        try expect([
            (
                Player.filter(score > 1).filter(name == "a"),
                #"SELECT * FROM "player" WHERE ("score" > ?) AND ("name" = ?) [1, "a"]"#
            ),
            (Player.filter { $0.score > 1 }, #"SELECT * FROM "player" WHERE "score" > ? [1]"#),
            (
                Player.filter(sql: "score > ? OR 1", arguments: [1]).filter(id > 1),
                #"SELECT * FROM "player" WHERE (score > ? OR 1) AND ("id" > ?) [1, 1]"#
            ),
            (Player.none(), #"SELECT * FROM "player" WHERE ? [0]"#),
            (Player.filter(id: 1), #"SELECT * FROM "player" WHERE "id" = ? [1]"#),
            (Player.filter(keys: [1, 2]), #"SELECT * FROM "player" WHERE "id" IN (?, ?) [1, 2]"#),
            (Player.filter(key: nil as Int?), #"SELECT * FROM "player" WHERE ? [0]"#),
            (
                Player.filter(keys: [["name": "a"], ["id": 1]]),
                #"SELECT * FROM "player" WHERE ("name" = ?) OR ("id" = ?) ["a", 1]"#
            ),
            (
                Place.filter(key: ["code": 2, "country": "x"]),
                #"SELECT * FROM "place" WHERE ("country" = ?) AND ("code" = ?) ["x", 2]"#
            ),
            (Note.filter(key: 1), #"SELECT * FROM "note" WHERE "rowid" = ? [1]"#),
        ])
    }

    @Test("Order rows, and reverse the order")
    func order() throws {
        try expect([
            (Player.order(score.desc, name), #"SELECT * FROM "player" ORDER BY "score" DESC, "name""#),
            (Player.order { [$0.score, $0.name.desc] }, #"SELECT * FROM "player" ORDER BY "score", "name" DESC"#),
            (
                Player.order(score.desc, name.asc).reversed(),
                #"SELECT * FROM "player" ORDER BY "score" ASC, "name" DESC"#
            ),
            (Player.order(score.descNullsFirst).reversed(), #"SELECT * FROM "player" ORDER BY "score" ASC NULLS LAST"#),
            (Player.order(score.ascNullsLast).reversed(), #"SELECT * FROM "player" ORDER BY "score" DESC NULLS FIRST"#),
            (Player.all().reversed(), #"SELECT * FROM "player""#),
            (Player.order(score).reversed().reversed(), #"SELECT * FROM "player" ORDER BY "score""#),
            (Player.order(score).order(name), #"SELECT * FROM "player" ORDER BY "name""#),
            (Player.order(score).unordered(), #"SELECT * FROM "player""#),
            (
                Player.order(score).reversed().withStableOrder(),
                #"SELECT * FROM "player" ORDER BY "score" DESC, "id" DESC"#
            ),
            (Place.orderByPrimaryKey(), #"SELECT * FROM "place" ORDER BY "country", "code""#),
            (Note.orderByPrimaryKey().reversed(), #"SELECT * FROM "note" ORDER BY "rowid" DESC"#),
            (
                Player.order(name.collating(.nocase).desc),
                #"SELECT * FROM "player" ORDER BY "name" COLLATE NOCASE DESC"#
            ),
            (Player.order(sql: "score + ?", arguments: [1]), #"SELECT * FROM "player" ORDER BY score + ? [1]"#),
        ])
    }

    @Test("An order given as SQL can't be reversed")
    func reversedSQL() async {
        await #expect(processExitsWith: .failure) {
            try withRecords { _ = try Player.order(sql: "score").reversed().fetchAll($0) }
        }
    }

    @Test("Limit and group rows")
    func limitAndGroup() throws {
        try expect([
            (Player.limit(10, offset: 5), #"SELECT * FROM "player" LIMIT 10 OFFSET 5"#),
            (Player.limit(1, offset: 2).limit(3), #"SELECT * FROM "player" LIMIT 3"#),
            (
                Player.select(name, max(score)).group(name).having(max(score) > 1).having(count(id) > 2).order(name),
                #"""
                SELECT "name", MAX("score") FROM "player" GROUP BY "name" \#
                HAVING (MAX("score") > ?) AND (COUNT("id") > ?) ORDER BY "name" [1, 2]
                """#
            ),
            (
                Player.all().group { $0.name }.having { max($0.score) > 1 },
                #"SELECT * FROM "player" GROUP BY "name" HAVING MAX("score") > ? [1]"#
            ),
            (Player.all().groupByPrimaryKey(), #"SELECT * FROM "player" GROUP BY "id""#),
            (Place.all().groupByPrimaryKey(), #"SELECT * FROM "place" GROUP BY "country", "code""#),
        ])
    }

    @Test("Give tables other names")
    func aliases() throws {
        let p = TableAlias<Player>(name: "p"), other = TableAlias<Player>()
        try expect([
            (
                Player.aliased(p).filter(p.score > 1).order(name),
                #"SELECT "p".* FROM "player" "p" WHERE "p"."score" > ? ORDER BY "p"."name" [1]"#
            ),
            (Player.aliased(other).filter(other[score] > 1), #"SELECT * FROM "player" WHERE "score" > ? [1]"#),
            (
                Player.aliased(p).filter(Player.filter(p[id] == score).exists()),
                #"SELECT "p".* FROM "player" "p" WHERE EXISTS (SELECT * FROM "player" WHERE "p"."id" = "score")"#
            ),
            (
                Player.aliased(other).filter(Note.filter(other[name] == Column("text")).exists()),
                #"SELECT * FROM "player" WHERE EXISTS (SELECT * FROM "note" WHERE "player"."name" = "text")"#
            ),
            (Player.aliased(p).filter(p.exists), #"SELECT "p".* FROM "player" "p" WHERE "p"."id" IS NOT NULL"#),
        ])
    }

    @Test("Refuse an alias that would mean another table")
    func ambiguousAlias() throws {
        try withRecords { db throws in
            let outer = TableAlias<Player>()
            let request = Player.aliased(outer).filter(Player.filter(outer[id] == score).exists())
            let error = #expect(throws: DatabaseError.self) { try request.fetchAll(db) }
            #expect(error?.message?.hasPrefix("ambiguous table alias") == true)
            #expect(throws: DatabaseError.self) { try Player.filter(TableAlias<Player>()[id] == 1).fetchAll(db) }
        }
    }

    @Test("Ask for one row when one is wanted")
    func singleRow() throws {
        func single(_ db: Database, _ request: some FetchRequest) throws -> String {
            try request.makePreparedRequest(db, forSingleResult: true).statement.sql
        }
        try withRecords { db throws in
            #expect(try single(db, Player.filter(score > 1)) == #"SELECT * FROM "player" WHERE "score" > ? LIMIT 1"#)
            #expect(try single(db, Player.filter(name == "a")) == #"SELECT * FROM "player" WHERE "name" = ?"#)
            #expect(
                try single(db, Player.filter(Column("ID") == 1 && score == 2))
                    == #"SELECT * FROM "player" WHERE ("ID" = ?) AND ("score" = ?)"#)
            #expect(try single(db, Player.filter(id == name)) == #"SELECT * FROM "player" WHERE "id" = "name" LIMIT 1"#)
            #expect(try single(db, Player.select(max(score), as: Int.self)) == #"SELECT MAX("score") FROM "player""#)
            #expect(
                try single(db, Player.select(max(score) + 1, as: Int.self)) == #"SELECT MAX("score") + ? FROM "player""#
            )
            #expect(
                try single(db, Player.select(abs(max(score)), as: Int.self))
                    == #"SELECT ABS(MAX("score")) FROM "player" LIMIT 1"#)
            let longest = DatabaseFunction("longest", argumentCount: 1, pure: true, aggregate: Longest.self)
            db.add(function: longest)
            #expect(
                try single(db, Player.select(longest(name), as: Int.self)) == #"SELECT longest("name") FROM "player""#)
            #expect(try single(db, Player.limit(3)) == #"SELECT * FROM "player" LIMIT 3"#)
            #expect(try single(db, Note.filter(Column.rowID == 1)) == #"SELECT * FROM "note" WHERE "rowid" = ?"#)
            #expect(
                try single(db, Player.select(max(score), as: Int.self).group(name))
                    == #"SELECT MAX("score") FROM "player" GROUP BY "name" LIMIT 1"#)
        }
    }

    @Test("Count rows the simple way where it counts the same")
    func counting() throws {
        try withRecords { db throws in
            try db.execute(sql: "INSERT INTO player VALUES (1, 'a', 1), (2, 'b', 1), (3, 'c', 2)")
            func expect(_ count: Int, _ sql: String, _ request: some FetchRequest) throws {
                let statements1 = try statements(db) { () throws in #expect(try request.fetchCount(db) == count) }
                #expect(statements1 == [sql])
            }
            try expect(3, #"SELECT COUNT(*) FROM "player""#, Player.order(name))
            try expect(2, #"SELECT COUNT(*) FROM "player" WHERE "id" > ?"#, Player.select(name).filter(id > 1))
            try expect(1, #"SELECT COUNT(*) FROM (SELECT * FROM "player" LIMIT 1)"#, Player.limit(1))
            try expect(2, #"SELECT COUNT(DISTINCT "score") FROM "player""#, Player.select(score).distinct())
            try expect(3, #"SELECT COUNT(*) FROM (SELECT DISTINCT * FROM "player")"#, Player.all().distinct())
            try expect(2, #"SELECT COUNT(*) FROM (SELECT * FROM "player" GROUP BY "score")"#, Player.all().group(score))
            try expect(3, #"SELECT COUNT(*) FROM "player""#, Player.select(max(score)))
            #expect(try !Player.all().isEmpty(db))
            #expect(try Player.none().isEmpty(db))
            #expect(try Player.fetchCount(db) == 3)
        }
    }

    @Test("Interpolate tables, columns and queries")
    func interpolation() throws {
        struct Partial: TableRecord {
            static let databaseTableName = "player"
            static var databaseSelection: [any SQLSelectable] { [id, name] }
        }
        try expect([
            (
                SQLRequest<Row>("SELECT \(columnsOf: Player.self) FROM \(Player.self) WHERE \(id) IN \([1, 2])"),
                #"SELECT "player".* FROM "player" WHERE "id" IN (?,?) [1, 2]"#
            ),
            (
                SQLRequest<Row>("SELECT \(columnsOf: Partial.self, tableAlias: "p") FROM \(Partial.self) p"),
                #"SELECT "p"."id", "p"."name" FROM "player" p"#
            ),
            (
                SQLRequest<Row>(
                    "SELECT * FROM \(Table("player")) WHERE id IN (\(Player.selectID())) ORDER BY \(score.desc)"),
                #"SELECT * FROM "player" WHERE id IN (SELECT "id" FROM "player") ORDER BY "score" DESC"#
            ),
            (SQLRequest<Row>("SELECT * FROM \(tableOf: Note(text: ""))"), #"SELECT * FROM "note""#),
        ])
    }
}

@Suite("Requests that change rows")
struct ChangingRequestTests {
    private func withPlayers<T>(_ body: (Database) throws -> T) throws -> T {
        try withRecords { db throws in
            try db.execute(sql: "INSERT INTO player VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', NULL)")
            return try body(db)
        }
    }

    @Test("Delete the rows of a filter")
    func delete() throws {
        try withPlayers { db throws in
            let statements1 = try statements(db) { () throws in #expect(try Player.filter(id > 1).deleteAll(db) == 2) }
            #expect(statements1 == [#"DELETE FROM "player" WHERE "id" > ?"#])
            #expect(try Player.fetchAll(db).map(\.id) == [1])
            #expect(try Player.deleteAll(db) == 1)
        }
    }

    @Test("Delete the rows that a limit or a group leaves")
    func deleteLimited() throws {
        try withPlayers { db throws in
            let statements1 = try statements(db) { () throws in
                #expect(try Player.order(id.desc).limit(1).deleteAll(db) == 1)
            }
            #expect(statements1.count == 1)
            #expect(try Player.fetchAll(db).map(\.id) == [1, 2])
            try db.execute(sql: "INSERT INTO place VALUES ('a', 1, ''), ('a', 2, '')")
            #expect(try Place.order(Column("code")).limit(1).deleteAll(db) == 1)
            #expect(try Place.fetchAll(db).map(\.code) == [2])
        }
    }

    @Test("Return the deleted rows")
    func deleteAndFetch() throws {
        try withPlayers { db throws in
            #expect(try Player.filter(id: 1).deleteAndFetchAll(db) == [Player(id: 1, name: "a", score: 1)])
            #expect(try Table<Player>("player").filter(id: 2).deleteAndFetchIds(db) == [2])
            let statement = try Player.all().deleteAndFetchStatement(db) { [$0.name] }
            #expect(try String.fetchAll(statement) == ["c"])
            #expect(try Player.fetchCount(db) == 0)
        }
    }

    @Test("Update rows")
    func update() throws {
        try withPlayers { db throws in
            let sql = try statements(db) { () throws in
                #expect(try Player.filter(id > 1).updateAll(db, score += 1, name.set(to: name.uppercased)) == 2)
            }
            #expect(
                sql == [
                    #"UPDATE "player" SET "score" = "score" + ?, "name" = swiftUppercaseString("name") WHERE "id" > ?"#
                ])
            #expect(try Player.fetchAll(db).map(\.name) == ["a", "B", "C"])
            #expect(try Player.fetchAll(db).map(\.score) == [1, 3, nil])
            #expect(try Player.updateAll(db) { $0.score.set(to: nil) } == 3)
            #expect(try Player.updateAll(db) { [$0.score.set(to: 7), $0.name.noOverwrite] } == 3)
            #expect(try Player.fetchAll(db).map(\.score) == [7, 7, 7])
            #expect(try Player.updateAll(db, [ColumnAssignment]()) == 0)
            #expect(try Player.order(id).limit(1).updateAll(db, score.set(to: 0)) == 1)
            #expect(try Player.fetchAll(db).map(\.score) == [0, 7, 7])
        }
    }

    @Test("Update by the conflict policy of the record type")
    func updatePolicy() throws {
        try withPlayers { db throws in
            let statements1 = try statements(db) { try Place.updateAll(db, name.set(to: "x")) }
            #expect(statements1 == [#"UPDATE OR REPLACE "place" SET "name" = ?"#])
            let statements2 = try statements(db) { try Player.updateAll(db, onConflict: .ignore, score.set(to: id)) }
            #expect(statements2 == [#"UPDATE OR IGNORE "player" SET "score" = "id""#])
        }
    }

    @Test("Return the updated rows")
    func updateAndFetch() throws {
        try withPlayers { db throws in
            let players = try Player.filter(id: 1).updateAndFetchAll(db) { [$0.score *= 5] }
            #expect(players == [Player(id: 1, name: "a", score: 5)])
        }
    }

    @Test("Go by the aliases of their table")
    func aliases() throws {
        try withPlayers { db throws in
            let p = TableAlias<Player>(name: "p")
            #expect(try Player.aliased(p).filter(p.id > 2).deleteAll(db) == 1)
            #expect(try Player.aliased(p).filter(p.id > 1).updateAll(db, score.set(to: 9)) == 1)
            #expect(try Player.fetchAll(db).map(\.score) == [1, 9])
        }
    }

    @Test("Go by the aliases of their table where other tables are joined, and return rows")
    func joinedAliases() throws {
        struct Member: Codable, FetchableRecord, TableRecord {
            static let player = belongsTo(Player.self, using: ForeignKey(["playerId"], to: ["id"]))
            static let databaseTableName = "member"
            var id: Int
        }
        try withPlayers { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE member (id INTEGER PRIMARY KEY, playerId INTEGER);
                    INSERT INTO member VALUES (1, 1), (2, 2), (3, NULL);
                    """)
            let m = TableAlias<Member>(name: "m")
            let request = Member.aliased(m).joining(required: Member.player.filter(id > 1))
            let deletion = try statements(db) { () throws in #expect(try request.deleteAndFetchAll(db).map(\.id) == [2])
            }.last
            #expect(
                deletion == #"""
                    DELETE FROM "member" WHERE "id" IN (SELECT "m"."id" FROM "member" "m" \#
                    JOIN "player" ON ("player"."id" = "m"."playerId") AND ("player"."id" > ?)) RETURNING *
                    """#)
            let namesakes: SQLRequest<Int> = "SELECT COUNT(*) FROM player WHERE player.id = \(m[Column("playerId")])"
            let others = Member.aliased(m).joining(optional: Member.player)
            #expect(try others.updateAll(db, Column("playerId").set(to: namesakes.sqlExpression)) == 2)
            #expect(try Int.fetchAll(db, sql: "SELECT playerId FROM member ORDER BY id") == [1, 0])
        }
    }

    @Test("Leave alone rows that have the same value in a column that hides the rowid")
    func hiddenRowID() throws {
        try withDatabase { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE thing (name TEXT PRIMARY KEY, rowid INTEGER); INSERT INTO thing VALUES ('a', 1), \
                    ('b', 1);
                    """)
            let things = Table("thing").all().aliased(TableAlias(name: "t"))
            #expect(try things.order(name).limit(1).deleteAll(db) == 1)
            #expect(try String.fetchAll(db, sql: "SELECT name FROM thing") == ["b"])
        }
    }
}
