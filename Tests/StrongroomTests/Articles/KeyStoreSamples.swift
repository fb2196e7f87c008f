import Foundation
import Strongroom
import Testing

// The samples of "Key stores", as they stand there: `ArticleTextTests` compares.

@Suite("Samples of key stores", .timeLimit(.minutes(1)))
struct KeyStoreSamples {
    @Test("A key in a file, loaded, locked and changed")
    func file() async throws {
        let folder = try TemporaryFolder(), path = folder.path("notes.sqlite"), keyPath = folder.path("key")
        let store = FileKeyStore(path: keyPath)
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .managed(by: store))
        let pool = try DatabasePool(path: path, configuration: configuration)
        try await pool.write { try $0.execute(sql: "CREATE TABLE t(a)") }

        try await pool.rotateKey(to: .managed(by: store))
        try pool.close()
        let text = try String(contentsOfFile: keyPath, encoding: .utf8).dropLast()
        #expect(try stockShell(path, key: String(text), setUp: "", "SELECT count(*) FROM t;") == ["0"])
    }

    @Test("A store that is locked")
    func locked() throws {
        let folder = try TemporaryFolder(), path = folder.path("notes.sqlite"), store = MemoryKeyStore()
        store.become(.locked)
        let configuration = Configuration.managed(by: store)
        func openWhenUnlocked() throws -> DatabasePool? {
            do {
                return try DatabasePool(path: path, configuration: configuration)
            } catch let error as DatabaseError where error.reason == .keyStoreLocked {
                return nil
            }
        }
        #expect(try openWhenUnlocked() == nil)
        store.become(.open)
        #expect(try openWhenUnlocked() != nil)
    }

    struct Vault: Sendable {
        enum Answer { case secret([UInt8]), none, sealed, error(Int) }

        let folder: TemporaryFolder

        func get(_ name: String) -> Answer {
            guard FileManager.default.fileExists(atPath: folder.path) else { return .error(503) }
            return FileManager.default.contents(atPath: folder.path(name)).map { .secret(Array($0)) } ?? .none
        }

        func create(_ name: String, _ secret: UnsafeRawBufferPointer) -> Bool {
            FileManager.default.createFile(atPath: folder.path(name), contents: Data(secret))
        }

        func delete(_ name: String) -> Bool { unlink(folder.path(name)) == 0 }
    }

    struct VaultKeyStore: KeyStore {
        let vault: Vault

        func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey {
            switch vault.get("notes-\(entry)") {
            case .secret(let bytes):
                guard let key = try? DatabaseKey.rawKey(bytes) else { throw .failed("the vault holds no key") }
                return key
            case .none: throw .absent
            case .sealed: throw .locked("the vault is sealed")
            case .error(let status): throw .failed("the vault answers \(status)")
            }
        }

        func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError) {
            guard case .none = vault.get("notes-\(entry)") else { throw .exists }
            let isStored = try? key.withUnsafeBytes { vault.create("notes-\(entry)", $0) }
            guard isStored == true else { throw .failed("the vault did not take the key") }
        }

        func remove(_ entry: KeyStoreEntry) throws(KeyStoreError) {
            guard case .secret = vault.get("notes-\(entry)") else { throw .absent }
            guard vault.delete("notes-\(entry)") else { throw .failed("the vault did not delete the key") }
        }
    }

    @Test("A store of one's own")
    func own() throws {
        let folder = try TemporaryFolder(), path = folder.path("notes.sqlite")
        let store = VaultKeyStore(vault: Vault(folder: try TemporaryFolder()))
        #expect(try addRow(path, .managed(by: store)) == 1)
        let queue = try DatabaseQueue(path: path, configuration: .managed(by: store))
        try queue.rotateKey(to: .managed(by: store))
        try queue.close()
        #expect(try addRow(path, .managed(by: store)) == 2)
    }
}
