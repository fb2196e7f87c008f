import Strongroom
import Testing

private final class Person: Record {
    var id: Int64?
    var name: String

    init(name: String) {
        self.name = name
        super.init()
    }

    required init(row: Row) throws {
        id = row["id"]
        name = row["name"]
        try super.init(row: row)
    }

    override class var databaseTableName: String { "player" }

    override func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = name
    }

    override func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
        super.didInsert(inserted)
    }
}

@Suite("Record classes")
struct RecordClassTests {
    @Test("Record classes know the changes since they were fetched or saved")
    func changes() throws {
        try withRecords { db throws in
            let arthur = Person(name: "Arthur")
            #expect(arthur.hasDatabaseChanges)
            try arthur.insert(db)
            #expect(arthur.id == 1)
            #expect(!arthur.hasDatabaseChanges)
            arthur.name = "King"
            #expect(try arthur.databaseChanges == ["name": "Arthur".databaseValue])
            #expect(try arthur.updateChanges(db))
            #expect(try !arthur.updateChanges(db))
            let fetched = try Person.find(db, key: 1)
            #expect(fetched.name == "King" && !fetched.hasDatabaseChanges)
            try fetched.delete(db)
            #expect(fetched.hasDatabaseChanges)
        }
    }
}
