import Foundation
import Strongroom
import Testing

@Suite("Saving records")
struct SavingTests {
    @Test("Inserts all columns and hands over the row id")
    func insert() throws {
        try withRecords { db throws in
            var arthur = Player(id: nil, name: "Arthur", score: 10)
            let sql = try statements(db) { try arthur.insert(db) }
            #expect(sql == [#"INSERT INTO "player" ("id", "name", "score") VALUES (?,?,?)"#])
            #expect(arthur.id == 1)
            #expect(try Player.fetchAll(db) == [arthur])
        }
    }

    @Test("Gives the inserted copy")
    func inserted() throws {
        try withRecords { db throws in
            let arthur = try Player(id: nil, name: "Arthur", score: nil).inserted(db)
            #expect(arthur.id == 1)
            #expect(try Row.fetchOne(db, sql: "SELECT * FROM player") == ["id": 1, "name": "Arthur", "score": nil])
        }
    }

    @Test("Throws when a row is in the way")
    func conflict() throws {
        try withRecords { db in
            let arthur = try Player(id: 1, name: "Arthur", score: 1).inserted(db)
            #expect(throws: DatabaseError.self) { try arthur.inserted(db) }
            #expect(try Player.fetchCount(db) == 1)
        }
    }

    @Test("Inserts with the conflict resolution of the call")
    func conflictResolution() throws {
        try withRecords { db in
            try db.execute(sql: "INSERT INTO player VALUES (1, 'Arthur', 1)")
            var arthur = Player(id: 1, name: "Arthur", score: 2)
            let sql = try statements(db) { try arthur.insert(db, onConflict: .replace) }
            #expect(sql == [#"INSERT OR REPLACE INTO "player" ("id", "name", "score") VALUES (?,?,?)"#])
            #expect(try Player.find(db, id: 1).score == 2)
        }
    }

    @Test("Inserts and updates with the conflict resolution of the type")
    func conflictPolicy() throws {
        try withRecords { db in
            let place = Place(country: "FR", code: 75, name: "Paris")
            try place.insert(db)
            let insertion = try statements(db) { try place.insert(db) }
            #expect(insertion == [#"INSERT OR IGNORE INTO "place" ("country", "code", "name") VALUES (?,?,?)"#])
            let update = try statements(db) { try place.update(db) }
            #expect(update == [#"UPDATE OR REPLACE "place" SET "name"=? WHERE "country"=? AND "code"=?"#])
            #expect(try Place.fetchCount(db) == 1)
        }
    }

    @Test("Returns the inserted row")
    func insertAndFetch() throws {
        try withRecords { db throws in
            try db.execute(sql: "CREATE TRIGGER initial AFTER INSERT ON note BEGIN SELECT 1; END")
            let sql = try statements(db) { () throws in
                #expect(try Player(id: nil, name: "Arthur", score: 1).insertAndFetch(db).id == 1)
            }
            #expect(sql == [#"INSERT INTO "player" ("id", "name", "score") VALUES (?,?,?) RETURNING *"#])
            var barbara = Player(id: nil, name: "Barbara", score: 2)
            let row = try barbara.insertAndFetch(db, selection: [Column("score"), Column("name")]) {
                try Row.fetchOne($0)
            }
            #expect(row == ["score": 2, "name": "Barbara"])
            #expect(barbara.id == 2)
            var craig = Player(id: nil, name: "Craig", score: 3)
            let score = try craig.insertAndFetch(db, fetch: { try Int.fetchOne($0) }, select: { [$0.score] })
            #expect(score == 3)
            #expect(try Player.fetchCount(db) == 3)
        }
    }

    @Test("Throws when the inserted row was left out and can't be returned")
    func insertAndFetchIgnored() throws {
        try withRecords { db throws in
            let place = Place(country: "FR", code: 75, name: "Paris")
            try place.insert(db)
            #expect(throws: RecordError.self) { try place.insertAndFetch(db) }
        }
    }

    @Test("Updates all columns but the key")
    func update() throws {
        try withRecords { db throws in
            var arthur = try Player(id: nil, name: "Arthur", score: 10).inserted(db)
            arthur.score = 20
            let statements1 = try statements(db) { try arthur.update(db) }
            #expect(statements1 == [#"UPDATE "player" SET "name"=?, "score"=? WHERE "id"=?"#])
            #expect(try Player.find(db, id: 1) == arthur)
            arthur.score = nil
            try arthur.update(db)
            #expect(try Player.find(db, id: 1).score == nil)
        }
    }

    @Test("Updates the named columns, in upper and lower case")
    func updateColumns() throws {
        try withRecords { db throws in
            let arthur = try Player(id: nil, name: "Arthur", score: 10).inserted(db)
            let other = Player(id: 1, name: "Arthur II", score: 20)
            let statements1 = try statements(db) { try other.update(db, columns: ["SCORE"]) }
            #expect(statements1 == [#"UPDATE "player" SET "score"=? WHERE "id"=?"#])
            #expect(try Player.find(db, id: 1) == Player(id: 1, name: arthur.name, score: 20))
            try other.update(db, columns: [Player.Columns.name])
            #expect(try Player.find(db, id: 1) == other)
        }
    }

    @Test("An update without changes still checks that the row exists")
    func updateNothing() throws {
        try withRecords { db throws in
            let arthur = try Player(id: nil, name: "Arthur", score: 10).inserted(db)
            let statements1 = try statements(db) { try arthur.update(db, columns: [String]()) }
            #expect(statements1 == [#"UPDATE "player" SET "id"=? WHERE "id"=?"#])
            #expect(throws: RecordError.self) { try Player(id: 9, name: "", score: 0).update(db, columns: [String]()) }
        }
    }

    @Test("Throws when there is no row to update", arguments: [9, nil] as [Int64?])
    func updateNotFound(id: Int64?) throws {
        try withRecords { db throws in
            let error = #expect(throws: RecordError.self) { try Player(id: id, name: "x", score: nil).update(db) }
            #expect(error?.description == "Key not found in table player: [id:\(id.map(String.init) ?? "NULL")]")
        }
    }

    @Test("A table without key has nothing to update or delete")
    func noKey() throws {
        try withRecords { db throws in
            let note = Note(text: "a")
            try note.insert(db)
            #expect(throws: RecordError.self) { try note.update(db) }
            #expect(try !note.delete(db))
            #expect(try !note.exists(db))
            try note.save(db)
            #expect(try Note.fetchCount(db) == 2)
        }
    }

    @Test("Returns the updated row")
    func updateAndFetch() throws {
        try withRecords { db throws in
            let arthur = try Player(id: nil, name: "Arthur", score: 10).inserted(db)
            let changed = Player(id: 1, name: "Arthur", score: 11)
            let statements1 = try statements(db) { () throws in #expect(try changed.updateAndFetch(db) == changed) }
            #expect(statements1 == [#"UPDATE "player" SET "name"=?, "score"=? WHERE "id"=? RETURNING *"#])
            let name = try arthur.updateAndFetch(db, columns: ["score"], selection: [Column("name")]) {
                try String.fetchOne($0)
            }
            #expect(name == "Arthur")
            #expect(try Player.find(db, id: 1).score == 10)
            #expect(throws: RecordError.self) { try Player(id: 9, name: "x", score: 1).updateAndFetch(db) }
        }
    }

    @Test("Updates only the changed columns")
    func updateChanges() throws {
        try withRecords { db throws in
            var arthur = try Player(id: nil, name: "Arthur", score: 10).inserted(db)
            var hasChanged = true
            let statements1 = try statements(db) {
                hasChanged = try arthur.updateChanges(db, modify: { $0.score = 10 })
            }
            #expect(statements1 == [] && !hasChanged)
            let statements2 = try statements(db) {
                hasChanged = try arthur.updateChanges(db, modify: { $0.score = 11 })
            }
            #expect(hasChanged)
            #expect(statements2 == [#"UPDATE "player" SET "score"=? WHERE "id"=?"#])
            var other = arthur
            other.name = "Arthur II"
            #expect(try other.databaseChanges(from: arthur) == ["name": "Arthur".databaseValue])
            #expect(try other.updateChanges(db, from: arthur))
            #expect(try Player.find(db, id: 1) == other)
            #expect(
                try other.updateChangesAndFetch(db) { $0.score = 12 } == Player(id: 1, name: "Arthur II", score: 12))
            #expect(try other.updateChangesAndFetch(db) { $0.score = 12 } == nil)
        }
    }

    @Test("Saves by an update, or else an insertion")
    func save() throws {
        try withRecords { db throws in
            var arthur = Player(id: nil, name: "Arthur", score: 10)
            let insert = #"INSERT INTO "player" ("id", "name", "score") VALUES (?,?,?)"#
            let update = #"UPDATE "player" SET "name"=?, "score"=? WHERE "id"=?"#
            let statements1 = try statements(db) { try arthur.save(db) }
            #expect(statements1 == [insert])
            #expect(arthur.id == 1)
            let statements2 = try statements(db) { try arthur.save(db) }
            #expect(statements2 == [update])
            var barbara = Player(id: 7, name: "Barbara", score: nil)
            let statements3 = try statements(db) { try barbara.save(db) }
            #expect(statements3 == [update, insert])
            #expect(try barbara.saveAndFetch(db) == barbara)
            #expect(try Player(id: nil, name: "Craig", score: 1).saved(db).id == 8)
            #expect(try Player.fetchCount(db) == 3)
        }
    }

    @Test("An error of a callback is not taken for a missing row")
    func saveRethrows() throws {
        struct Stubborn: Encodable, PersistableRecord {
            static let databaseTableName = "note"
            var rowid = 1
            var text = ""
            func willUpdate(_ db: Database, columns: Set<String>) throws {
                throw Note.recordNotFound(key: ["text": "other"])
            }
        }
        try withRecords { db throws in
            #expect(throws: RecordError.self) { try Stubborn().save(db) }
            #expect(try Note.fetchCount(db) == 0)
        }
    }

    @Test("Deletes a row, and reports whether there was one")
    func delete() throws {
        try withRecords { db throws in
            let arthur = try Player(id: nil, name: "Arthur", score: 10).inserted(db)
            #expect(try arthur.exists(db))
            let statements1 = try statements(db) { () throws in #expect(try arthur.delete(db)) }
            #expect(statements1 == [#"DELETE FROM "player" WHERE "id"=?"#])
            #expect(try !arthur.delete(db))
            let statements2 = try statements(db) { () throws in #expect(try !arthur.exists(db)) }
            #expect(statements2 == [#"SELECT EXISTS (SELECT 1 FROM "player" WHERE "id"=?)"#])
        }
    }

    @Test("Keeps apart records of one type with different columns")
    func changingColumns() throws {
        struct Partial: PersistableRecord {
            static let databaseTableName = "player"
            var columns: [(String, any DatabaseValueConvertible)]
            func encode(to container: inout PersistenceContainer) {
                for (column, value) in columns { container[column] = value }
            }
        }
        try withRecords { db throws in
            try Partial(columns: [("id", 1), ("name", "a"), ("score", 1)]).insert(db)
            try Partial(columns: [("name", "b")]).insert(db)
            try Partial(columns: [("score", 3), ("name", "c")]).insert(db)
            try Partial(columns: [("id", 9), ("score", 4), ("NAME", "x"), ("name", "d")]).insert(db)
            #expect(
                try Player.fetchAll(db) == [
                    Player(id: 1, name: "a", score: 1), Player(id: 2, name: "b", score: nil),
                    Player(id: 3, name: "c", score: 3), Player(id: 9, name: "d", score: 4),
                ])
        }
    }

    @Test("Works after the table was recreated with another key")
    func schemaChange() throws {
        try withRecords { db throws in
            try Player(id: 1, name: "a", score: 1).inserted(db).update(db)
            try db.execute(
                sql: "DROP TABLE player; CREATE TABLE player (id INTEGER, name TEXT PRIMARY KEY, score INTEGER)")
            var player = Player(id: 5, name: "a", score: 1)
            try player.insert(db)
            player.score = 2
            let statements1 = try statements(db) { try player.update(db) }
            #expect(statements1 == [#"UPDATE "player" SET "id"=?, "score"=? WHERE "name"=?"#])
        }
    }

    @Test("A record without any column stops the program")
    func noColumn() async {
        await #expect(processExitsWith: .failure) {
            struct Empty: PersistableRecord {
                static let databaseTableName = "note"
                func encode(to container: inout PersistenceContainer) {}
            }
            try withRecords { try Empty().insert($0) }
        }
    }
}

@Suite("Upserting records")
struct UpsertTests {
    @Test("Overwrites all columns but the key")
    func upsert() throws {
        try withRecords { db throws in
            var arthur = Player(id: 1, name: "Arthur", score: 10)
            let sql = try statements(db) { try arthur.upsert(db) }
            #expect(
                sql == [
                    #"INSERT INTO "player" ("id", "name", "score") VALUES (?,?,?) "#
                        + #"""
                        ON CONFLICT DO UPDATE SET "name" = "excluded"."name", "score" = "excluded"."score" \#
                        RETURNING "rowid"
                        """#
                ])
            arthur.score = 20
            try arthur.upsert(db)
            #expect(try Player.fetchAll(db) == [arthur])
        }
    }

    @Test("Learns the id of the row that it conflicts with")
    func rowID() throws {
        try withRecords { db throws in
            try db.execute(sql: "INSERT INTO player VALUES (7, 'Arthur', 1), (8, 'Barbara', 2)")
            var arthur = Player(id: nil, name: "Arthur", score: 3)
            try arthur.upsert(db)
            #expect(arthur.id == 7)
            #expect(try Player.find(db, id: 7).score == 3)
        }
    }

    @Test("Updates as the assignments say, and returns the row")
    func assignments() throws {
        try withRecords { db throws in
            try db.execute(sql: "INSERT INTO player VALUES (7, 'Arthur', 1)")
            var arthur = Player(id: 9, name: "Arthur", score: 3)
            let sql = try statements(db) {
                let upserted = try arthur.upsertAndFetch(
                    db, onConflict: ["name"],
                    doUpdate: { excluded in
                        [Player.Columns.score += excluded.score]
                    })
                #expect(upserted == Player(id: 7, name: "Arthur", score: 4))
            }
            #expect(
                sql == [
                    #"INSERT INTO "player" ("id", "name", "score") VALUES (?,?,?) "#
                        + #"ON CONFLICT("name") DO UPDATE SET "score" = "score" + "excluded"."score" "#
                        + #"RETURNING *, "rowid""#
                ])
        }
    }

    @Test("Only overwrites columns that are named")
    func nothing() throws {
        try withRecords { db throws in
            try db.execute(sql: "INSERT INTO player VALUES (7, 'Arthur', 1)")
            var arthur = Player(id: 7, name: "King", score: 3)
            #expect(
                try arthur.upsertAndFetch(db, updating: .noColumnUnlessSpecified)
                    == Player(id: 7, name: "Arthur", score: 1))
            #expect(
                try arthur.upsertAndFetch(db, doUpdate: { _ in [Player.Columns.name.noOverwrite] })
                    == Player(id: 7, name: "Arthur", score: 3))
        }
    }

    @Test("Works without rowids, with each conflict policy")
    func withoutRowID() throws {
        try withRecords { db throws in
            let paris = Place(country: "FR", code: 75, name: "Lutetia")
            try paris.upsert(db)
            let renamed = Place(country: "FR", code: 75, name: "Paris")
            #expect(try renamed.upsertAndFetch(db) == renamed)
            #expect(try Place.fetchAll(db) == [renamed])
        }
    }
}
