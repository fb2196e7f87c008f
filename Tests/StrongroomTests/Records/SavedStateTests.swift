import Foundation
import Strongroom
import Testing

@Suite("The saved state of records")
struct SavedStateTests {
    private struct Spelled: PersistableRecord {
        static let databaseTableName = "player"
        let columns: KeyValuePairs<String, (any DatabaseValueConvertible)?>
        func encode(to container: inout PersistenceContainer) {
            for (column, value) in columns { container[column] = value }
        }
    }

    private final class Witness: MutablePersistableRecord {
        static let databaseTableName = "player"
        var seen: [String] = []
        func encode(to container: inout PersistenceContainer) {
            container["ID"] = nil as Int?
            container["name"] = "Ada"
        }
        func didInsert(_ inserted: InsertionSuccess) {
            seen.append("\(inserted.persistenceContainer.map { "\($0) \($1)" })")
        }
        func didSave(_ saved: PersistenceSuccess) { seen.append("\(saved.persistenceContainer.map { "\($0) \($1)" })") }
    }

    @Test("An inserted record has the id that SQLite chose")
    func insertedID() throws {
        try withRecords { (db) throws in
            try db.execute(sql: "INSERT INTO player (id, name) VALUES (6, 'Bob')")
            var witness = Witness()
            try witness.insert(db)
            #expect(witness.seen == [#"["ID 7", "name \"Ada\""]"#, #"["ID 7", "name \"Ada\""]"#])
        }
    }

    @Test("Updates have the columns of the table, in its order and by its names")
    func updatedColumns() throws {
        try withRecords { (db) throws in
            try db.execute(sql: "INSERT INTO player (id, name) VALUES (1, 'Bob')")
            let record = Spelled(columns: ["SCORE": 3, "Id": 1, "unknown": 4, "NAME": "Ada"])
            #expect(
                try statements(db) { try record.update(db) } == [
                    #"UPDATE "player" SET "name"=?, "score"=? WHERE "id"=?"#
                ])
            #expect(
                try statements(db) { try record.update(db, columns: ["Score"]) } == [
                    #"UPDATE "player" SET "score"=? WHERE "id"=?"#
                ])
            #expect(
                try statements(db) { try record.update(db, columns: ["unknown"]) } == [
                    #"UPDATE "player" SET "id"=? WHERE "id"=?"#
                ])
            #expect(try Player.fetchAll(db) == [Player(id: 1, name: "Ada", score: 3)])
        }
    }

    @Test("A key that is NULL in part is no row's")
    func partialKey() throws {
        struct Loose: Codable, PersistableRecord {
            static let databaseTableName = "loose"
            var a: Int?
            var b: Int?
            var text: String
        }
        try withRecords { (db) throws in
            try db.execute(
                sql:
                    """
                    CREATE TABLE loose (a INT, b INT, text TEXT, PRIMARY KEY (a, b)); \
                    INSERT INTO loose VALUES (1, NULL, 'x')
                    """
            )
            let record = Loose(a: 1, b: nil, text: "y")
            #expect(throws: RecordError.self) { try record.update(db) }
            #expect(try !record.delete(db))
            #expect(try !record.exists(db))
            try record.save(db)
            #expect(try String.fetchAll(db, sql: "SELECT text FROM loose ORDER BY text") == ["x", "y"])
        }
    }

    @Test("Changes are those of the columns that the record has")
    func changes() throws {
        let part = Spelled(columns: ["name": "Ada"]), whole = Spelled(columns: ["name": "Ada", "score": 1])
        #expect(try part.databaseChanges(from: whole).isEmpty)
        #expect(try whole.databaseChanges(from: part) == ["score": .null])
    }

    private class Person: Record {
        var name: String?
        var seen: [Bool] = []
        override class var databaseTableName: String { "player" }
        init(name: String) {
            self.name = name
            super.init()
        }
        required init(row: Row) throws {
            name = row["name"]
            try super.init(row: row)
        }
        override func encode(to container: inout PersistenceContainer) { container["name"] = name }
        override func didInsert(_ inserted: InsertionSuccess) { seen.append(hasDatabaseChanges) }
        override func didDelete(deleted: Bool) { seen.append(hasDatabaseChanges) }
    }

    private final class Blank: Record {}

    @Test("A record of the Record class is saved when its callbacks run, and new if its row is not from a database")
    func recordClass() throws {
        try withRecords { (db) throws in
            let person = Person(name: "Ada")
            try person.insert(db)
            #expect(person.seen == [false])
            #expect(try Person(row: ["name": "Ada"]).hasDatabaseChanges)
            #expect(try Person.fetchOne(db, sql: "SELECT name FROM player")?.hasDatabaseChanges == false)
            #expect(!Blank().hasDatabaseChanges)
        }
    }

    @Test("A name that begins with a small letter is a table's in small letters")
    func tableName() {
        struct iPlayer: TableRecord {}
        #expect(iPlayer.databaseTableName == "iplayer")
    }

    private struct Named: Codable, FetchableRecord, EncodableRecord {
        static let databaseColumnEncodingStrategy = DatabaseColumnEncodingStrategy.convertToSnakeCase
        var URLString = 1, theURLOfThing = 2, ABC = 3, userID = 4
    }

    private struct Place: Codable, FetchableRecord {
        struct Point: Codable { var x: Int }
        var point: Point
    }

    private struct Traced: Encodable, EncodableRecord {
        struct Inner: Encodable {
            func encode(to encoder: any Encoder) throws {
                var container = encoder.singleValueContainer()
                try container.encode(encoder.codingPath.map(\.stringValue).joined(separator: "."))
            }
        }
        var inner = Inner()
    }

    @Test("Codable records: snake case is Foundation's, paths lead to the property, and no JSON is no value")
    func codable() throws {
        #expect(try Named().databaseDictionary.keys.sorted() == ["a_bc", "the_url_of_thing", "u_rl_string", "user_id"])
        #expect(try Traced().databaseDictionary == ["inner": "inner".databaseValue])
        try withRecords { (db) throws in
            for (value, isMissing) in [("NULL", true), ("1", false), ("'x'", false)] {
                let error = #expect(throws: DecodingError.self) {
                    _ = try Place.fetchOne(db, sql: "SELECT \(value) AS point")
                }
                if case .valueNotFound = error { #expect(isMissing) } else { #expect(!isMissing) }
            }
        }
    }
}
