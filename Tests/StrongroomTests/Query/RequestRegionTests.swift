import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("The region of a request")
struct RequestRegionTests {
    private func expect(
        _ expectations: [(any DatabaseRegionConvertible, String)], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try withRecords { (db) throws in
            for (request, expected) in expectations {
                let region = try request.databaseRegion(db).description
                #expect(region == expected, sourceLocation: sourceLocation)
            }
        }
    }

    @Test("The region of a request without primary key is all rows of its tables")
    func allRows() throws {
        try expect([
            (Player.all(), "player(id,name,score)"), (Player.filter(name == "Arthur"), "player(id,name,score)"),
            (Player.filter(id > 1), "player(id,name,score)"), (Player.filter(id != 1), "player(id,name,score)"),
            (Player.filter(id == 1 || score == 2), "player(id,name,score)"),
            (Player.filter(![1, 2].contains(id)), "player(id,name,score)"),
        ])
    }

    @Test("The region of a request is the rows of the primary keys that are given")
    func primaryKeys() throws {
        try expect([
            (Player.filter(id: 1), "player(id,name,score)[1]"),
            (Player.filter(ids: [1, 3]), "player(id,name,score)[1,3]"),
            (Player.filter(key: 1), "player(id,name,score)[1]"),
            (Player.filter(key: ["id": 2]), "player(id,name,score)[2]"),
            (Player.filter(id == 1 || id == 2), "player(id,name,score)[1,2]"),
            (Player.filter(1 == id), "player(id,name,score)[1]"),
            (Player.filter(id: 1).filter(score > 10), "player(id,name,score)[1]"),
            (Player.filter([1, 2].contains(id)).filter([2, 3].contains(id)), "player(id,name,score)[2]"),
            (Player.select(name, as: String.self).filter(Column.rowID == 4), "player(id,name)[4]"),
            (Note.filter(Column.rowID == 4), "note(ROWID,text)[4]"),
            (Table("player").filter(id == 1), "player(id,name,score)[1]"),
            (Player.filter(id: 1).limit(1), "player(id,name,score)[1]"),
            (AnyFetchRequest(Player.filter(id: 1)), "player(id,name,score)[1]"),
            (Player.filter(id: 1).adapted { _ in EmptyRowAdapter() }, "player(id,name,score)[1]"),
        ])
    }

    @Test("The region of a request is empty where no row can be found")
    func noRows() throws {
        try expect([
            (Player.none(), "empty"), (Player.filter(ids: [Int64]()), "empty"),
            (Table("player").filter(keys: [Int]()), "empty"),
            (Player.filter(id: 1).filter(id: 2), "empty"),
        ])
    }

    @Test("The region of a request knows the alias of its table")
    func alias() throws {
        let alias = TableAlias<Player>(name: "p")
        try expect([(Player.all().aliased(alias).filter(alias[id] == 1), "player(id,name,score)[1]")])
    }

    @Test("The region of a request knows an alias that is the name of the table in other letters")
    func aliasInOtherCase() throws {
        let alias = TableAlias<Player>(name: "PLAYER")
        try expect([(Player.all().aliased(alias).filter(alias[id] == 1), "player(id,name,score)[1]")])
    }

    @Test("The region of a request knows a table from the keyword of the same letters")
    func keyword() throws {
        try withRecords { db throws in
            try db.execute(sql: #"CREATE TABLE "order" (id INTEGER PRIMARY KEY, score INTEGER)"#)
            let request = Table("order").filter(id == 1).order(score)
            #expect(try request.databaseRegion(db).description == "order(id,score)[1]")
            let subquery = request.filter(sql: #"score IN (SELECT score FROM `order`)"#)
            #expect(try subquery.databaseRegion(db).description == "order(id,score)")
            let text = request.filter(sql: "score > (1)").select(SQL("(VALUES (1))"), as: Int.self)
            #expect(try text.databaseRegion(db).description == "order(id,score)[1]")
        }
    }

    @Test("The region of a request is all rows where the primary key is no rowid, or where another column is called so")
    func otherKeys() throws {
        try expect([(Place.filter(key: ["country": "FR", "code": 1]), "place(code,country,name)")])
        try withRecords { db throws in
            try db.execute(sql: "CREATE TABLE bare (id INTEGER PRIMARY KEY, a) WITHOUT ROWID")
            try db.execute(sql: "CREATE TABLE hidden (id INTEGER PRIMARY KEY, rowid TEXT)")
            #expect(try Table("hidden").filter(Column.rowID == 1).databaseRegion(db).description == "hidden(id,rowid)")
            #expect(try Table("bare").filter(id == 1).databaseRegion(db).description == "bare(a,id)")
        }
    }

    @Test("The region of a request has the rows that SQLite finds for texts that look like integers")
    func convertedKeys() throws {
        try expect([
            (Player.filter(id == "1"), "player(id,name,score)[1]"),
            (Player.filter(id == 1.0), "player(id,name,score)[1]"),
            (Player.filter(["2".databaseValue, 3.0.databaseValue].contains(id)), "player(id,name,score)[2,3]"),
            (Player.filter(id == "1.0"), "player(id,name,score)"),
            (Player.filter([1.databaseValue, "0x2".databaseValue].contains(id)), "player(id,name,score)"),
            (Player.filter(id == "a"), "empty"), (Player.filter(id == Data([1])), "empty"),
            (Player.filter(id == 1e30), "empty"),
            (Player.filter(id == nil), "empty"),
        ])
    }

    @Test("The region of a request is all rows where the table is read a second time")
    func subqueries() throws {
        try expect([
            (Player.filter(id: 1).filter(score > Player.select(average(score))), "player(id,name,score)"),
            (Player.select(SQL("(SELECT COUNT(*) FROM player)"), as: Int.self).filter(id == 1), "player(*)"),
            (Player.filter(id: 1).filter(sql: "score IN (SELECT score FROM player)"), "player(id,name,score)"),
        ])
    }

    @Test("The region of a request belongs to the arguments of one request: the statement is shared")
    func sharedStatement() throws {
        try withRecords { (db) throws in
            #expect(try Player.filter(id: 1).databaseRegion(db).description == "player(id,name,score)[1]")
            #expect(try Player.filter(id: 2).databaseRegion(db).description == "player(id,name,score)[2]")
            let request = SQLRequest<Player>(sql: #"SELECT * FROM "player" WHERE "id" = ?"#, arguments: [3])
            #expect(try request.databaseRegion(db).description == "player(id,name,score)")
        }
    }
}

@Suite("Observing one row")
struct RowObservationTests {
    private func makeQueue() throws -> (DatabaseQueue, TemporaryFolder) {
        let folder = try TemporaryFolder()
        let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: .encrypted())
        try queue.write {
            try $0.execute(
                sql: """
                    CREATE TABLE player (id INTEGER PRIMARY KEY, name TEXT UNIQUE, score INTEGER);
                    INSERT INTO player VALUES (1, 'Arthur', 0), (2, 'Barbara', 0);
                    """)
        }
        return (queue, folder)
    }

    /// The number of notified changes of player 1 while `sql` runs.
    private func changes(_ sql: String) throws -> Int {
        let (queue, folder) = try makeQueue()
        let count = Shared(0)
        let cancellable = DatabaseRegionObservation(tracking: Player.filter(id: 1))
            .start(in: queue, onError: { _ in }, onChange: { _ in count.update { $0 += 1 } })
        try queue.write { try $0.execute(sql: sql) }
        cancellable.cancel()
        _ = folder
        return count.value
    }

    @Test(
        "Observing one row notifies of its changes",
        arguments: [
            "UPDATE player SET score = 7 WHERE id = 1", "DELETE FROM player WHERE id = 1", "DELETE FROM player",
            "UPDATE player SET score = 1",
        ])
    func ownChanges(sql: String) throws {
        #expect(try changes(sql) == 1)
    }

    @Test(
        "Observing one row does not tell of other rows",
        arguments: [
            "UPDATE player SET score = 7 WHERE id = 2", "DELETE FROM player WHERE id = 2",
            "INSERT INTO player VALUES (3, 'Craig', 0)",
        ])
    func otherChanges(sql: String) throws {
        #expect(try changes(sql) == 0)
    }

    @Test(
        "Observing one row notifies of changes of its key, and of its replacement",
        arguments: [
            "UPDATE player SET id = 5 WHERE id = 1", "UPDATE player SET rowid = 5 WHERE name = 'Arthur'",
            "INSERT OR REPLACE INTO player VALUES (9, 'Arthur', 0)",
            "UPDATE OR REPLACE player SET name = 'Arthur' WHERE id = 2",
        ])
    func silentChanges(sql: String) throws {
        #expect(try changes(sql) == 1)
    }

    @Test("Observing one row notifies when a trigger replaces the row")
    func trigger() throws {
        let (queue, folder) = try makeQueue()
        try queue.write {
            try $0.execute(
                sql: """
                    CREATE TRIGGER t AFTER UPDATE OF score ON player BEGIN INSERT OR REPLACE INTO player \
                    VALUES (9, 'Arthur', 0); END
                    """)
        }
        let count = Shared(0)
        let cancellable = DatabaseRegionObservation(tracking: Player.filter(id: 1))
            .start(in: queue, onError: { _ in }, onChange: { _ in count.update { $0 += 1 } })
        try queue.write { try $0.execute(sql: "UPDATE player SET score = 3 WHERE id = 2") }
        #expect(count.value == 1)
        cancellable.cancel()
        _ = folder
    }

    @Test("Observing one row fetches a value only when its row has changed")
    func valueObservation() async throws {
        let (queue, folder) = try makeQueue()
        let fetches = Shared(0)
        let observation = ValueObservation.tracking { db in
            fetches.update { $0 += 1 }
            return try Player.find(db, key: 1).score
        }
        var scores: [Int?] = []
        for try await score in observation.values(in: queue) {
            scores.append(score)
            if score == 2 { break }
            try await queue.write { try $0.execute(sql: "UPDATE player SET score = score + 1 WHERE id = 2") }
            try await queue.write { try $0.execute(sql: "UPDATE player SET score = score + 1 WHERE id = 1") }
        }
        #expect(scores == [0, 1, 2])
        #expect(fetches.value == 3)
        _ = folder
    }
}
