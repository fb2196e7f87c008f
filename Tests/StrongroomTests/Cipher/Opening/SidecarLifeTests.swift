import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// The life of salts while databases are created, moved away, restored and rotated.
@Suite("The salts beside a database")
struct SidecarLifeTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("db.sqlite")
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private func move(_ from: String, _ to: String) throws {
        try? FileManager.default.removeItem(atPath: folder.path(to))
        try FileManager.default.moveItem(atPath: folder.path(from), toPath: folder.path(to))
    }

    private func copy(_ from: String, _ to: String) throws {
        try? FileManager.default.removeItem(atPath: folder.path(to))
        try FileManager.default.copyItem(atPath: folder.path(from), toPath: folder.path(to))
    }

    // MARK: - Former salts

    @Test("survive a program that starts while the database is moved away", arguments: [true, false], [true, false])
    func movedAwayAndBack(writes: Bool, leavesEmptyFile: Bool) throws {
        try write(path, passphrase: "secret", 7)
        try move("db.sqlite", "away.sqlite")
        if leavesEmptyFile { try Data().write(to: URL(fileURLWithPath: path)) }
        for _ in 0..<3 {
            let queue = try queue(path, passphrase: "secret")
            if writes {
                try queue.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES (1)") }
            }
            _ = try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master") }
            try queue.close()
        }
        try copy("db.sqlite", "between.sqlite")
        try move("away.sqlite", "db.sqlite")
        try? FileManager.default.removeItem(atPath: path + "-salt-new")
        #expect(try read(path, passphrase: "secret") == 7)
        guard writes else { return }
        // And back again.
        try move("between.sqlite", "db.sqlite")
        #expect(try read(path, passphrase: "secret") == 1)
    }

    @Test("of a database that was restored from before a rotation open it with the key of that time")
    func olderBackup() throws {
        try write(path, passphrase: "first", 1)
        try copy("db.sqlite", "first.sqlite")
        for (old, new, value) in [("first", "second", 2), ("second", "third", 3)] {
            let queue = try queue(path, passphrase: old)
            try queue.rotateKey(to: .passphrase(new))
            try queue.write { try $0.execute(sql: "UPDATE t SET a = \(value)") }
            try queue.close()
        }
        try copy("db.sqlite", "third.sqlite")
        #expect(throws: DatabaseError.self) { try read(path, passphrase: "first") }
        try copy("first.sqlite", "db.sqlite")
        #expect(try read(path, passphrase: "first", readonly: true) == 1)
        #expect(try read(path, passphrase: "first") == 1)
        #expect(try SaltFile.readAll(.permanent, of: path).count == 3)
        try copy("third.sqlite", "db.sqlite")
        #expect(try read(path, passphrase: "third") == 3)
        let error = #expect(throws: DatabaseError.self) { try read(path, passphrase: "first") }
        #expect(error?.isWrongKeyError == true)
    }

    @Test("stay as they are where the database is opened for reading only")
    func readonly() throws {
        try write(path, passphrase: "first", 1)
        try copy("db.sqlite", "first.sqlite")
        let queue = try queue(path, passphrase: "first")
        try queue.rotateKey(to: .passphrase("second"))
        try queue.close()
        try copy("first.sqlite", "db.sqlite")
        let before = try Data(contentsOf: URL(fileURLWithPath: path + "-salt"))
        #expect(try read(path, passphrase: "first", readonly: true) == 1)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-salt")) == before)
    }

    @Test("are read by a person: the last one counts")
    func text() throws {
        let salts = try (0..<3).map { _ in SaltFile(salt: try .random(), header: 32) }
        for salt in salts + [salts[2]] { try salt.write(.permanent, of: path) }
        let lines = try String(contentsOfFile: path + "-salt", encoding: .utf8).split(separator: "\n")
        #expect(lines.count == 10 && lines[0] == "Strongroom salt 1")
        #expect(lines.filter { $0.hasPrefix("salt ") } == salts.map { "salt \($0.salt.hex)" })
        #expect(try SaltFile.readAll(.permanent, of: path) == salts.reversed())
    }

    @Test("are left alone by a change of header where a copy could need them")
    func headerOff() throws {
        try write(path, passphrase: "first", 1)
        let queue = try queue(path, passphrase: "first")
        try queue.rotateKey(to: .passphrase("second"))
        try queue.close()
        let salts = try SaltFile.readAll(.permanent, of: path)
        try DatabaseFile.setPlaintextHeader(nil, path: path, encryption: encryption("second", header: nil))
        #expect(try SaltFile.readAll(.permanent, of: path) == salts)
        #expect(try read(path, passphrase: "second") == 1)
    }

    @Test(
        "are not all that reading leaves alone: SQLite would remove the log of a database that was emptied",
        arguments: [
            nil, PlaintextHeader(), PlaintextHeader(salt: .provided([UInt8](1...16))),
        ])
    func emptied(header: PlaintextHeader?) throws {
        try Data().write(to: URL(fileURLWithPath: path))
        try Data("log".utf8).write(to: URL(fileURLWithPath: path + "-wal"))
        var configuration = Configuration()
        configuration.encryption = encryption("secret", header: header)
        configuration.readonly = true
        let error = #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: configuration) }
        #expect(error?.reason == .damaged)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path + "-wal")) == Data("log".utf8))
    }

    // MARK: - Creation

    /// The ways to the first page.
    static let creations: [(String, @Sendable (String) throws -> Void)] = [
        (
            "queue",
            { path in
                let queue = try queue(path, passphrase: "secret")
                try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (7)") }
                kill(getpid(), SIGKILL)
            }
        ),
        (
            "pool",
            { path in
                var configuration = Configuration()
                configuration.encryption = encryption("secret")
                let pool = try DatabasePool(path: path, configuration: configuration)
                try pool.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (7)") }
                kill(getpid(), SIGKILL)
            }
        ),
        (
            "set-up",
            { path in
                var configuration = Configuration()
                configuration.encryption = encryption("secret")
                configuration.prepareDatabase {
                    try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES (7)")
                }
                _ = try DatabaseQueue(path: path, configuration: configuration)
                kill(getpid(), SIGKILL)
            }
        ),
        (
            "exclusive",
            { path in
                let queue = try queue(path, passphrase: "secret")
                try queue.inDatabase {
                    try $0.execute(sql: "PRAGMA locking_mode = EXCLUSIVE; CREATE TABLE t(a); INSERT INTO t VALUES (7)")
                }
                kill(getpid(), SIGKILL)
            }
        ),
    ]

    @Test("need no closing: after the first commit, the shared salt file is removed", arguments: 0..<creations.count)
    func withoutClosing(_ index: Int) async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String, index = index as Int] in
            try SidecarLifeTests.creations[index].1(path)
        }
        #expect(!(try names()).contains("db.sqlite-salt-new"))
        #expect((try names()).contains("db.sqlite-salt"))
        #expect(try read(path, passphrase: "secret") == 7)
    }

    @Test(
        "open a database that was created from its files alone, while it is open and afterwards",
        arguments: [nil, 32, 96], [true, false])
    func fromTheFilesAlone(header: Int?, isPool: Bool) throws {
        let encryption = encryption("secret", header: header.map { PlaintextHeader(size: $0) })
        var configuration = Configuration()
        configuration.encryption = encryption
        let writer: any DatabaseWriter =
            isPool
            ? try DatabasePool(path: path, configuration: configuration)
            : try DatabaseQueue(path: path, configuration: configuration)
        try writer.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (7)") }
        #expect(!(try names()).contains("db.sqlite-salt-new"))
        #expect(try read(path, passphrase: "secret") == 7)
        try writer.close()
        try move("db.sqlite", "moved.sqlite")
        if header != nil { try move("db.sqlite-salt", "moved.sqlite-salt") }
        #expect(try names() == (header == nil ? ["moved.sqlite"] : ["moved.sqlite", "moved.sqlite-salt"]))
        #expect(try read(folder.path("moved.sqlite"), passphrase: "secret") == 7)
    }

    @Test("are restored if they are removed before the first page")
    func lostBeforeTheFirstPage() throws {
        let queue = try queue(path, passphrase: "secret")
        try FileManager.default.removeItem(atPath: path + "-salt")
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (7)") }
        try queue.close()
        #expect(try read(path, passphrase: "secret") == 7)
    }

    @Test("are the same for two processes that create a database, with a plaintext header too", arguments: 0..<10)
    func race(_ round: Int) throws {
        if round % 2 == 1 { try SaltFile(salt: .random(), header: 32).write(.permanent, of: path) }
        let path = path, failures = Shared<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { index in
            do {
                var configuration = Configuration()
                configuration.encryption = encryption("secret")
                configuration.busyMode = .timeout(20)
                let queue = try DatabaseQueue(path: path, configuration: configuration)
                try queue.write { try $0.execute(sql: "CREATE TABLE t\(index)(a)") }
            } catch {
                failures.update { $0.append("\(error)") }
            }
        }
        #expect(failures.value == [])
        #expect(
            try queue(path, passphrase: "secret").read {
                try Int.fetchOne($0, sql: "SELECT count(*) FROM sqlite_master")
            } == 4)
        #expect(try names() == ["db.sqlite", "db.sqlite-salt"])
    }

    // MARK: - Copies

    @Test("of a database that appeared meanwhile are not replaced by those of a copy")
    func copyMeetsAnother() throws {
        let other = folder.path("other.sqlite"), destination = folder.path("copy.sqlite")
        try write(path, passphrase: "secret", 7)
        try write(other, passphrase: "other", 8)
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseFile.migrate(path: path, to: destination, from: encryption("secret"), as: encryption("secret"))
            { progress in
                guard progress.isCompleted else { return }
                for end in ["", "-salt"] where !FileManager.default.fileExists(atPath: destination + end) {
                    try FileManager.default.copyItem(atPath: other + end, toPath: destination + end)
                }
            }
        }
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
        #expect(error?.reason == .fileExists)
        #expect(try read(destination, passphrase: "other") == 8)
        #expect(
            try names() == [
                "copy.sqlite", "copy.sqlite-salt", "db.sqlite", "db.sqlite-salt", "other.sqlite", "other.sqlite-salt",
            ])
    }

    @Test("are not left behind by a copy whose name is taken by a database that has none")
    func copyMeetsEncrypted() throws {
        let destination = folder.path("copy.sqlite")
        try write(path, passphrase: "secret", 7)
        #expect(throws: DatabaseError.self) {
            try DatabaseFile.migrate(path: path, to: destination, from: encryption("secret"), as: encryption("secret"))
            { progress in
                if progress.isCompleted { try Data([1]).write(to: URL(fileURLWithPath: destination)) }
            }
        }
        #expect(try Data(contentsOf: URL(fileURLWithPath: destination)) == Data([1]))
        #expect(try names() == ["copy.sqlite", "db.sqlite", "db.sqlite-salt"])
    }

    // MARK: - Rotation

    @Test(
        "of a rotation that never began are removed, though they are not whole",
        arguments: ["", "Strongroom salt 1\nsalt 00"])
    func unfinishedRotation(_ text: String) throws {
        try write(path, passphrase: "secret", 7)
        try Data(text.utf8).write(to: URL(fileURLWithPath: path + "-salt-next"))
        #expect(try read(path, passphrase: "secret", readonly: true) == 7)
        #expect(try read(path, passphrase: "secret") == 7)
        #expect(try names() == ["db.sqlite", "db.sqlite-salt"])
    }

    @Test(
        "name the remedy when they are damaged, each its own",
        arguments: zip(
            SaltFile.Role.allCases,
            [
                "restore it from a backup", "delete it", "move it away; if the database opens then, delete it",
            ]))
    func cures(_ role: SaltFile.Role, _ cure: String) throws {
        try SaltFile(salt: .random(), header: 32).write(role, of: path)
        let name = SaltFile.path(role, of: path)
        try String(contentsOfFile: name, encoding: .utf8).replacingOccurrences(of: "header 32", with: "header 48")
            .write(toFile: name, atomically: false, encoding: .utf8)
        let error = #expect(throws: DatabaseError.self) { try SaltFile.read(role, of: path) }
        #expect(error?.resultCode == .SQLITE_CORRUPT)
        #expect(error?.reason == .damagedSalt && error?.message?.contains("\(name) is damaged") == true)
        #expect(error?.recoverySuggestion?.hasPrefix(cure) == true)
    }
}

// MARK: - Databases

private func encryption(_ passphrase: String, header: PlaintextHeader? = PlaintextHeader()) -> Encryption {
    Encryption(key: .passphrase(passphrase), settings: CipherSettings(kdfIterations: 1000), plaintextHeader: header)
}

private func queue(_ path: String, passphrase: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.encryption = encryption(passphrase)
    return try DatabaseQueue(path: path, configuration: configuration)
}

private func write(_ path: String, passphrase: String, _ value: Int) throws {
    let queue = try queue(path, passphrase: passphrase)
    try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (\(value))") }
    try queue.close()
}

/// With the key alone: the rest is found in the files.
private func read(_ path: String, passphrase: String, readonly: Bool = false) throws -> Int? {
    var configuration = Configuration()
    configuration.encryption = encryption(passphrase, header: nil)
    configuration.readonly = readonly
    return try DatabaseQueue(path: path, configuration: configuration).read {
        try Int.fetchOne($0, sql: "SELECT a FROM t")
    }
}
