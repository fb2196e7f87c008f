import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Swift takes strings for equal that differ only in the normalization of Unicode. SQLite and file systems compare
/// bytes, and SQLite distinguishes the case of all letters but A to Z.
@Suite("Names that look alike")
struct LookAlikeTests {
    /// é as one scalar, and as e with a combining mark.
    private static let composed = "\u{e9}", decomposed = "e\u{301}", capital = "\u{c9}"
    private static let all = [composed, decomposed, capital]

    /// A database with a table of each name, with one, two and three rows.
    private func withTables<T>(_ body: (DatabaseQueue) throws -> T) throws -> T {
        let fixture = try QueueFixture(.encrypted()), queue = fixture.queue
        try queue.write { db in
            for (number, name) in Self.all.enumerated() {
                let table = name.quotedDatabaseIdentifier
                try db.execute(sql: "CREATE TABLE \(table)(id INTEGER PRIMARY KEY, \"c\(number)\" DEFAULT 'secret')")
                for _ in 0...number { try db.execute(sql: "INSERT INTO \(table) DEFAULT VALUES") }
            }
        }
        return try body(queue)
    }

    @Test("are keys by their bytes, and shown as they are")
    func folding() {
        for name in Self.all + ["abc", "a\u{301}b", "\u{e0e9}x", ""] {
            #expect(name.foldedSQLName.unfoldedSQLName.hasBytes(of: name))
        }
        #expect(!Self.all[0].hasBytes(of: Self.all[1]))
        #expect(!"abc".hasBytes(of: "abd"))
        #expect("a long name of a table"[...].hasBytes(of: "a long name of a table, continued".prefix(22)))
        #expect(Set(Self.all.map(\.foldedSQLName)).count == 3)
        #expect("AbC".foldedSQLName == "abc")
    }

    @Test("are tables of their own in the schema", arguments: all.indices)
    func schema(number: Int) throws {
        try withTables { queue in
            try queue.write { db in
                #expect(try db.columns(in: Self.all[number]).map(\.name) == ["id", "c\(number)"])
                try db.drop(table: Self.all[number])
                #expect(try Self.all.map { try db.tableExists($0) } == Self.all.indices.map { $0 != number })
            }
        }
    }

    @Test("are restricted each for itself, in tables and columns")
    func restrictions() throws {
        try withTables { queue in
            let one = Restrictions(tables: [.table(Self.composed)])
            func count(_ table: String, _ restrictions: Restrictions) throws -> Int? {
                try queue.read(restrictedTo: restrictions) {
                    try Int.fetchOne($0, sql: "SELECT count(*) FROM \(table.quotedDatabaseIdentifier)")
                }
            }
            #expect(try count(Self.composed, one) == 1)
            for name in [Self.decomposed, Self.capital] {
                let error = #expect(throws: DatabaseError.self) { try count(name, one) }
                #expect("\(error as Any)".unicodeScalars.allSatisfy { !(0xE000...0xE0FF).contains($0.value) })
            }
            try queue.write {
                try $0.execute(sql: "CREATE TABLE cust(\"\(Self.composed)\", \"\(Self.decomposed)\")")
            }
            let column = Restrictions(tables: [.table("cust", columns: [Self.composed])])
            try queue.read(restrictedTo: column) { db in
                _ = try Row.fetchAll(db, sql: "SELECT \"\(Self.composed)\" FROM cust")
                #expect(throws: DatabaseError.self) {
                    try Row.fetchAll(db, sql: "SELECT \"\(Self.decomposed)\" FROM cust")
                }
            }
        }
    }

    @Test("are columns of their own in rows and records")
    func columns() throws {
        struct Changing: PersistableRecord {
            static let databaseTableName = "p"
            var values: [(column: String, value: Int)]
            func encode(to container: inout PersistenceContainer) {
                for (column, value) in values { container[column] = value }
            }
        }
        let fixture = try QueueFixture(.encrypted())
        try fixture.queue.write { db in
            let names = Self.all.map(\.quotedDatabaseIdentifier).joined(separator: ", ")
            try db.execute(sql: "CREATE TABLE p(id INTEGER PRIMARY KEY, \(names))")
            try Changing(values: Array(zip(Self.all, 1...3))).insert(db)
            for name in Self.all { try Changing(values: [(name, 7)]).insert(db) }
            let rows = try Row.fetchAll(db, sql: "SELECT \(names) FROM p")
            let values: [[Int]] = rows.map { row in
                Array(row.databaseValues).map { $0.isNull ? 0 : Int.fromDatabaseValue($0)! }
            }
            #expect(values == [[1, 2, 3], [7, 0, 0], [0, 7, 0], [0, 0, 7]])
            for _ in 0..<2 { #expect(Self.all.map { rows[0][$0] as Int } == [1, 2, 3]) }
            #expect(try Row.fetchOne(db, sql: "SELECT 5 AS \"\(Self.composed)\"")?[Self.capital] == 5)
        }
    }

    @Test("are observed each for itself")
    func regions() throws {
        try withTables { queue in
            let region = DatabaseRegion(table: Self.capital, columns: nil, rowIDs: [1])
                .union(DatabaseRegion(table: Self.composed))
            for (name, isModified) in zip(Self.all, [true, false, false]) {
                let event = DatabaseEvent(kind: .insert, rowID: 2, databaseName: "main", tableName: name)
                #expect(region.isModified(by: event) == isModified, "\(name)")
            }
        }
    }

    @Test("are copied, and each is verified")
    func copies() throws {
        try withTables { queue in
            let folder = try TemporaryFolder(), copy = folder.path("copy.sqlite")
            try queue.close()
            try DatabaseFile.decrypt(
                path: queue.path, to: copy,
                encryption: Encryption(
                    key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000)))
            let counts = try DatabaseQueue(path: copy).read { db in
                try Self.all.map { try Int.fetchOne(db, sql: "SELECT count(*) FROM \($0.quotedDatabaseIdentifier)") }
            }
            #expect(counts == [1, 2, 3])
        }
    }

    @Test("are collations of their own")
    func collations() throws {
        let fixture = try PoolFixture()
        for name in Self.all {
            fixture.pool.add(
                collation: DatabaseCollation(name) {
                    $0 == $1 ? .orderedSame : $0 < $1 ? .orderedAscending : .orderedDescending
                })
        }
        for name in Self.all {
            try fixture.pool.read { (db: Database) throws -> Void in
                let sql = "SELECT 'a' < 'b' COLLATE \(name.quotedDatabaseIdentifier)"
                #expect(try Bool.fetchOne(db, sql: sql) == true)
            }
        }
    }

    @Test("are databases of their own for a key store, and stores of their own")
    func keyStores() throws {
        let folder = try TemporaryFolder(), store = FileKeyStore(path: folder.path("key"))
        let queue = try DatabaseQueue(path: folder.path(Self.composed), configuration: .managed(by: store))
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a)") }
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: folder.path(Self.decomposed), configuration: .managed(by: store))
        }
        #expect(error?.reason == .foreignKeyStore)
        try queue.close()
        let stores = [Self.composed, Self.decomposed].map { FileKeyStore(path: folder.path("store-" + $0)) }
        for (number, store) in stores.enumerated() {
            let key = FormerKey(identifier: String(repeating: "\(number)", count: 32), date: Date())
            try store.store(.random(), as: key)
        }
        let counts = try stores.map { try $0.formerKeys()?.count }
        #expect(counts == [1, 1])
    }

    @Test("are one migration")
    func migrations() throws {
        let fixture = try QueueFixture(.encrypted()), queue = fixture.queue
        var former = DatabaseMigrator(), merged = DatabaseMigrator()
        former.registerMigration(Self.decomposed) { _ in }
        merged.registerMigration("merged", merging: [Self.composed]) { _, applied in #expect(applied.count == 1) }
        try former.migrate(queue)
        try merged.migrate(queue)
        #expect(try queue.read { try merged.hasBeenSuperseded($0) } == false)
    }

    @Test("with a combining mark behind file: are files")
    func files() throws {
        let folder = try TemporaryFolder(), name = "file:\u{301}x?mode=rw"
        try inFolder(folder.path) {
            let queue = try DatabaseQueue(path: name, configuration: .encrypted())
            try queue.write { try $0.execute(sql: "CREATE TABLE t(a)") }
            try queue.close()
        }
        #expect(try folder.names() == [name])
    }
}
