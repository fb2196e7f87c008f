import Strongroom
import Testing

@Suite("Records by key")
struct RecordKeyTests {
    private func withPlayers<T>(_ body: (Database) throws -> T) throws -> T {
        try withRecords { db throws in
            try db.execute(
                sql: """
                    INSERT INTO player VALUES (1, 'Arthur', 10), (2, 'Barbara', 20), (3, 'Craig', NULL);
                    INSERT INTO place VALUES ('FR', 75, 'Paris'), ('DE', 10, 'Berlin');
                    """)
            return try body(db)
        }
    }

    @Test("One record by primary key")
    func fetchOne() throws {
        try withPlayers { db throws in
            #expect(try Player.fetchOne(db, key: 1)?.name == "Arthur")
            #expect(try Player.fetchOne(db, id: 2)?.name == "Barbara")
            #expect(try Player.fetchOne(db, key: 9) == nil)
            let statements1 = try statements(db) { () throws in #expect(try Player.fetchOne(db, id: nil) == nil) }
            #expect(statements1 == [])
            let statements2 = try statements(db) { _ = try Player.fetchOne(db, id: 1) }
            #expect(statements2 == [#"SELECT * FROM "player" WHERE "id" = ?"#])
        }
    }

    @Test("Several records by primary key")
    func fetchAll() throws {
        try withPlayers { db throws in
            #expect(try Player.fetchAll(db, keys: [3, 1, 9]).map(\.id) == [1, 3])
            #expect(try Player.fetchSet(db, ids: [2, 3]).map(\.id!).sorted() == [2, 3])
            #expect(try Player.fetchAll(db, ids: []) == [])
            #expect(try Array(Player.fetchCursor(db, keys: [2])).map(\.name) == ["Barbara"])
        }
    }

    @Test("One record by unique key")
    func uniqueKey() throws {
        try withPlayers { db throws in
            #expect(try Player.fetchOne(db, key: ["name": "Craig"])?.id == 3)
            #expect(try Place.fetchOne(db, key: ["code": 75, "country": "FR"])?.name == "Paris")
            let keys: [[String: (any DatabaseValueConvertible)?]] = [
                ["country": "FR", "code": 75], ["country": "DE", "code": 10],
            ]
            #expect(try Place.fetchAll(db, keys: keys).count == 2)
        }
    }

    @Test("Columns that are no unique key are refused, with their names")
    func noUniqueKey() throws {
        try withPlayers { db throws in
            let error = #expect(throws: DatabaseError.self) { try Player.fetchOne(db, key: ["score": 1]) }
            #expect(error?.message == "table player has no unique key on column(s) score")
            #expect(throws: DatabaseError.self) { try Place.fetchOne(db, key: 1) }
        }
    }

    @Test("Finding a missing row throws its table and key")
    func find() throws {
        try withPlayers { db throws in
            #expect(try Player.find(db, key: 1).name == "Arthur")
            let error = #expect(throws: RecordError.self) { try Player.find(db, id: 9) }
            #expect(error?.description == "Key not found in table player: [id:9]")
            let other = #expect(throws: RecordError.self) { try Player.find(db, key: ["name": "x"]) }
            #expect(other?.description == #"Key not found in table player: [name:"x"]"#)
        }
    }

    @Test("Reports whether there is a row, and deletes it")
    func existsAndDelete() throws {
        try withPlayers { db throws in
            #expect(try Player.exists(db, id: 1))
            #expect(try !Player.exists(db, key: 9))
            #expect(try Place.exists(db, key: ["country": "FR", "code": 75]))
            #expect(try Player.deleteOne(db, id: 1))
            #expect(try !Player.deleteOne(db, key: 1))
            #expect(try Player.deleteAll(db, ids: [2, 3, 4]) == 2)
            #expect(try Place.deleteOne(db, key: ["country": "FR", "code": 75]))
            #expect(try Place.fetchCount(db) == 1)
        }
    }

    @Test("Rows without declared key are found by their rowid")
    func rowID() throws {
        try withRecords { db throws in
            try Note(text: "a").insert(db)
            #expect(try Note.fetchOne(db, key: 1)?.text == "a")
            #expect(try Note.fetchOne(db, key: ["rowid": 1])?.text == "a")
        }
    }

    @Test("Default table names come from type names")
    func tableNames() {
        struct HTTPRequest: TableRecord {}
        struct PostalAddress: TableRecord {}
        struct TOEFL: TableRecord {}
        struct Box<T>: TableRecord {}
        #expect(HTTPRequest.databaseTableName == "httpRequest")
        #expect(PostalAddress.databaseTableName == "postalAddress")
        #expect(TOEFL.databaseTableName == "toefl")
        #expect(Box<Int>.databaseTableName == "box")
    }

    @Test("Selected columns are counted")
    func numberOfSelectedColumns() throws {
        struct Partial: TableRecord {
            static let databaseTableName = "player"
            static var databaseSelection: [any SQLSelectable] { [Column("id"), .allColumns(excluding: ["ID"])] }
        }
        try withRecords { db throws in
            #expect(try Player.numberOfSelectedColumns(db) == 3)
            #expect(try Partial.numberOfSelectedColumns(db) == 3)
            let statements1 = try statements(db) { _ = try Partial.all().fetchCount(db) }
            #expect(statements1 == [#"SELECT COUNT(*) FROM "player""#])
        }
    }
}
