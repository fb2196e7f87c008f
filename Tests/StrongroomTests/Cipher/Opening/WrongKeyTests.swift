import CSQLCipher
import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A wrong key")
struct WrongKeyTests {
    /// The files of a writer that was killed.
    enum LeftOver: String, CaseIterable, CustomTestStringConvertible {
        case log, logOfPersistentWAL, journal, rekeyedLog

        var testDescription: String { rawValue }
    }

    /// Ways to come without the right key.
    enum Way: String, CaseIterable, CustomTestStringConvertible {
        case declared, passphrase, readInSetUp, noKey, rawKey, wrongFormat, readonly, attach

        var testDescription: String { rawValue }
    }

    private func leave(_ leftOver: LeftOver, at path: String) throws {
        let shell = try startShell(path)
        switch leftOver {
        case .log, .logOfPersistentWAL, .rekeyedLog:
            if leftOver == .logOfPersistentWAL { try shell.run(".filectrl persist_wal 1") }
            try shell.run(
                "PRAGMA journal_mode = WAL; CREATE TABLE t(a); PRAGMA wal_checkpoint; INSERT INTO t VALUES (7);")
            if leftOver == .rekeyedLog { try shell.run("PRAGMA rekey = 'other';") }
            if leftOver == .logOfPersistentWAL { return }
        case .journal:
            try shell.run("CREATE TABLE t(a); INSERT INTO t VALUES (7);")
            // More than the cache holds reaches the file before the commit.
            try shell.run(
                """
                PRAGMA cache_size = 5; BEGIN; UPDATE t SET a = 8;
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO t \
                SELECT hex(randomblob(50)) FROM n;
                """)
        }
        shell.kill()
    }

    private func open(_ path: String, _ way: Way, in folder: TemporaryFolder) throws {
        var configuration = Configuration()
        let settings = CipherSettings(kdfIterations: 1000)
        switch way {
        case .declared: configuration.encryption = Encryption(key: .passphrase("wrong"), settings: settings)
        case .passphrase: configuration = .encrypted(passphrase: "wrong")
        case .readInSetUp:
            configuration.encryption = Encryption(key: .passphrase("wrong"), settings: settings)
            configuration.prepareDatabase { db throws in
                _ = try? Int.fetchOne(db, sql: "SELECT a FROM t")
                sqlite3_exec(db.sqliteConnection, "INSERT INTO t VALUES (1)", nil, nil, nil)
                try? db.execute(sql: "CREATE TABLE u(a)")
            }
        case .noKey: break
        case .rawKey: configuration.encryption = Encryption(key: try .rawKey([UInt8](repeating: 3, count: 32)))
        case .wrongFormat:
            configuration.encryption = Encryption(key: .passphrase("correct horse"), settings: .sqlcipher3)
        case .readonly:
            configuration.encryption = Encryption(key: .passphrase("wrong"), settings: settings)
            configuration.readonly = true
        case .attach:
            let clear = try DatabaseQueue(path: folder.path("main.sqlite"))
            defer { try? FileManager.default.removeItem(atPath: folder.path("main.sqlite")) }
            return try clear.writeWithoutTransaction { db throws in
                try db.attach(
                    path: path, as: "a", encryption: Encryption(key: .passphrase("wrong"), settings: settings))
            }
        }
        _ = try DatabaseQueue(path: path, configuration: configuration)
    }

    private func contents(_ folder: TemporaryFolder) throws -> [String: Data] {
        try Dictionary(
            uniqueKeysWithValues: FileManager.default.contentsOfDirectory(atPath: folder.path).map {
                ($0, try Data(contentsOf: URL(fileURLWithPath: folder.path($0))))
            })
    }

    @Test(
        "changes no byte of any file that a killed writer left",
        arguments: [LeftOver.log, .logOfPersistentWAL, .journal], Way.allCases)
    func bytes(leftOver: LeftOver, way: Way) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try leave(leftOver, at: path)
        let before = try contents(folder)
        #expect(before.count > 1)
        let error = #expect(throws: DatabaseError.self) { try open(path, way, in: folder) }
        #expect(error?.resultCode == .SQLITE_NOTADB)
        let after = try contents(folder)
        #expect(after.keys.sorted() == before.keys.sorted())
        for (name, bytes) in before { #expect(after[name] == bytes, "\(name)") }
        // The right one finds everything.
        let queue = try DatabaseQueue(path: path, configuration: .encrypted())
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 7)
        #expect(try queue.checkIntegrity().isIntact)
    }

    @Test("leaves database and log to the key that the log has brought")
    func oldKey() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try leave(.rekeyedLog, at: path)
        let before = try contents(folder)
        #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: .encrypted()) }
        let after = try contents(folder)
        for name in ["db.sqlite", "db.sqlite-wal"] { #expect(after[name] == before[name], "\(name)") }
        let queue = try DatabaseQueue(path: path, configuration: .encrypted(passphrase: "other"))
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 7)
    }

    @Test("in SQL's ATTACH leaves database and log alone, and the next detachment moves the log")
    func attachInSQL() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let shell = try startShell(path, setUp: "")
        try shell.run("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (7);")
        shell.kill()
        let before = try contents(folder)
        let queue = try DatabaseQueue()
        try queue.writeWithoutTransaction { db throws in
            #expect(throws: DatabaseError.self) { try db.execute(sql: "ATTACH ? AS a KEY 'wrong'", arguments: [path]) }
            let after = try contents(folder)
            for name in ["db.sqlite", "db.sqlite-wal"] { #expect(after[name] == before[name], "\(name)") }
            try db.execute(
                sql: "ATTACH ? AS a KEY 'correct horse'; INSERT INTO a.t VALUES (8); DETACH a", arguments: [path])
        }
        #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    }
}

@Suite("A key in the set-up")
struct KeyInSetUpTests {
    @Test("is the only one, also while it isn't derived yet", arguments: [true, false])
    func second(isRaw: Bool) throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.prepareDatabase { db throws in
            try db.usePassphrase(isRaw ? "x'" + String(repeating: "5a", count: 32) + "'" : "first")
            try db.usePassphrase("second")
        }
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: folder.path("db"), configuration: configuration)
        }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.description.contains("key already") == true)
    }

    @Test("may be given twice")
    func same() throws {
        let folder = try TemporaryFolder(), path = folder.path("db")
        var configuration = Configuration()
        configuration.prepareDatabase { db throws in
            try db.usePassphrase("first")
            try db.execute(sql: "PRAGMA kdf_iter = 1000")
            try db.usePassphrase("first")
        }
        try DatabaseQueue(path: path, configuration: configuration).write { try $0.execute(sql: "CREATE TABLE t(a)") }
        #expect(try stockShell(path, key: "first", "SELECT count(*) FROM t;") == ["0"])
    }

    @Test(
        "that is refused fails opening, though set-up swallows the error: nothing is written in clear text",
        arguments: ["", "x'12'", "PRAGMA key = ''", "PRAGMA hexkey = 'zz'"], [true, false])
    func swallowed(key: String, isMemory: Bool) throws {
        let folder = try TemporaryFolder(), path = isMemory ? ":memory:" : folder.path("db")
        let refusals = Shared(0)
        var configuration = Configuration()
        configuration.prepareDatabase { db throws in
            do {
                if key.hasPrefix("PRAGMA") { try db.execute(sql: key) } else { try db.usePassphrase(key) }
            } catch { refusals.update { $0 += 1 } }
            do { try db.execute(sql: "CREATE TABLE t(a)") } catch { refusals.update { $0 += 1 } }
        }
        let error = #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: configuration) }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(refusals.value == 2)
        if !isMemory { #expect(try Data(contentsOf: URL(fileURLWithPath: path)).isEmpty) }
    }

    @Test("that is refused may be followed by one that isn't")
    func another() throws {
        let folder = try TemporaryFolder(), path = folder.path("db")
        var configuration = Configuration()
        configuration.prepareDatabase { db throws in
            try? db.usePassphrase("")
            try db.usePassphrase("right")
            try db.execute(sql: "PRAGMA kdf_iter = 1000")
        }
        try DatabaseQueue(path: path, configuration: configuration).write { try $0.execute(sql: "CREATE TABLE t(a)") }
        #expect(try stockShell(path, key: "right", "SELECT count(*) FROM t;") == ["0"])
    }

    /// Uses of the file in set-up other than by a statement.
    enum Use: String, CaseIterable, CustomTestStringConvertible {
        case attach, attachClear, backupFrom, backupTo, checkpoint, statementOfC

        var testDescription: String { rawValue }

        func callAsFunction(_ db: Database, in folder: TemporaryFolder) throws {
            let other = folder.path("other")
            switch self {
            case .attach: try db.attach(path: other, as: "other", encryption: Encryption(key: .passphrase("second")))
            case .attachClear: try db.attach(path: other, as: "other", encryption: nil)
            case .backupFrom: try DatabaseQueue(configuration: .encrypted()).inDatabase { try db.backup(to: $0) }
            case .backupTo: try DatabaseQueue(path: other, configuration: .encrypted()).read { try $0.backup(to: db) }
            case .checkpoint: _ = try db.checkpoint()
            case .statementOfC: sqlite3_exec(db.sqliteConnection, "SELECT * FROM sqlite_master", nil, nil, nil)
            }
        }
    }

    @Test("opens the file for calls other than statements, too, and for later statements", arguments: Use.allCases)
    func beforeOtherUse(use: Use) throws {
        let folder = try TemporaryFolder(), path = folder.path("db")
        try DatabaseQueue(path: path, configuration: .encrypted()).write { try $0.execute(sql: "CREATE TABLE t(a)") }
        if use == .backupTo {
            try DatabaseQueue(path: folder.path("other"), configuration: .encrypted())
                .write { try $0.execute(sql: "CREATE TABLE t(a)") }
        }
        var configuration = Configuration()
        configuration.prepareDatabase { db throws in
            try db.usePassphrase("correct horse")
            try db.execute(sql: "PRAGMA kdf_iter = 1000")
            if !db.configuration.readonly || use != .backupTo { try use(db, in: folder) }
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.read { db throws in
            if use == .attach || use == .attachClear {
                _ = try Row.fetchAll(db, sql: "SELECT * FROM other.sqlite_master")
            }
            #expect(try Int.fetchOne(db, sql: "SELECT count(*) FROM t") == 0)
        }
        try pool.write { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
        #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 1)
        #expect(try stockShell(path, "SELECT count(*) FROM t;") == ["1"])
    }
}
