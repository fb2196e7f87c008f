import Foundation
import Strongroom
import TestSupport
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
        let opened = try await pool.read { $0.storedKey }
        if case .former(let key) = opened { print("a copy from before \(key.date)") }
        #expect(try opened == .current && store.formerKeys()?.count == 1)

        let oldestBackup = Date.now
        for key in try store.formerKeys() ?? [] where key.date < oldestBackup {
            try store.remove(key)
        }
        #expect(try store.formerKeys() == [])
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

        func names(startingWith prefix: String) -> [String]? {
            try? FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix(prefix) }
        }
    }

    struct VaultKeyStore: KeyStore {
        let vault: Vault

        func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey { try get("\(entry)") }
        func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError) { try create("\(entry)", key) }
        func remove(_ entry: KeyStoreEntry) throws(KeyStoreError) { try delete("\(entry)") }

        func formerKeys() throws(KeyStoreError) -> [FormerKey]? {
            guard let names = vault.names(startingWith: "notes-") else { throw .failed("the vault does not answer") }
            return names.compactMap { FormerKey(name: String($0.dropFirst("notes-".count))) }
        }

        func load(_ key: FormerKey) throws(KeyStoreError) -> DatabaseKey { try get(key.name) }
        func store(_ key: DatabaseKey, as former: FormerKey) throws(KeyStoreError) { try create(former.name, key) }
        func remove(_ key: FormerKey) throws(KeyStoreError) { try delete(key.name) }

        private func get(_ name: String) throws(KeyStoreError) -> DatabaseKey {
            switch vault.get("notes-\(name)") {
            case .secret(let bytes):
                guard let key = try? DatabaseKey.rawKey(bytes) else { throw .failed("the vault holds no key") }
                return key
            case .none: throw .absent
            case .sealed: throw .locked("the vault is sealed")
            case .error(let status): throw .failed("the vault answers \(status)")
            }
        }

        private func create(_ name: String, _ key: DatabaseKey) throws(KeyStoreError) {
            guard case .none = vault.get("notes-\(name)") else { throw .exists }
            let isStored = try? key.withUnsafeBytes { vault.create("notes-\(name)", $0) }
            guard isStored == true else { throw .failed("the vault did not take the key") }
        }

        private func delete(_ name: String) throws(KeyStoreError) {
            guard case .secret = vault.get("notes-\(name)") else { throw .absent }
            guard vault.delete("notes-\(name)") else { throw .failed("the vault did not delete the key") }
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
        #expect(try store.formerKeys()?.count == 1)
    }
}
