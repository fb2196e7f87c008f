import Foundation
import Strongroom
import TestSupport
import Testing

// The samples of the articles on keys, rotation, concurrency and moving, and of the first page, as they stand there:
// `ArticleTextTests` compares.

@Suite("Samples of the articles on encryption and access", .timeLimit(.minutes(1)))
struct EncryptionArticleSamples {
    private let folder: TemporaryFolder
    private let path: String
    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("secrets.sqlite")
    }

    @Test("First page: a queue with a passphrase writes and reads")
    func firstPage() throws {
        let passphrase = "correct horse", path = path
        var defaults = Configuration()
        defaults.encryption = Encryption(key: .passphrase(passphrase))
        let earlier = try DatabaseQueue(path: path, configuration: defaults)
        try earlier.write { try $0.execute(sql: "CREATE TABLE note (text TEXT)") }
        try earlier.close()

        var configuration = Configuration()
        configuration.encryption = Encryption(key: .passphrase(passphrase))
        let queue = try DatabaseQueue(path: path, configuration: configuration)

        try queue.write { db in
            try db.execute(sql: "INSERT INTO note (text) VALUES (?)", arguments: ["Buy milk"])
        }
        let notes = try queue.read { db in
            try String.fetchAll(db, sql: "SELECT text FROM note")
        }
        #expect(notes == ["Buy milk"])
        #expect(try stockShell(path, key: passphrase, setUp: "", "SELECT text FROM note;") == ["Buy milk"])
    }

    private struct Keychain: Sendable {
        func read(_ name: String) throws -> String { "from the keychain" }
    }

    @Test("Keys: the configuration says where the key comes from, and opening reads it")
    func keys() throws {
        let passphrase = "typed", bytesFromKeychain = [UInt8](repeating: 7, count: 32), keychain = Keychain()
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .passphrase(passphrase))
        configuration.encryption = Encryption(key: try .rawKey(bytesFromKeychain))
        configuration.encryption = Encryption(key: .passphrase(from: { try keychain.read("db") }))
        configuration.encryption = Encryption(key: .passphrase(contentsOf: "/run/secrets/db"))
        configuration.encryption = Encryption(key: .managed(by: FileKeyStore(path: "/var/lib/app-key/db")))
        // The last line counts, and names a folder that is not there.
        #expect(throws: (any Error).self) { try DatabaseQueue(path: path, configuration: configuration) }

        let keys: [DatabaseKey] = [
            .passphrase(passphrase), try .rawKey(bytesFromKeychain), .passphrase(from: { try keychain.read("db") }),
        ]
        for key in keys {
            let path = folder.path(UUID().uuidString)
            configuration.encryption = Encryption(key: key)
            try DatabaseQueue(path: path, configuration: configuration).write {
                try $0.execute(sql: "CREATE TABLE t(a)")
            }
            #expect(try DatabaseQueue(path: path, configuration: configuration).read { try $0.tableExists("t") })
        }
    }

    private final class Bar: @unchecked Sendable {
        private let counts = Shared<[Int]>([])
        func update(_ count: Int, of total: Int) { counts.update { $0.append(count) } }
        var hasAdvanced: Bool { !counts.value.isEmpty }
    }

    @Test("Rotation: progress, and the end that readers delay")
    func rotation() throws {
        let pool = try DatabasePool(path: path, configuration: .encrypted()), newPassphrase = "a longer one",
            bar =
                Bar()
        try pool.write { try $0.execute(sql: "CREATE TABLE t(a)") }
        do {
            let outcome = try pool.rotateKey(to: .passphrase(newPassphrase)) { progress in
                bar.update(progress.completedPageCount, of: progress.totalPageCount)
            }
            #expect(outcome == .complete)
            #expect(bar.hasAdvanced)
        }
        let newKey = try DatabaseKey.random()
        var snapshot: DatabaseSnapshot? = try pool.makeSnapshot()
        #expect(try snapshot?.read { try $0.tableExists("t") } == true)
        snapshot = nil
        var outcome = try pool.rotateKey(to: newKey)
        while outcome == .formerKeyRemains { outcome = try pool.finishKeyRotation() }
        #expect(outcome == .complete)
        try pool.close()
        var configuration = Configuration()
        configuration.encryption = Encryption(key: newKey)
        #expect(try DatabaseQueue(path: path, configuration: configuration).read { try $0.tableExists("t") })
    }

    @Test("Concurrency: a read that blocks, and a write that is awaited")
    func concurrency() async throws {
        let pool = try SampleDatabase.pool()
        let before = try read(pool)
        try await pool.write { db in try db.execute(sql: "INSERT INTO wine (name) VALUES ('Chinon')") }
        #expect(try read(pool) == (before ?? 0) + 1)
    }

    private func read(_ pool: DatabasePool) throws -> Int? {
        let count = try pool.read { db in try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM wine") }
        return count
    }

    @Test("Moving: a plaintext header whose salt the program keeps")
    func providedSalt() throws {
        let passphrase = "correct horse", salt = [UInt8](1...16)
        var configuration = Configuration()
        configuration.encryption = Encryption(
            key: .passphrase(passphrase), plaintextHeader: PlaintextHeader(salt: .provided(salt)))
        try DatabaseQueue(path: path, configuration: configuration).write { try $0.execute(sql: "CREATE TABLE t(a)") }
        #expect(try DatabaseQueue(path: path, configuration: configuration).read { try $0.tableExists("t") })
        #expect(!FileManager.default.fileExists(atPath: path + "-salt"))
    }
}
