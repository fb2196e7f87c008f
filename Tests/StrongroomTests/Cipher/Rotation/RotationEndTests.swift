import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Success means: opened from the files alone, as the user will, and nothing of the former key is left, or it is said
/// that something is.
@Suite("The end of a rotation")
struct RotationEndTests {
    static let settings = CipherSettings(kdfIterations: 1000)

    static func configuration(_ key: DatabaseKey, _ header: PlaintextHeader? = nil) -> Configuration {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: key, settings: settings, plaintextHeader: header)
        return configuration
    }

    /// Another key that carries its salt for each letter.
    static func saltedKey(_ digit: Character) -> DatabaseKey {
        .passphrase("x'" + String(repeating: digit, count: 96) + "'")
    }

    static func create(
        _ path: String, _ configuration: Configuration, journalMode: String = "wal"
    ) throws -> DatabaseQueue {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { db in
            _ = try String.fetchOne(db, sql: "PRAGMA journal_mode = \(journalMode)")
            try db.execute(sql: "CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
            for _ in 0..<30 { try db.execute(sql: "INSERT INTO t(b) VALUES (randomblob(3000))") }
        }
        return queue
    }

    static func count(_ path: String, _ configuration: Configuration) throws -> Int? {
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.read { try Int.fetchOne($0, sql: "SELECT count(b) FROM t") }
    }

    static func copy(_ path: String, _ endings: [String], into folder: String) throws -> String {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        for ending in endings where FileManager.default.fileExists(atPath: path + ending) {
            try FileManager.default.copyItem(atPath: path + ending, toPath: folder + "/db.sqlite" + ending)
        }
        return folder + "/db.sqlite"
    }

    static func size(_ path: String) -> Int { (try? Data(contentsOf: URL(fileURLWithPath: path)).count) ?? 0 }

    // MARK: From the files alone

    @Test(
        "away from a key that carries its salt, or to one, opens with nothing but the new key", arguments: [0, 32, 64],
        ["wal", "delete"])
    func saltedKeys(header: Int, journalMode: String) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let plain = header > 0 ? PlaintextHeader(size: header) : nil
        let queue = try Self.create(path, Self.configuration(Self.saltedKey("a"), plain), journalMode: journalMode)
        var former = Self.saltedKey("a")
        for key in [
            DatabaseKey.passphrase("first"), .passphrase("second"), Self.saltedKey("b"), Self.saltedKey("c"),
            .passphrase("last"),
        ] {
            #expect(try queue.rotateKey(to: key) == .complete)
            #expect(try Self.count(path, Self.configuration(key)) == 30)
            #expect(throws: DatabaseError.self) { try Self.count(path, Self.configuration(former)) }
            former = key
        }
    }

    @Test("with the caller's salt keeps that salt, which the caller gives again")
    func callersSalt() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let header = PlaintextHeader(size: 48, salt: .provided([UInt8](1...16)))
        let queue = try Self.create(path, Self.configuration(.passphrase("old"), header))
        #expect(try queue.rotateKey(to: .passphrase("new")) == .complete)
        #expect(try Self.count(path, Self.configuration(.passphrase("new"), header)) == 30)
        #expect(!FileManager.default.fileExists(atPath: path + "-salt"))
    }

    @Test("is no success where the files alone don't open")
    func unusableSalt() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let queue = try Self.create(path, Self.configuration(.passphrase("old"), PlaintextHeader()))
        var isBroken = false
        let error = #expect(throws: DatabaseError.self) {
            try queue.rotateKey(to: .passphrase("new")) { _ in
                if isBroken { return }
                isBroken = true
                try FileManager.default.moveItem(atPath: path + "-salt", toPath: path + ".kept")
                try FileManager.default.createDirectory(atPath: path + "-salt", withIntermediateDirectories: false)
            }
        }
        #expect(error?.reason == .keyChanged)
        try queue.close()
        // Nothing is lost: with its own file back in place, opening finds the new salt, and finishes.
        try FileManager.default.removeItem(atPath: path + "-salt")
        try FileManager.default.moveItem(atPath: path + ".kept", toPath: path + "-salt")
        #expect(try Self.count(path, Self.configuration(.passphrase("new"))) == 30)
        #expect(try !DatabaseFile.inspect(path: path).isRotationPending)
    }

    @Test(
        "of a file with a second name is refused, and so is a change of its header; nothing changes",
        arguments: ["wal", "delete"])
    func hardLink(journalMode: String) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite"),
            old = Self.configuration(.passphrase("old"))
        let queue = try Self.create(path, old, journalMode: journalMode)
        try FileManager.default.linkItem(atPath: path, toPath: folder.path("other.sqlite"))
        let error = #expect(throws: DatabaseError.self) { try queue.rotateKey(to: .passphrase("new")) }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.reason == .severalNames)
        try queue.close()
        #expect(throws: DatabaseError.self) {
            try DatabaseFile.setPlaintextHeader(PlaintextHeader(), path: path, encryption: old.encryption!)
        }
        #expect(try Self.count(path, old) == 30)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.contains("-salt") } == [])
        try FileManager.default.removeItem(atPath: folder.path("other.sqlite"))
        #expect(try DatabaseQueue(path: path, configuration: old).rotateKey(to: .passphrase("new")) == .complete)
    }

    // MARK: What is left

    @Test(
        "leaves nothing of the former key in the file, a kept log or a kept journal",
        arguments: ["wal", "delete", "persist", "truncate"])
    func nothingLeft(journalMode: String) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var old = Self.configuration(.passphrase("old"))
        old.persistentWAL = true
        let queue = try Self.create(path, old, journalMode: journalMode)
        let journal = (try? Data(contentsOf: URL(fileURLWithPath: path + "-journal"))) ?? Data()
        #expect((journal.count > 4096) == (journalMode == "persist"))
        #expect(try queue.rotateKey(to: .passphrase("new")) == .complete)
        let mode = try queue.inDatabase { try String.fetchOne($0, sql: "PRAGMA journal_mode") }
        #expect(mode == journalMode)
        #expect(Self.size(path + "-wal") == 0)
        // Where the mode was set again, a page of the new key is in it.
        let kept = (try? Data(contentsOf: URL(fileURLWithPath: path + "-journal"))) ?? Data()
        if !journal.isEmpty { #expect(kept.range(of: journal[600..<632]) == nil) }
        let alone = try Self.copy(path, [""], into: folder.path("alone"))
        #expect(throws: DatabaseError.self) { try Self.count(alone, old) }
        #expect(try Self.count(alone, Self.configuration(.passphrase("new"))) == 30)
    }

    @Test(
        "is reported as unfinished while pages of the former key are read, and finished afterwards",
        arguments: [true, false])
    func readerElsewhere(isFinishedByOpening: Bool) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let old = Self.configuration(.passphrase("old")), new = Self.configuration(.passphrase("new"))
        let queue = try Self.create(path, old)
        _ = try queue.inDatabase { try $0.checkpoint(.truncate) }
        let reader = try startShell(path, key: "old")
        #expect(try reader.run("BEGIN; SELECT count(*) FROM t;") == ["30"])
        #expect(try queue.rotateKey(to: .passphrase("new")) == .formerKeyRemains)
        #expect(try queue.finishKeyRotation() == .formerKeyRemains)
        // The meaning of that number.
        #expect(try Self.count(Self.copy(path, [""], into: folder.path("alone")), old) == 30)
        try reader.run("COMMIT;")
        if isFinishedByOpening { #expect(try Self.count(path, new) == 30) }
        #expect(try queue.finishKeyRotation() == .complete)
        #expect(try !DatabaseFile.inspect(path: path).isRotationPending)
        #expect(Self.size(path + "-wal") == 0)
        let after = try Self.copy(path, [""], into: folder.path("after"))
        #expect(throws: DatabaseError.self) { try Self.count(after, old) }
        #expect(try Self.count(after, new) == 30)
    }

    @Test(
        "makes connections elsewhere fail with SQLITE_NOTADB, whatever the header", arguments: [nil, 32, 64] as [Int?])
    func connectionsElsewhere(header: Int?) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let old = Self.configuration(.passphrase("old"), header.map { PlaintextHeader(size: $0) })
        let queue = try Self.create(path, old), other = try DatabaseQueue(path: path, configuration: old)
        #expect(try other.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 30)
        #expect(try queue.rotateKey(to: .passphrase("new")) == .complete)
        for sql in ["SELECT count(*) FROM t", "SELECT max(a) FROM t", "DELETE FROM t"] {
            let error = #expect(throws: DatabaseError.self) { try other.write { try $0.execute(sql: sql) } }
            #expect(error?.resultCode == .SQLITE_NOTADB)
        }
        try other.close()
        #expect(try Self.count(path, Self.configuration(.passphrase("new"))) == 30)
    }

    @Test("leaves a database with a readable header for which the former key is wrong, not one that is damaged")
    func readerOfHeader() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        func configuration(_ key: DatabaseKey) -> Configuration {
            var configuration = Configuration()
            configuration.encryption = Encryption(
                key: key, settings: CipherSettings(kdfIterations: 1000), plaintextHeader: PlaintextHeader())
            configuration.busyMode = .immediateError
            return configuration
        }
        let queue = try Self.create(path, configuration(.passphrase("old")))
        _ = try queue.inDatabase { try $0.checkpoint(.truncate) }
        let salt = hexadecimal(try #require(DatabaseFile.inspect(path: path).salt))
        let reader = try startShell(
            path, key: "old",
            setUp: """
                PRAGMA kdf_iter = 1000; PRAGMA cipher_plaintext_header_size = 32; PRAGMA cipher_salt = "x'\(salt)'";
                """)
        #expect(try reader.run("BEGIN; SELECT count(*) FROM t;") == ["30"])
        #expect(try queue.rotateKey(to: .passphrase("new")) == .formerKeyRemains)
        let error = #expect(throws: DatabaseError.self) { try Self.count(path, configuration(.passphrase("old"))) }
        #expect(error?.reason == .wrongKey)
        #expect(try Self.count(path, configuration(.passphrase("new"))) == 30)
        try reader.run("COMMIT;")
        #expect(try queue.finishKeyRotation() == .complete)
    }

    @Test("waits for readers elsewhere as long as the busy mode says")
    func waits() throws {
        strongroom_faults_install()
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var old = Self.configuration(.passphrase("old"))
        old.busyMode = .timeout(20)
        let queue = try Self.create(path, old)
        let reader = try startShell(path, key: "old")
        try reader.run("BEGIN; SELECT count(*) FROM t;")
        let sleeps = strongroom_faults_sleeps(), done = DispatchSemaphore(value: 0)
        let outcomes = Collected<RotationOutcome?>()
        Thread.detachNewThread {
            outcomes.append(try? queue.rotateKey(to: .passphrase("new")))
            done.signal()
        }
        #expect(strongroom_faults_await_sleep(sleeps))
        try reader.run("COMMIT;")
        done.wait()
        #expect(outcomes.values == [.complete])
    }

    @Test(
        "that could not be finished opens from a copy of the file and its log, without the file of the new salt",
        arguments: [true, false])
    func copyWithoutSalt(readonly: Bool) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let old = Self.configuration(.passphrase("old"))
        var new = Self.configuration(.passphrase("new"))
        new.readonly = readonly
        let queue = try Self.create(path, old)
        let reader = try startShell(path, key: "old")
        try reader.run("BEGIN; SELECT count(*) FROM t;")
        #expect(try queue.rotateKey(to: .passphrase("new")) == .formerKeyRemains)
        try queue.write { try $0.execute(sql: "UPDATE t SET b = randomblob(3000)") }
        let copied = try Self.copy(path, ["", "-wal"], into: folder.path("copy"))
        #expect(throws: DatabaseError.self) { try Self.count(copied, old) }
        let pool = try DatabasePool(path: copied, configuration: new)
        let counts = Collected<Int?>()
        DispatchQueue.concurrentPerform(iterations: 3) { _ in
            counts.append(try? pool.read { try Int.fetchOne($0, sql: "SELECT count(b) FROM t") })
        }
        #expect(counts.values == [30, 30, 30])
        try pool.close()
        #expect(try Self.count(copied, Self.configuration(.passphrase("new"))) == 30)
        #expect(try !DatabaseFile.inspect(path: copied).isRotationPending)
        #expect(try stockShell(copied, key: "new", "SELECT count(b) FROM t;") == ["30"])
    }

    // MARK: Former salts

    @Test("of a database with a plaintext header keeps the former salts, which open older backups with their keys")
    func olderBackups() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let names = ["first", "second", "third"]
        try Self.create(path, Self.configuration(.passphrase("first"), PlaintextHeader()), journalMode: "delete")
            .close()
        for (name, next) in zip(names, names.dropFirst()) {
            _ = try Self.copy(path, [""], into: folder.path(name))
            let queue = try DatabaseQueue(path: path, configuration: Self.configuration(.passphrase(name)))
            try queue.rotateKey(to: .passphrase(next))
            try queue.close()
        }
        let file = try SaltFile.readAll(.permanent, of: path)
        #expect(file.count == 3)
        #expect(try Self.count(path, Self.configuration(.passphrase("third"))) == 30)
        for name in names.dropLast() {
            try FileManager.default.removeItem(atPath: path)
            try FileManager.default.copyItem(atPath: folder.path(name + "/db.sqlite"), toPath: path)
            let pool = try DatabasePool(path: path, configuration: Self.configuration(.passphrase(name)))
            let found = try pool.read { try Int.fetchOne($0, sql: "SELECT count(b) FROM t") }
            try pool.close()
            #expect(found == 30)
            #expect(throws: DatabaseError.self) { try Self.count(path, Self.configuration(.passphrase("third"))) }
            #expect(try SaltFile.readAll(.permanent, of: path) == file)
        }
        // The backup goes on as any other database.
        let queue = try DatabaseQueue(path: path, configuration: Self.configuration(.passphrase("second")))
        try queue.rotateKey(to: .passphrase("fourth"))
        try queue.close()
        #expect(try Self.count(path, Self.configuration(.passphrase("fourth"))) == 30)
        #expect(try SaltFile.readAll(.permanent, of: path).count == 4)
    }

    @Test("keeps the former salts when the header is removed")
    func formerSalts() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let encryption = Encryption(key: try .random(), plaintextHeader: PlaintextHeader())
        var configuration = Configuration()
        configuration.encryption = encryption
        let queue = try Self.create(path, configuration, journalMode: "delete")
        for _ in 0..<20 { try queue.rotateKey(to: .random()) }
        try queue.rotateKey(to: encryption.key)
        try queue.close()
        #expect(try SaltFile.readAll(.permanent, of: path).count == 22)
        try DatabaseFile.setPlaintextHeader(nil, path: path, encryption: encryption)
        #expect(try SaltFile.readAll(.permanent, of: path).count == 22)
        configuration.encryption?.plaintextHeader = nil
        #expect(try Self.count(path, configuration) == 30)
    }
}
