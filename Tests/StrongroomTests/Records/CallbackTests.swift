import Strongroom
import Testing

/// Notes each callback.
private final class Diary {
    var entries: [String] = []
}

private struct Witness: MutablePersistableRecord {
    static let databaseTableName = "player"
    var id: Int64?
    let diary: Diary

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = "witness"
    }

    func note(_ entry: String) { diary.entries.append(entry) }

    func willSave(_ db: Database) { note("willSave") }
    func didSave(_ saved: PersistenceSuccess) { note("didSave \(saved.persistenceContainer["id"] as Any? != nil)") }
    func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        note("aroundSave")
        _ = try save()
        note("end of aroundSave")
    }

    mutating func willInsert(_ db: Database) { note("willInsert") }
    mutating func didInsert(_ inserted: InsertionSuccess) {
        id = inserted.rowID
        note("didInsert \(inserted.rowID) \(inserted.rowIDColumn ?? "-")")
    }
    func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        note("aroundInsert")
        _ = try insert()
        note("end of aroundInsert")
    }

    func willUpdate(_ db: Database, columns: Set<String>) { note("willUpdate \(columns.sorted())") }
    func didUpdate(_ updated: PersistenceSuccess) { note("didUpdate") }
    func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess) throws {
        note("aroundUpdate")
        _ = try update()
        note("end of aroundUpdate")
    }

    func willDelete(_ db: Database) { note("willDelete") }
    func didDelete(deleted: Bool) { note("didDelete \(deleted)") }
    func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
        note("aroundDelete")
        _ = try delete()
        note("end of aroundDelete")
    }
}

@Suite("Callbacks of records")
struct CallbackTests {
    private let inserting = [
        "willInsert", "aroundInsert", "end of aroundInsert", "didInsert 1 id",
    ]

    @Test("Callbacks of records come in order around an insertion")
    func insert() throws {
        try withRecords { db throws in
            var witness = Witness(diary: Diary())
            try witness.insert(db)
            #expect(
                witness.diary.entries
                    == ["willSave", "aroundSave"] + inserting + ["end of aroundSave", "didSave true"])
            #expect(witness.id == 1)
        }
    }

    @Test("Callbacks of records come in order around an update")
    func update() throws {
        try withRecords { db throws in
            var witness = Witness(diary: Diary())
            try witness.insert(db)
            witness.diary.entries = []
            try witness.update(db, columns: ["name"])
            #expect(
                witness.diary.entries == [
                    "willSave", "aroundSave", "willUpdate [\"name\"]", "aroundUpdate", "end of aroundUpdate",
                    "didUpdate",
                    "end of aroundSave", "didSave true",
                ])
        }
    }

    @Test("Callbacks of records come in order when saving falls back to an insertion")
    func save() throws {
        try withRecords { db throws in
            var witness = Witness(id: 1, diary: Diary())
            try witness.save(db)
            #expect(
                witness.diary.entries == [
                    "willSave", "aroundSave", "willUpdate [\"id\", \"name\"]", "aroundUpdate",
                ] + inserting + ["end of aroundSave", "didSave true"])
        }
    }

    @Test("Callbacks of records come in order around a deletion")
    func delete() throws {
        try withRecords { db throws in
            let witness = Witness(id: 1, diary: Diary())
            try witness.delete(db)
            #expect(witness.diary.entries == ["willDelete", "aroundDelete", "end of aroundDelete", "didDelete false"])
        }
    }

    @Test("Callbacks of records stop an insertion by throwing")
    func throwing() throws {
        struct Refusal: Error {}
        struct Refusing: PersistableRecord {
            static let databaseTableName = "note"
            func encode(to container: inout PersistenceContainer) { container["text"] = "x" }
            func willInsert(_ db: Database) throws { throw Refusal() }
            func didSave(_ saved: PersistenceSuccess) { Issue.record("Nothing was saved") }
        }
        try withRecords { db throws in
            #expect(throws: Refusal.self) { try Refusing().insert(db) }
            #expect(try Note.fetchCount(db) == 0)
        }
    }

    @Test("Callbacks of records that skip their action, or swallow its error, are refused", arguments: [true, false])
    func skipping(isCalled: Bool) throws {
        try withRecords { db throws in
            try db.execute(
                sql: """
                    INSERT INTO player VALUES (1, 'Arthur', NULL);
                    CREATE TRIGGER guardian BEFORE DELETE ON player BEGIN SELECT RAISE(ABORT, 'no'); END;
                    """)
            for callback in ["aroundSave", "aroundInsert", "aroundUpdate", "aroundDelete"] {
                // The name is taken: to insert and to update fail, too.
                let record = Careless(id: callback == "aroundInsert" ? 1 : 2, callback: callback, isCalled: isCalled)
                let error = #expect(throws: DatabaseError.self) {
                    switch callback {
                    case "aroundDelete": try Careless(id: 1, callback: callback, isCalled: isCalled).delete(db)
                    case "aroundUpdate": try record.update(db)
                    default: try record.insert(db)
                    }
                }
                #expect(error?.resultCode == .SQLITE_MISUSE)
                #expect(error?.message?.contains("Careless.\(callback) must call") == true)
            }
        }
    }
}

/// Ends one callback as if nothing had happened.
private struct Careless: PersistableRecord {
    static let databaseTableName = "player"
    var id: Int64
    let callback: String
    let isCalled: Bool

    func encode(to container: inout PersistenceContainer) {
        container["id"] = id
        container["name"] = "Arthur"
    }

    private func call(_ name: String, _ action: () throws -> Void) throws {
        if name != callback { return try action() }
        if isCalled { try? action() }
    }

    func aroundSave(_ db: Database, save: () throws -> PersistenceSuccess) throws {
        try call("aroundSave") { _ = try save() }
    }
    func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
        try call("aroundInsert") { _ = try insert() }
    }
    func aroundUpdate(_ db: Database, columns: Set<String>, update: () throws -> PersistenceSuccess) throws {
        try call("aroundUpdate") { _ = try update() }
    }
    func aroundDelete(_ db: Database, delete: () throws -> Bool) throws {
        try call("aroundDelete") { _ = try delete() }
    }
}
