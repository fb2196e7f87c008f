import CStrongroomFaults
import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("A key store in a file")
struct FileKeyStoreTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("key") }
    private var store: FileKeyStore { FileKeyStore(path: path) }

    init() throws { folder = try TemporaryFolder() }

    private func failure(_ store: some KeyStore) -> KeyStoreError? {
        #expect(throws: KeyStoreError.self) { _ = try store.load(.current) }
    }

    private func isFailed(_ error: KeyStoreError?) -> Bool {
        if case .failed = error { true } else { false }
    }

    @Test("keeps a key for its owner only, as text that any SQLCipher takes")
    func keeps() throws {
        let key = try DatabaseKey.rawKey(1...32)
        try store.store(key, as: .current)
        #expect(permissions(of: path) == 0o600)
        let digits = (1...32).map { String(format: "%02x", $0) }.joined()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "x'\(digits)'\n")
        #expect(try store.load(.current).withUnsafeBytes { Array($0) } == Array(1...32))
        #expect(try DatabaseKey.passphrase(contentsOf: path).withUnsafeBytes { $0.count } == 67)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["key"])
    }

    @Test("distinguishes an absent key, an existing one, and a missing store")
    func answers() throws {
        #expect(failure(store) == .absent)
        #expect(throws: KeyStoreError.absent) { try store.remove(.current) }
        try store.store(.rawKey(1...32), as: .current)
        #expect(throws: KeyStoreError.exists) { try store.store(.random(), as: .current) }
        #expect(try store.load(.current).withUnsafeBytes { $0[0] } == 1)
        #expect(throws: KeyStoreError.absent) { try store.load(.next) }
        try store.remove(.current)
        #expect(failure(store) == .absent)
        let missing = FileKeyStore(path: folder.path("not mounted/key"))
        #expect(isFailed(failure(missing)))
        #expect(throws: KeyStoreError.self) { try missing.store(.random(), as: .current) }
    }

    @Test("refuses and keeps files that other users own or may read, links, folders and FIFOs")
    func refusals() throws {
        try store.store(.random(), as: .current)
        for mode: mode_t in [0o640, 0o604, 0o620] {
            chmod(path, mode)
            #expect(isFailed(failure(store)), "\(mode)")
        }
        chmod(path, 0o600)
        for (name, make) in [
            ("link", { symlink(path, $0) }), ("folder", { mkdir($0, 0o700) }), ("fifo", { mkfifo($0, 0o600) }),
        ] as [(String, (String) -> CInt)] {
            let other = FileKeyStore(path: folder.path(name))
            try #require(make(other.path) == 0)
            #expect(isFailed(failure(other)), "\(name)")
            #expect(throws: KeyStoreError.self) { try other.remove(.current) }
            #expect(throws: KeyStoreError.exists) { try other.store(.random(), as: .current) }
            #expect(permissions(of: other.path) != nil)
        }
        if geteuid() == 0 {
            try #require(chown(path, 65534, 65534) == 0)
            #expect(isFailed(failure(store)))
        }
    }

    @Test(
        "takes nothing for a key that is none, and removes nothing that is none",
        arguments: [
            "", "\n", "correct horse", "x'00'", "x'" + String(repeating: "0g", count: 32) + "'",
            String(repeating: "x", count: 70_000),
        ])
    func damage(text: String) throws {
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        chmod(path, 0o600)
        let error = failure(store)
        #expect(isFailed(error))
        #expect(throws: KeyStoreError.self) { try store.remove(.current) }
        #expect(FileManager.default.contents(atPath: path)?.count == text.utf8.count)
        #expect(text.count < 5 || !"\(error!)".contains(text))
    }

    @Test("overwrites the remains of a killed program, unless they belong to another user")
    func partial() throws {
        try Data("x'00".utf8).write(to: URL(fileURLWithPath: path + "-partial"))
        chmod(path + "-partial", 0o644)
        try store.store(.rawKey(1...32), as: .current)
        #expect(permissions(of: path) == 0o600)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["key"])
        try store.remove(.current)
        try Data().write(to: URL(fileURLWithPath: path + "-partial"))
        guard geteuid() == 0 else { return }
        try #require(chmod(path + "-partial", 0o666) == 0 && chown(path + "-partial", 65534, 65534) == 0)
        #expect(throws: KeyStoreError.self) { try store.store(.random(), as: .current) }
        #expect(FileManager.default.contents(atPath: path + "-partial") == Data())
        #expect(failure(store) == .absent)
    }

    @Test("of many writers simultaneously, lets one store its key, whole")
    func writers() throws {
        let stored = Shared(0), refused = Shared(0), store = store
        DispatchQueue.concurrentPerform(iterations: 16) { number in
            do {
                try store.store(.rawKey(repeatElement(UInt8(number), count: 32)), as: .current)
                stored.update { $0 += 1 }
            } catch KeyStoreError.exists {
                refused.update { $0 += 1 }
            } catch {
                Issue.record(error)
            }
        }
        #expect(stored.value == 1 && refused.value == 15)
        #expect(try Set(store.load(.current).withUnsafeBytes { Array($0) }).count == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["key"])
    }

    @Test("that this user may not read has failed, and is not empty", .enabled(if: geteuid() == 0))
    func unreadable() throws {
        try store.store(.random(), as: .current)
        try #require(chmod(path, 0) == 0 && chmod(folder.path, 0o711) == 0)
        try #require(strongroom_faults_use_files_as(65534))
        defer { _ = strongroom_faults_use_files_as(0) }
        #expect(isFailed(failure(store)))
    }
}
