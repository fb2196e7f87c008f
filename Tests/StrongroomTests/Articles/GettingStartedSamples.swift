import Foundation
import Strongroom
import Testing

// The samples of "Getting started" and "Troubleshooting", as they stand there: `ArticleTextTests` compares.

@Suite("Samples of the first article", .timeLimit(.minutes(1)))
struct GettingStartedSamples {
    struct Note: Codable, Identifiable, FetchableRecord, MutablePersistableRecord {
        var id: Int64?
        var text: String
        var createdAt: Date

        enum Columns {
            static let createdAt = Column(CodingKeys.createdAt)
        }

        mutating func didInsert(_ inserted: InsertionSuccess) {
            id = inserted.rowID
        }
    }

    private func makeMigrator() -> DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("create notes") { db in
            try db.create(table: "note") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("text", .text).notNull()
                table.column("createdAt", .datetime).notNull()
            }
        }
        return migrator
    }

    @Test("Getting started: from an empty folder to a rotated key")
    func gettingStarted() async throws {
        let folder = try TemporaryFolder(), path = folder.path("notes.sqlite"), passphraseFile =
            folder.path("passphrase")
        #expect(FileManager.default.createFile(
            atPath: passphraseFile, contents: Data("a short one\n".utf8), attributes: [.posixPermissions: 0o600]))
        let migrator = makeMigrator()

        var configuration = Configuration()
        configuration.encryption = Encryption(key: .passphrase(contentsOf: passphraseFile))
        let pool = try DatabasePool(path: path, configuration: configuration)
        try migrator.migrate(pool)

        try await pool.write { db in
            var note = Note(text: "Buy milk", createdAt: Date())
            try note.insert(db)
        }
        let latest = try await pool.read { db in
            try Note.order(Note.Columns.createdAt.desc).limit(10).fetchAll(db)
        }
        #expect(latest.map(\.text) == ["Buy milk"])

        let writer = Task {
            while !Task.isCancelled {
                try await pool.write { db in
                    var note = Note(text: "Sleep", createdAt: Date())
                    try note.insert(db)
                }
            }
        }
        let observation = ValueObservation.tracking { db in
            try Note.order(Note.Columns.createdAt.desc).fetchAll(db)
        }
        for try await notes in observation.values(in: pool) {
            print("\(notes.count) notes")
            if notes.count > 1 { break }
        }
        writer.cancel()
        _ = await writer.result

        try await pool.rotateKey(to: .passphrase("a longer one"))
        try pool.close()
        #expect(try stockShell(path, key: "a longer one", setUp: "",
            "SELECT text FROM note WHERE id = 1;") == ["Buy milk"])
    }

    @Test("Troubleshooting: a wrong key")
    func troubleshooting() throws {
        let folder = try TemporaryFolder(), path = folder.path("notes.sqlite")
        let configuration = Configuration.encrypted(passphrase: "wrong")
        try DatabaseQueue(path: path, configuration: .encrypted()).write { try $0.execute(sql: "CREATE TABLE t(a)") }
        var pool: DatabasePool?
        do {
            pool = try DatabasePool(path: path, configuration: configuration)
        } catch let error as DatabaseError where error.reason == .wrongKey {
            pool = nil
        }
        #expect(pool == nil)
    }
}
