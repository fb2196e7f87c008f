import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A copy in another encryption")
struct CopyTests {
    private let encryption = Encryption(
        key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000))

    private func encrypted() -> Configuration {
        var configuration = Configuration()
        configuration.encryption = encryption
        return configuration
    }

    /// One of everything that a copy could lose.
    private func create(_ path: String, _ configuration: Configuration = Configuration()) throws {
        try DatabaseQueue(path: path, configuration: configuration).inDatabase { db in
            try db.execute(
                sql: """
                    PRAGMA journal_mode = wal;
                    CREATE TABLE norowid(a TEXT PRIMARY KEY, b) WITHOUT ROWID;
                    INSERT INTO norowid VALUES ('x', 1), ('y', 2);
                    CREATE TABLE implicit(a, "odd name", g AS (a * 2) STORED);
                    INSERT INTO implicit(rowid, a) VALUES (10, 1), (20, 2), (30, 3);
                    DELETE FROM implicit WHERE rowid = 20;
                    CREATE TABLE auto(id INTEGER PRIMARY KEY AUTOINCREMENT, v);
                    INSERT INTO auto(v) VALUES (1), (2), (3);
                    DELETE FROM auto WHERE id = 3;
                    CREATE TABLE descending(a INTEGER PRIMARY KEY DESC);
                    INSERT INTO descending VALUES (5);
                    CREATE TABLE shadowed(rowid TEXT, b);
                    INSERT INTO shadowed VALUES ('r', 1);
                    CREATE INDEX implicit_a ON implicit(a) WHERE a > 1;
                    CREATE VIEW v AS SELECT a FROM implicit;
                    CREATE TRIGGER after_insert AFTER INSERT ON implicit BEGIN INSERT INTO auto(v) VALUES (new.a); END;
                    CREATE VIRTUAL TABLE ft USING fts5(body);
                    INSERT INTO ft VALUES ('a quiet morning');
                    CREATE VIRTUAL TABLE ft4 USING fts4(body);
                    INSERT INTO ft4 VALUES ('a loud evening');
                    PRAGMA user_version = 77;
                    PRAGMA application_id = 4711;
                    ANALYZE;
                    """)
        }
    }

    private func check(_ path: String, _ configuration: Configuration) throws {
        try DatabaseQueue(path: path, configuration: configuration).inDatabase { db in
            #expect(try Int.fetchAll(db, sql: "SELECT rowid FROM implicit ORDER BY 1") == [10, 30])
            #expect(try Int.fetchAll(db, sql: "SELECT g FROM implicit ORDER BY 1") == [2, 6])
            #expect(try String.fetchAll(db, sql: "SELECT a FROM norowid ORDER BY 1") == ["x", "y"])
            #expect(try Int.fetchOne(db, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'auto'") == 3)
            #expect(try Int.fetchOne(db, sql: "SELECT a FROM descending") == 5)
            #expect(try String.fetchOne(db, sql: "SELECT rowid FROM shadowed") == "r")
            #expect(try Int.fetchAll(db, sql: "SELECT a FROM v ORDER BY 1") == [1, 3])
            #expect(try String.fetchOne(db, sql: "SELECT body FROM ft WHERE ft MATCH 'quiet'") == "a quiet morning")
            #expect(try String.fetchOne(db, sql: "SELECT body FROM ft4 WHERE ft4 MATCH 'loud'") == "a loud evening")
            #expect(try Int.fetchOne(db, sql: "PRAGMA user_version") == 77)
            #expect(try Int.fetchOne(db, sql: "PRAGMA application_id") == 4711)
            #expect(try String.fetchOne(db, sql: "PRAGMA journal_mode") == "wal")
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM sqlite_stat1")! > 0)
            try db.execute(sql: "INSERT INTO implicit(a) VALUES (9)")
            #expect(try Int.fetchOne(db, sql: "SELECT v FROM auto ORDER BY id DESC") == 9)
            #expect(try String.fetchOne(db, sql: "PRAGMA integrity_check") == "ok")
        }
    }

    @Test("from clear to encrypted keeps everything")
    func encrypt() throws {
        let folder = try TemporaryFolder(), clear = folder.path("clear.sqlite"), copy = folder.path("copy.sqlite")
        try create(clear)
        try DatabaseFile.encrypt(path: clear, to: copy, encryption: encryption)
        try check(copy, encrypted())
        try check(clear, Configuration())
        #expect(try DatabaseFile.inspect(path: copy).kind == .encrypted)
        #expect(try stockShell(copy, "SELECT count(*) FROM norowid;") == ["2"])
    }

    @Test("from encrypted to clear keeps everything")
    func decrypt() throws {
        let folder = try TemporaryFolder(), secret = folder.path("secret.sqlite"), copy = folder.path("copy.sqlite")
        try create(secret, encrypted())
        try DatabaseFile.decrypt(path: secret, to: copy, encryption: encryption)
        #expect(try DatabaseFile.inspect(path: copy).kind == .clear)
        try check(copy, Configuration())
    }

    @Test("from an older format is in the current one, with the same key", arguments: ["1", "2", "3"])
    func migrate(_ version: String) throws {
        let folder = try TemporaryFolder(), old = folder.path("old.sqlite"), copy = folder.path("copy.sqlite")
        _ = try stockShell(
            old, setUp: "PRAGMA cipher_compatibility = \(version);", "CREATE TABLE t(a); INSERT INTO t VALUES (1), (2);"
        )
        let settings: CipherSettings = version == "1" ? .sqlcipher1 : version == "2" ? .sqlcipher2 : .sqlcipher3
        try DatabaseFile.migrate(
            path: old, to: copy, from: Encryption(key: .passphrase("correct horse"), settings: settings))
        #expect(try stockShell(copy, setUp: "", "SELECT count(*) FROM t;") == ["2"])
    }

    @Test("with a plaintext header has its salt beside it")
    func header() throws {
        let folder = try TemporaryFolder(), clear = folder.path("clear.sqlite"), copy = folder.path("copy.sqlite")
        try create(clear)
        var target = encryption
        target.plaintextHeader = PlaintextHeader()
        try DatabaseFile.encrypt(path: clear, to: copy, encryption: target)
        #expect(try DatabaseFile.inspect(path: copy).kind == .plaintextHeader)
        try check(copy, encrypted())
    }

    @Test("over an existing file is refused")
    func exists() throws {
        let folder = try TemporaryFolder(), clear = folder.path("clear.sqlite"), copy = folder.path("copy.sqlite")
        try create(clear)
        try Data([1]).write(to: URL(fileURLWithPath: copy))
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseFile.encrypt(path: clear, to: copy, encryption: encryption)
        }
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
    }

    @Test(
        "beside a file that would be taken for a part of it is refused",
        arguments: [
            "-wal", "-journal", "-shm", "-salt", "-salt-new", "-salt-next", "-keys", "-keys-new", "-keys-next",
        ])
    func companion(_ ending: String) throws {
        let folder = try TemporaryFolder(), clear = folder.path("clear.sqlite"), copy = folder.path("copy.sqlite")
        try create(clear)
        try Data([1]).write(to: URL(fileURLWithPath: copy + ending))
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseFile.encrypt(path: clear, to: copy, encryption: encryption)
        }
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
        #expect(error?.reason == .fileExists)
        #expect(error?.failureReason?.contains("copy.sqlite\(ending)") == true)
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy + ending)) == Data([1]))
        #expect(!FileManager.default.fileExists(atPath: copy))
    }

    @Test("that another copy overtakes leaves the other's, and nothing of its own", arguments: [true, false])
    func overtaken(plaintextHeader: Bool) throws {
        let folder = try TemporaryFolder(), clear = folder.path("clear.sqlite"), copy = folder.path("copy.sqlite")
        try create(clear)
        var late = Encryption(key: .passphrase("late"), settings: CipherSettings(kdfIterations: 1000))
        if plaintextHeader { late.plaintextHeader = PlaintextHeader() }
        var isOvertaken = false
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseFile.encrypt(path: clear, to: copy, encryption: late) { _ in
                if !isOvertaken { try DatabaseFile.encrypt(path: clear, to: copy, encryption: encryption) }
                isOvertaken = true
            }
        }
        #expect(isOvertaken)
        #expect(error?.resultCode == .SQLITE_CANTOPEN)
        try check(copy, encrypted())
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(!files.contains { $0.contains("partial") || $0.contains("salt") })
    }

    @Test("that is stopped or impossible leaves nothing behind")
    func stopped() throws {
        struct Stopped: Error {}
        let folder = try TemporaryFolder(), clear = folder.path("clear.sqlite"), copy = folder.path("copy.sqlite")
        try create(clear)
        let before = try Set(FileManager.default.contentsOfDirectory(atPath: folder.path))
        #expect(throws: Stopped.self) {
            try DatabaseFile.encrypt(path: clear, to: copy, encryption: encryption) { _ in throw Stopped() }
        }
        #expect(throws: DatabaseError.self) { try DatabaseFile.decrypt(path: clear, to: copy, encryption: encryption) }
        let after = try Set(FileManager.default.contentsOfDirectory(atPath: folder.path))
        #expect(after.subtracting(before).isSubset(of: ["clear.sqlite-wal", "clear.sqlite-shm"]))
    }

    @Test("of an encrypted database is never clear on the way")
    func nothingClear() throws {
        let folder = try TemporaryFolder(), clear = folder.path("clear.sqlite"), copy = folder.path("copy.sqlite")
        try create(clear)
        var seen = false
        try DatabaseFile.encrypt(path: clear, to: copy, encryption: encryption) { _ in
            for name in try FileManager.default.subpathsOfDirectory(atPath: folder.path)
            where name.contains("partial-") && name.contains("/") {
                let data = try Data(contentsOf: URL(fileURLWithPath: folder.path(name)))
                seen = seen || !data.isEmpty
                #expect(data.range(of: Data("quiet morning".utf8)) == nil)
            }
        }
        #expect(seen)
        #expect(try Data(contentsOf: URL(fileURLWithPath: copy)).range(of: Data("quiet morning".utf8)) == nil)
    }

    @Test("stops in the middle of an index and of its own check, and leaves nothing")
    func stopping() throws {
        struct Stopped: Error {}
        let folder = try TemporaryFolder(), path = folder.path("clear.sqlite")
        func calls(stoppingAt last: Int) throws -> Int {
            var count = 0
            try DatabaseFile.encrypt(path: path, to: folder.path("out.sqlite"), encryption: encryption) { _ in
                count += 1
                if count == last { throw Stopped() }
            }
            try FileManager.default.removeItem(atPath: folder.path("out.sqlite"))
            return count
        }
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE t(a);
                    WITH RECURSIVE c(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM c WHERE x < 20000) INSERT INTO t \
                    SELECT x FROM c
                    """)
        }
        let plain = try calls(stoppingAt: .max)
        try queue.write { try $0.execute(sql: "CREATE INDEX i ON t(a * a % 1000, -a)") }
        try queue.close()
        let indexed = try calls(stoppingAt: .max)
        #expect(indexed > plain + 5)
        for last in 1...indexed {
            #expect(throws: Stopped.self) { try calls(stoppingAt: last) }
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["clear.sqlite"], "\(last)")
        }
    }

    @Test("is verified before it gets its name: a disk that writes other bytes leaves an error or an intact copy")
    func lyingDisk() throws {
        strongroom_faults_install()
        let folder = try TemporaryFolder(), clear = folder.path("clear.sqlite"), copy = folder.path("copy.sqlite")
        try DatabaseQueue(path: clear).write { db in
            try db.execute(sql: "CREATE TABLE t(a)")
            for _ in 0..<20 { try db.execute(sql: "INSERT INTO t VALUES (randomblob(3000))") }
        }
        var write: Int64 = 0, failures = 0, isOver = false
        while !isOver {
            let hits = strongroom_faults_hits()
            strongroom_faults_set_once(folder.path(".strongroom-partial-"), STRONGROOM_FAULT_LIE, write)
            let outcome = Result { try DatabaseFile.encrypt(path: clear, to: copy, encryption: encryption) }
            strongroom_faults_clear(folder.path(".strongroom-partial-"))
            switch outcome {
            case .success:
                #expect(
                    try DatabaseQueue(path: copy, configuration: encrypted()).checkIntegrity().isIntact,
                    "write \(write)")
                try FileManager.default.removeItem(atPath: copy)
            case .failure(let error):
                failures += 1
                #expect(error is DatabaseError)
            }
            let left = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("copy") }
            #expect(left == [], "write \(write)")
            isOver = strongroom_faults_hits() == hits
            write += 1
        }
        #expect(failures > 10)
    }

    @Test("reports the last page once, after the verification")
    func completion() throws {
        let folder = try TemporaryFolder(), path = folder.path("clear.sqlite")
        try create(path)
        var progress: [EncryptionProgress] = []
        try DatabaseFile.encrypt(path: path, to: folder.path("out.sqlite"), encryption: encryption) {
            progress.append($0)
        }
        #expect(progress.last?.isCompleted == true)
        #expect(progress.dropLast().allSatisfy { !$0.isCompleted })
        #expect(progress.map(\.phase.rawValue) == progress.map(\.phase.rawValue).sorted(by: >))
        #expect(
            zip(progress, progress.dropFirst()).allSatisfy {
                $0.phase != $1.phase || $0.completedPageCount <= $1.completedPageCount
            })
    }
}

@Suite("Attaching")
struct AttachTests {
    @Test("takes a database with a key of its own, a clear one, and the same passphrase with another salt")
    func attach() throws {
        let folder = try TemporaryFolder()
        let settings = CipherSettings(kdfIterations: 1000)
        let encryptions: [Encryption?] = [
            Encryption(key: .passphrase("other"), settings: settings), nil,
            Encryption(key: .passphrase("correct horse"), settings: settings),
        ]
        for (index, encryption) in encryptions.enumerated() {
            var configuration = Configuration()
            configuration.encryption = encryption
            try DatabaseQueue(path: folder.path("\(index)"), configuration: configuration).write {
                try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (\(index))")
            }
        }
        try withEncryptedQueue { queue in
            try queue.inDatabase { db in
                for (index, encryption) in encryptions.enumerated() {
                    try db.attach(path: folder.path("\(index)"), as: "other", encryption: encryption)
                    #expect(try Int.fetchOne(db, sql: "SELECT a FROM other.t") == index)
                    try db.execute(sql: "INSERT INTO other.t VALUES (9)")
                    try db.execute(sql: "DETACH DATABASE other")
                }
            }
        }
        #expect(try stockShell(folder.path("0"), key: "other", "SELECT count(*) FROM t;") == ["2"])
    }

    @Test("creates a database with a key of its own")
    func creates() throws {
        let folder = try TemporaryFolder(), path = folder.path("other.sqlite")
        try withEncryptedQueue { queue in
            try queue.inDatabase { db in
                try db.attach(
                    path: path, as: "other",
                    encryption: Encryption(key: .passphrase("other"), settings: CipherSettings(kdfIterations: 1000)))
                try db.execute(sql: "CREATE TABLE other.t(a); INSERT INTO other.t VALUES (3)")
            }
        }
        #expect(try stockShell(path, key: "other", "SELECT a FROM t;") == ["3"])
    }
}
