import Foundation
import Strongroom
import Testing

// The samples of the articles, as they stand there: `ArticleTextTests` compares.

@Suite("Samples of the articles")
struct ArticleSamples {
    struct Player: Codable, Identifiable, FetchableRecord, MutablePersistableRecord {
        var id: Int64?
        var name: String
        var score: Int
        var tags: [String] = []

        mutating func didInsert(_ inserted: InsertionSuccess) {
            id = inserted.rowID
        }
    }

    private func withNotes(_ body: (DatabaseQueue) throws -> Void) throws {
        try withEncryptedQueue { queue in
            try queue.write {
                try $0.execute(
                    sql: """
                        CREATE TABLE note (
                            id INTEGER PRIMARY KEY, text TEXT, done BOOLEAN NOT NULL DEFAULT 0, day TEXT,
                            authorId INTEGER DEFAULT 1);
                        CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
                        INSERT INTO author VALUES (1, 'Arthur');
                        """)
            }
            try body(queue)
        }
    }

    private func withPlayers(_ body: (Database) throws -> Void) throws {
        try withDatabase { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE player (
                        id INTEGER PRIMARY KEY, name TEXT, score INTEGER, tags TEXT DEFAULT '[]', address TEXT)
                    """)
            try body(db)
        }
    }

    @Test("Connections: statements, transactions, errors, functions")
    func connections() throws {
        try withNotes { queue in
            try queue.write { db throws in
                let text = "Call the bank"
                try db.execute(sql: "INSERT INTO note (text, done) VALUES (?, ?)", arguments: ["Buy milk", false])
                try db.execute(
                    sql: "UPDATE note SET done = :done WHERE id = :id",
                    arguments: ["done": true, "id": db.lastInsertedRowID])
                try db.execute(literal: "INSERT INTO note (text) VALUES (\(text))")
                #expect(try Bool.fetchAll(db, sql: "SELECT done FROM note ORDER BY id") == [true, false])

                let texts = ["Water the plants", "Sleep"]
                let statement = try db.makeStatement(sql: "INSERT INTO note (text) VALUES (?)")
                for text in texts {
                    try statement.execute(arguments: [text])
                }
            }
            try queue.writeWithoutTransaction { db in
                try db.inTransaction {
                    try db.execute(sql: "DELETE FROM note WHERE done")
                    try db.inSavepoint {
                        try db.execute(sql: "DELETE FROM note")
                        return .rollback
                    }
                    return .commit
                }
            }
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM note") } == 3)

            var isTaken = false
            try queue.write { db throws in
                try db.execute(sql: "INSERT INTO note (id, text) VALUES (1, 'Buy milk')")
                do {
                    try db.execute(sql: "INSERT INTO note (id, text) VALUES (1, 'Buy milk')")
                } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_CONSTRAINT_PRIMARYKEY {
                    // There is a note 1 already.
                    isTaken = true
                }

                let isPalindrome = DatabaseFunction("isPalindrome", argumentCount: 1, pure: true) { values in
                    guard let text = String.fromDatabaseValue(values[0]) else { return nil }
                    return text == String(text.reversed())
                }
                db.add(function: isPalindrome)
                #expect(try Bool.fetchOne(db, sql: "SELECT isPalindrome('kayak')") == true)
            }
            #expect(isTaken)
        }
    }

    enum Priority: Int, DatabaseValueConvertible {
        case low, normal, high
    }

    @Test("Rows and values: cursors, single columns, scopes")
    func rowsAndValues() throws {
        try withNotes { queue in
            try queue.write { db throws in
                try db.execute(
                    sql: """
                        INSERT INTO note (text, done, day) VALUES ('Buy milk', 1, '2026-01-01'), (NULL, 0, NULL)
                        """)
                var found: [String] = []
                let rows = try Row.fetchCursor(db, sql: "SELECT id, text, done FROM note")
                while let row = try rows.next() {
                    let id: Int64 = row["id"]
                    let text: String? = row["text"]
                    let done: Bool = row[2]
                    found.append("\(id) \(text ?? "") \(done)")
                }
                #expect(found == ["1 Buy milk true", "2  false"])
                try db.execute(sql: "UPDATE note SET text = 'Sleep' WHERE id = 2")

                let texts = try String.fetchAll(db, sql: "SELECT text FROM note ORDER BY id")
                let count = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM note")
                let days = try Set(Date.fetchCursor(db, sql: "SELECT day FROM note WHERE day IS NOT NULL"))
                #expect(texts == ["Buy milk", "Sleep"] && count == 2 && days.count == 1)
                #expect(try Priority.fetchOne(db, sql: "SELECT 2") == .high)

                let adapter = ScopeAdapter(["note": RangeRowAdapter(0..<2), "author": RangeRowAdapter(2..<4)])
                let sql = """
                    SELECT note.id, note.text, author.id, author.name
                    FROM note JOIN author ON author.id = note.authorId
                    """
                let row = try Row.fetchOne(db, sql: sql, adapter: adapter)
                let author: String? = row?.scopes["author"]?["name"]
                #expect(author == "Arthur")
            }
        }
    }

    @Test("Records: writing, reading, deleting")
    func records() throws {
        try withPlayers { db in
            var player = Player(name: "Arthur", score: 10)
            try player.insert(db)
            player.score += 5
            try player.update(db)
            try player.updateChanges(db) { $0.name = "Arthur Dent" }
            try player.save(db)

            let all = try Player.fetchAll(db)
            let one = try Player.fetchOne(db, id: 1)
            let required = try Player.find(db, id: 1)
            let bySQL = try Player.fetchAll(db, sql: "SELECT * FROM player WHERE score > ?", arguments: [10])
            #expect(all.map(\.name) == ["Arthur Dent"] && one?.score == 15 && required.id == 1 && bySQL.count == 1)

            try player.delete(db)
            try Player.deleteOne(db, id: 2)
            try Player.deleteAll(db)
            #expect(try Player.fetchCount(db) == 0)
        }
    }

    enum Columns {
        static let name = Column("name")
        static let score = Column("score")
    }

    @Test("Requests: results, changes, SQL, JSON, regions")
    func requests() throws {
        try withPlayers { db in
            try db.execute(
                sql: """
                    INSERT INTO player (name, score, address)
                    VALUES ('Arthur', 2000, '{"city":"Tours"}'), ('Barbara', -1, '{"city":"Nantes"}')
                    """)
            let best =
                try Player
                .filter(Columns.score >= 1000)
                .order(Columns.score.desc, Columns.name)
                .limit(10)
                .fetchAll(db)
            #expect(best.map(\.name) == ["Arthur"])

            let names = try Player.select(Columns.name, as: String.self).fetchAll(db)
            let average = try Player.select(average(Columns.score), as: Double.self).fetchOne(db)
            let count = try Player.filter(Columns.name.like("A%")).fetchCount(db)
            #expect(names == ["Arthur", "Barbara"] && average == 999.5 && count == 1)

            try Player.filter(Columns.score < 0).updateAll(db, Columns.score.set(to: 0))
            let deletedCount = try Player.filter(Columns.score == 0).deleteAll(db)
            #expect(deletedCount == 1)

            let minimum = 1000
            let request: SQLRequest<Player> = "SELECT * FROM \(Player.self) WHERE \(Columns.score) >= \(minimum)"
            let players = try request.fetchAll(db)
            #expect(players.count == 1)

            let address = JSONColumn("address")
            let fromTours = try Player.filter(address["city"] == "Tours").fetchCount(db)
            try Player.updateAll(db, address.set(to: Database.jsonSet(address, ["$.country": "France"])))
            #expect(fromTours == 1)
            let changed = try String.fetchOne(db, sql: "SELECT address FROM player")
            #expect(changed == #"{"city":"Tours","country":"France"}"#)

            let region = try Player.filter(key: 1).databaseRegion(db)
            // player(*)[1]
            #expect(region.description == "player(address,id,name,score,tags)[1]")
        }
    }

    @Test("Schema: tables, columns, indexes")
    func schema() throws {
        try withDatabase { db throws in
            try db.create(table: "author") { t in
                t.autoIncrementedPrimaryKey("id")
                t.column("name", .text).notNull().unique().collate(.nocase)
            }
            try db.create(table: "book") { t in
                t.autoIncrementedPrimaryKey("id")
                t.belongsTo("author", onDelete: .cascade).notNull()
                t.column("title", .text).notNull()
                t.column("pages", .integer).check { $0 > 0 }
                t.column("shelf", .text).generatedAs(sql: "substr(title, 1, 1)", .virtual)
            }
            try db.create(index: "book_title", on: "book", columns: ["title"])
            try db.execute(
                sql: """
                    INSERT INTO author VALUES (1, 'Sei'); INSERT INTO book (authorId, title) VALUES (1, 'Pillow')
                    """)
            #expect(try String.fetchOne(db, sql: "SELECT shelf FROM book") == "P")
        }
    }

    @Test("Migrations")
    func migrations() throws {
        try withEncryptedQueue { queue in
            var migrator = DatabaseMigrator()
            migrator.registerMigration("authors") { db in
                try db.create(table: "author") { t in
                    t.autoIncrementedPrimaryKey("id")
                    t.column("name", .text).notNull()
                }
            }
            migrator.registerMigration("birthdays") { db in
                try db.alter(table: "author") { t in t.add(column: "birthday", .date) }
            }
            try migrator.migrate(queue)

            let isUpToDate = try queue.read(migrator.hasCompletedMigrations)
            let isTooRecent = try queue.read(migrator.hasBeenSuperseded)
            #expect(isUpToDate && !isTooRecent)
        }
    }
}
