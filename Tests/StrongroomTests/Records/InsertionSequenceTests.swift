import Strongroom
import Testing

/// The memory of one insertion must not reach a record that differs.
@Suite("Insertions of records remember")
struct InsertionSequenceTests {
    private func values(_ rows: [[Int?]]) -> [[DatabaseValue]] { rows.map { $0.map { $0.databaseValue } } }

    private func all(_ db: Database, _ table: String = "part") throws -> [[DatabaseValue]] {
        try Row.fetchAll(db, sql: "SELECT * FROM \(table) ORDER BY rowid").map { Array($0.databaseValues) }
    }

    @Test("the class that a record really is")
    func classes() throws {
        class Base: PersistableRecord {
            class var databaseTableName: String { "base" }
            var a = 0
            init(_ a: Int) { self.a = a }
            func encode(to container: inout PersistenceContainer) { container["a"] = a }
        }
        class Derived: Base {
            override class var databaseTableName: String { "derived" }
            override func encode(to container: inout PersistenceContainer) {
                container["b"] = -a
                super.encode(to: &container)
            }
        }
        final class Sibling: Derived {
            override func encode(to container: inout PersistenceContainer) {
                super.encode(to: &container)
                container["b"] = 7
            }
        }
        try QueueFixture().queue.write { db in
            try db.execute(sql: "CREATE TABLE base (a); CREATE TABLE derived (a, b)")
            for n in 0..<4 { for record in [Base(n), Derived(n), Sibling(n)] { try record.insert(db) } }
            #expect(try all(db, "base") == values((0..<4).map { [$0] }))
            #expect(try all(db, "derived") == values((0..<4).flatMap { [[$0, -$0], [$0, 7]] }))
        }
    }

    @Test("the columns of each type, although types have equal names, tables and columns")
    func equalNames() throws {
        enum Left {
            struct Part: PersistableRecord {
                var n: Int
                func encode(to container: inout PersistenceContainer) {
                    container["a"] = n
                    container["b"] = -n
                }
            }
        }
        enum Right {
            struct Part: PersistableRecord {
                var n: Int
                func encode(to container: inout PersistenceContainer) {
                    container["b"] = n
                    container["a"] = -n
                }
            }
        }
        try QueueFixture().queue.write { db in
            try db.execute(sql: "CREATE TABLE part (a, b)")
            for n in 1..<6 {
                try Left.Part(n: n).insert(db)
                try Right.Part(n: n).insert(db)
            }
            #expect(try all(db) == values((1..<6).flatMap { [[$0, -$0], [-$0, $0]] }))
        }
    }

    @Test("nothing of a table that was replaced", arguments: [false, true])
    func schemas(byOther: Bool) throws {
        struct Part: PersistableRecord, Encodable { var a: Int, b: Int }
        let fixture = try QueueFixture()
        let other = try DatabaseQueue(path: fixture.folder.path("db.sqlite"), configuration: .encrypted())
        func change(_ sql: String) throws { try (byOther ? other : fixture.queue).write { try $0.execute(sql: sql) } }
        func insert(_ part: Part) throws { try fixture.queue.write { for _ in 0..<2 { try part.insert($0) } } }

        try change("CREATE TABLE part (a, b)")
        try insert(Part(a: 1, b: 2))
        try change("ALTER TABLE part ADD COLUMN c DEFAULT 9")
        try insert(Part(a: 1, b: 2))
        try change("DROP TABLE part; CREATE TABLE part (c, b, x INTEGER PRIMARY KEY, a)")
        try insert(Part(a: 3, b: 4))
        #expect(try fixture.queue.read { try all($0) } == values([[nil, 4, 1, 3], [nil, 4, 2, 3]]))
        try change("ALTER TABLE part RENAME COLUMN a TO d")
        let error = #expect(throws: DatabaseError.self) { try insert(Part(a: 5, b: 6)) }
        #expect(error?.message?.contains("no column named a") == true)
        try change("ALTER TABLE part RENAME COLUMN d TO a; ALTER TABLE part RENAME COLUMN c TO e")
        try insert(Part(a: 5, b: 6))
        #expect(try fixture.queue.read { try all($0) }.suffix(2) == values([[nil, 6, 3, 5], [nil, 6, 4, 5]]))
    }

    @Test("the alias of the rowid of the current table")
    func rowIDColumns() throws {
        struct Part: MutablePersistableRecord, Encodable {
            var a: Int?
            var column: String?
            mutating func didInsert(_ inserted: InsertionSuccess) {
                a = inserted.persistenceContainer["a"]
                column = inserted.rowIDColumn
            }
            enum CodingKeys: CodingKey { case a }
        }
        try QueueFixture().queue.write { db in
            for (table, column) in [("part (a INTEGER PRIMARY KEY)", "a"), ("part (a)", nil)] {
                try db.execute(sql: "CREATE TABLE \(table)")
                for n in 1..<4 {
                    var part = Part()
                    try part.insert(db)
                    #expect(part.a == (column == nil ? nil : n))
                    #expect(part.column == column)
                }
                try db.execute(sql: "DROP TABLE part")
            }
        }
    }

    @Test("results that a program keeps, as they were")
    func results() throws {
        final class Results { var kept: [InsertionSuccess] = [], saved: [PersistenceSuccess] = [] }
        struct Part: PersistableRecord {
            var n: Int
            let results: Results
            func encode(to container: inout PersistenceContainer) {
                container["a"] = n
                container["b"] = -n
            }
            func didInsert(_ inserted: InsertionSuccess) { if n % 3 != 0 { results.kept.append(inserted) } }
            func didSave(_ saved: PersistenceSuccess) { if n % 2 == 0 { results.saved.append(saved) } }
        }
        let results = Results()
        try QueueFixture().queue.write { db in
            try db.execute(sql: "CREATE TABLE part (id INTEGER PRIMARY KEY, a, b)")
            for n in 0..<12 { try Part(n: n, results: results).insert(db) }
            #expect(try all(db) == values((0..<12).map { [$0 + 1, $0, -$0] }))
        }
        func columns(_ container: PersistenceContainer) -> [String: DatabaseValue] {
            Dictionary(uniqueKeysWithValues: container.map { $0 })
        }
        func expected(_ n: Int) -> [String: DatabaseValue] {
            ["a": n.databaseValue, "b": (-n).databaseValue, "id": (n + 1).databaseValue]
        }
        #expect(results.kept.map { columns($0.persistenceContainer) } == [1, 2, 4, 5, 7, 8, 10, 11].map(expected))
        #expect(results.saved.map { columns($0.persistenceContainer) } == [0, 2, 4, 6, 8, 10].map(expected))
        results.kept[0].persistenceContainer["a"] = 99
        #expect(columns(results.kept[0].persistenceContainer)["a"] == 99.databaseValue)
        #expect(results.kept.dropFirst().allSatisfy { $0.persistenceContainer["a"] != 99 as Int? })
    }

    @Test("nothing of a container that a record puts in the place of its own")
    func foreignContainers() throws {
        final class Kept { var container: PersistenceContainer? }
        struct First: PersistableRecord {
            static let databaseTableName = "first"
            let kept: Kept
            func encode(to container: inout PersistenceContainer) {
                container["b"] = 1
                container["a"] = 2
                kept.container = container
            }
        }
        struct Second: PersistableRecord {
            static let databaseTableName = "second"
            var foreign: PersistenceContainer?
            func encode(to container: inout PersistenceContainer) {
                if let foreign { return container = foreign }
                container["a"] = 3
                container["b"] = 4
            }
        }
        try QueueFixture().queue.write { db in
            try db.execute(sql: "CREATE TABLE first (a, b); CREATE TABLE second (a, b)")
            let kept = Kept()
            for _ in 0..<3 {
                try First(kept: kept).insert(db)
                try Second().insert(db)
                try Second(foreign: kept.container).insert(db)
                kept.container?["a"] = 5
                try Second().insert(db)
            }
            #expect(try all(db, "first") == values(Array(repeating: [2, 1], count: 3)))
            #expect(try all(db, "second") == values((0..<3).flatMap { _ in [[3, 4], [2, 1], [3, 4]] }))
        }
    }

    @Test("their own values while a callback, or a function of the statement, inserts another record of the type")
    func nested() throws {
        struct Part: PersistableRecord {
            var n: Int
            func encode(to container: inout PersistenceContainer) {
                if n % 2 == 0 { container["a"] = n }
                container["b"] = -n
                if n % 2 == 1 { container["a"] = n }
            }
            func willInsert(_ db: Database) throws { if n % 10 == 1 { try Part(n: n + 1).insert(db) } }
            func aroundInsert(_ db: Database, insert: () throws -> InsertionSuccess) throws {
                if n % 10 == 3 { try Part(n: n + 1).insert(db) }
                let inserted = try insert()
                if n % 10 == 3 { try Part(n: n + 2).insert(db) }
                #expect(inserted.persistenceContainer["b"] == -n)
            }
            func didSave(_ saved: PersistenceSuccess) { #expect(saved.persistenceContainer["a"] == n) }
        }
        try QueueFixture().queue.write { db in
            nonisolated(unsafe) let connection = db
            db.add(
                function: DatabaseFunction("insertNext", argumentCount: 1) { values in
                    let n = Int.fromDatabaseValue(values[0])!
                    if n % 10 == 6 { try Part(n: n + 1).insert(connection) }
                    return n
                })
            try db.execute(
                sql: """
                    CREATE TABLE part (a, b);
                    CREATE TRIGGER next BEFORE INSERT ON part BEGIN SELECT insertNext(NEW.a); END
                    """)
            for n in stride(from: 0, to: 30, by: 10) { for step in [1, 3, 6, 8] { try Part(n: n + step).insert(db) } }
            #expect(try Set(all(db)) == Set(values((0..<30).filter { ![0, 9].contains($0 % 10) }.map { [$0, -$0] })))
        }
    }

    @Test("nothing of a record that failed to encode, or to be inserted")
    func failures() throws {
        struct Failure: Error {}
        struct Part: PersistableRecord {
            var n: Int, fails = false
            func encode(to container: inout PersistenceContainer) throws {
                container["a"] = n
                if fails { throw Failure() }
                container["b"] = -n
            }
        }
        try QueueFixture().queue.write { db in
            try db.execute(sql: "CREATE TABLE part (a UNIQUE, b)")
            for n in 0..<5 {
                try Part(n: n).insert(db)
                #expect(throws: Failure.self) { try Part(n: n + 50, fails: true).insert(db) }
                try Part(n: n + 10).insert(db)
                #expect(throws: DatabaseError.self) { try Part(n: n).insert(db) }
                try Part(n: n + 20).insert(db)
            }
            #expect(try all(db) == values((0..<5).flatMap { n in [n, n + 10, n + 20].map { [$0, -$0] } }))
        }
    }
}
