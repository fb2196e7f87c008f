import Strongroom
import Testing

/// A row of a view of players with a score.
private struct Scorer: Codable, Hashable, Identifiable, FetchableRecord, PersistableRecord {
    var id: Int
    var name: String
    var score: Int
}

private struct ScorerKeys: DatabaseSchemaSource {
    func columnsForPrimaryKey(_ db: Database, inView view: DatabaseObjectID) throws -> [String]? { ["id"] }
}

@Suite("Records of views with INSTEAD OF triggers")
struct ViewRecordTests {
    private func withScorers(_ body: (Database) throws -> Void) throws {
        try withRecords { db throws in
            try db.execute(
                sql: """
                    CREATE VIEW scorer AS SELECT id, name, score FROM player WHERE score IS NOT NULL;
                    CREATE TRIGGER scorer_insert INSTEAD OF INSERT ON scorer
                        BEGIN INSERT INTO player VALUES (NEW.id, NEW.name, NEW.score); END;
                    CREATE TRIGGER scorer_update INSTEAD OF UPDATE ON scorer
                        BEGIN UPDATE player SET name = NEW.name, score = NEW.score WHERE id = OLD.id; END;
                    CREATE TRIGGER scorer_delete INSTEAD OF DELETE ON scorer
                        BEGIN DELETE FROM player WHERE id = OLD.id; END;
                    INSERT INTO player VALUES (1, 'Arthur', 10), (2, 'Barbara', 20), (3, 'Craig', NULL);
                    """)
            try db.withSchemaSource(ScorerKeys()) { try body(db) }
        }
    }

    @Test("Records of views with INSTEAD OF triggers are updated, and not found where the view lacks them")
    func update() throws {
        try withScorers { db throws in
            try Scorer(id: 1, name: "Arthur", score: 11).update(db)
            #expect(try Scorer.find(db, id: 1).score == 11)
            #expect(try Scorer(id: 2, name: "Barbara", score: 21).updateAndFetch(db).score == 21)
            #expect(throws: RecordError.self) { try Scorer(id: 3, name: "Craig", score: 1).update(db) }
        }
    }

    @Test("Records of views with INSTEAD OF triggers are saved, whether they are there or not")
    func save() throws {
        try withScorers { db throws in
            try Scorer(id: 1, name: "Arthur", score: 12).save(db)
            try Scorer(id: 4, name: "Diana", score: 40).save(db)
            #expect(try Scorer.order(Column("id")).fetchAll(db).map(\.score) == [12, 20, 40])
        }
    }

    @Test("Records of views with INSTEAD OF triggers are deleted, and the result reports whether they existed")
    func delete() throws {
        try withScorers { db throws in
            #expect(try Scorer(id: 1, name: "", score: 0).delete(db))
            #expect(try !Scorer(id: 1, name: "", score: 0).delete(db))
            #expect(try Scorer.deleteOne(db, id: 2))
            #expect(try !Scorer.deleteOne(db, id: 3))
        }
    }

    @Test("Records of views with INSTEAD OF triggers are counted when several are changed")
    func several() throws {
        try withScorers { db throws in
            #expect(try Scorer.updateAll(db, Column("score") += 1) == 2)
            #expect(try Scorer.filter(Column("score") > 100).updateAll(db, Column("score") += 1) == 0)
            #expect(try Scorer.deleteAll(db, ids: [1, 2, 3]) == 2)
            #expect(try Player.fetchCount(db) == 1)
        }
    }

    @Test("Records of views with INSTEAD OF triggers are inserted into a view without a known key")
    func withoutKey() throws {
        try withScorers { db throws in
            try db.withSchemaSource(nil) {
                try Scorer(id: 5, name: "Emma", score: 50).insert(db)
            }
            #expect(try Scorer.find(db, id: 5).name == "Emma")
        }
    }

    @Test("Records of views with INSTEAD OF triggers are distinguished from rows that a full-text table writes late")
    func fullText() throws {
        try withRecords { db throws in
            try db.create(virtualTable: "player_text", using: FTS5()) { t in
                t.synchronize(withTable: "player")
                t.column("name")
            }
            // The full-text table may write now what it has put off, although no player is updated.
            try db.inTransaction { () throws in
                var arthur = Player(id: 1, name: "Arthur", score: 1), barbara = Player(id: 2, name: "Barbara", score: 2)
                try arthur.save(db)
                try barbara.save(db)
                #expect(try Player.filter(id: 3).updateAll(db, Column("score").set(to: 0)) == 0)
                return .commit
            }
            #expect(try Player.fetchCount(db) == 2)
        }
    }
}
