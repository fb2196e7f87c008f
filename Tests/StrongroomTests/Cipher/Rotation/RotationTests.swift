import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A rotation")
struct RotationTests {
    private struct Stopped: Error {}

    private func fill(_ queue: DatabaseQueue, rows: Int = 2000) throws {
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
            for _ in 0..<rows { try db.execute(sql: "INSERT INTO t(b) VALUES (randomblob(1000))") }
        }
    }

    private func count(_ path: String, _ passphrase: String) throws -> Int? {
        try DatabaseQueue(path: path, configuration: .encrypted(passphrase: passphrase)).read {
            try Int.fetchOne($0, sql: "SELECT count(*) FROM t")
        }
    }

    private func salt(_ path: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path)).prefix(16)
    }

    private func withQueue<T>(wal: Bool, rows: Int = 2000, _ body: (DatabaseQueue, String) throws -> T) throws -> T {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let queue = try DatabaseQueue(path: path, configuration: .encrypted())
        try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = \(wal ? "wal" : "delete")") }
        try fill(queue, rows: rows)
        return try body(queue, path)
    }

    @Test("lets the new key in and keeps the old one out, with a fresh salt", arguments: [true, false])
    func rotate(wal: Bool) throws {
        try withQueue(wal: wal) { queue, path in
            let before = try salt(path)
            try queue.rotateKey(to: .passphrase("new"))
            #expect(try count(path, "new") == 2000)
            #expect(throws: DatabaseError.self) { try count(path, "correct horse") }
            #expect(try salt(path) != before)
            #expect(!FileManager.default.fileExists(atPath: path + "-salt-next"))
        }
    }

    @Test("keeps the connection usable, with its caches", arguments: [true, false])
    func goesOn(wal: Bool) throws {
        try withQueue(wal: wal) { queue, path in
            try queue.inDatabase { try $0.execute(sql: "CREATE TEMP TABLE kept(a)") }
            try queue.rotateKey(to: .passphrase("new"))
            try queue.write { try $0.execute(sql: "INSERT INTO t(b) VALUES (1)") }
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 2001)
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM kept") } == 0)
            #expect(try queue.checkIntegrity().isIntact)
            #expect(try count(path, "new") == 2001)
        }
    }

    @Test("opens with the stock shell and the new passphrase", arguments: [true, false])
    func stock(wal: Bool) throws {
        try withQueue(wal: wal) { queue, path in
            try queue.rotateKey(to: .passphrase("new"))
            #expect(try stockShell(path, key: "new", "SELECT count(*) FROM t;") == ["2000"])
            #expect(
                try stockShell(path, key: "correct horse", "SELECT count(*) FROM t;").contains {
                    $0.contains("file is not a database")
                })
        }
    }

    @Test("can be reversed by another rotation")
    func back() throws {
        try withQueue(wal: true) { queue, path in
            try queue.rotateKey(to: .passphrase("new"))
            try queue.rotateKey(to: .random())
            try queue.rotateKey(to: .passphrase("correct horse"))
            #expect(try count(path, "correct horse") == 2000)
            #expect(throws: DatabaseError.self) { try count(path, "new") }
        }
    }

    @Test("reports pages up to the last", arguments: [true, false])
    func progress(wal: Bool) throws {
        try withQueue(wal: wal) { queue, _ in
            var seen: [EncryptionProgress] = []
            try queue.rotateKey(to: .passphrase("new")) { seen.append($0) }
            let total = try queue.read { try Int.fetchOne($0, sql: "PRAGMA page_count") }
            #expect(seen.count > 100)
            #expect(seen.last?.isCompleted == true)
            #expect(seen.last?.totalPageCount == total)
            #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.completedPageCount <= $1.completedPageCount })
        }
    }

    @Test("ignores an error of progress after the last page", arguments: [true, false])
    func lateStop(wal: Bool) throws {
        try withQueue(wal: wal) { queue, path in
            let outcome = try queue.rotateKey(to: .passphrase("new")) { if $0.isCompleted { throw Stopped() } }
            #expect(outcome == .complete)
            #expect(try count(path, "new") == 2000)
        }
    }

    @Test("that is stopped changes nothing, and the connection goes on", arguments: [true, false], [1, 100])
    func stop(wal: Bool, page: Int) throws {
        try withQueue(wal: wal, rows: 6000) { queue, path in
            let before = try salt(path)
            #expect(throws: Stopped.self) {
                try queue.rotateKey(to: .passphrase("new")) { if $0.completedPageCount >= page { throw Stopped() } }
            }
            try queue.write { try $0.execute(sql: "INSERT INTO t(b) VALUES (1), (2)") }
            #expect(try count(path, "correct horse") == 6002)
            #expect(throws: DatabaseError.self) { try count(path, "new") }
            #expect(try salt(path) == before)
            #expect(try queue.checkIntegrity().isIntact)
            #expect(!FileManager.default.fileExists(atPath: path + "-salt-next"))
            try queue.rotateKey(to: .passphrase("new"))
            #expect(try count(path, "new") == 6002)
        }
    }

    @Test("while another process writes is refused as busy, and nothing changes", arguments: [true, false])
    func busy(wal: Bool) throws {
        try withQueue(wal: wal) { queue, path in
            let other = try startShell(path)
            try other.run("BEGIN IMMEDIATE; INSERT INTO t(b) VALUES (1);")
            let error = #expect(throws: DatabaseError.self) { try queue.rotateKey(to: .passphrase("new")) }
            #expect(error?.resultCode == .SQLITE_BUSY)
            #expect(error?.reason == .keyUnchanged)
            #expect(!FileManager.default.fileExists(atPath: path + "-salt-next"))
            try other.run("COMMIT;")
            // The write on the connection that would have mixed keys after PRAGMA rekey.
            try queue.write { try $0.execute(sql: "INSERT INTO t(b) VALUES (2)") }
            #expect(try count(path, "correct horse") == 2002)
            #expect(try stockShell(path, "SELECT count(*) FROM t;") == ["2002"])
        }
    }

    @Test("lets another process's reader finish on its state, then fail cleanly")
    func readerElsewhere() throws {
        try withQueue(wal: true) { queue, path in
            let other = try startShell(path)
            #expect(try other.run("BEGIN; SELECT count(*) FROM t;") == ["2000"])
            try queue.rotateKey(to: .passphrase("new"))
            try queue.write { try $0.execute(sql: "INSERT INTO t(b) VALUES (1)") }
            #expect(try other.run("SELECT count(*) FROM t;") == ["2000"])
            _ = try other.run("COMMIT;")
            #expect(
                try other.run("INSERT INTO t(b) VALUES (9);").contains {
                    $0.contains("not a database") || $0.contains("error")
                })
            #expect(try count(path, "new") == 2001)
            #expect(!FileManager.default.fileExists(atPath: path + "-salt-next"))
        }
    }

    @Test("with a reader of the old pages still there opens with the new key immediately")
    func pendingSalt() throws {
        try withQueue(wal: true) { queue, path in
            let other = try startShell(path)
            #expect(try other.run("BEGIN; SELECT count(*) FROM t;") == ["2000"])
            try queue.rotateKey(to: .passphrase("new"))
            #expect(try DatabaseFile.inspect(path: path).isRotationPending)
            #expect(try count(path, "new") == 2000)
            #expect(throws: DatabaseError.self) { try count(path, "correct horse") }
            #expect(throws: DatabaseError.self) { try queue.rotateKey(to: .passphrase("newer")) }
            try other.run("COMMIT;")
            #expect(try count(path, "new") == 2000)
            #expect(try !DatabaseFile.inspect(path: path).isRotationPending)
        }
    }

    @Test("of an unencrypted database, or to an empty key is refused")
    func refused() throws {
        try withQueue(wal: true, rows: 1) { queue, path in
            let empty = #expect(throws: DatabaseError.self) { try queue.rotateKey(to: .passphrase("")) }
            #expect(empty?.resultCode == .SQLITE_MISUSE)
            let rows = try count(path, "correct horse")
            #expect(rows == 1)
        }
        try withEncryptedQueue(Configuration()) { queue in
            let clear = #expect(throws: DatabaseError.self) { try queue.rotateKey(to: .passphrase("new")) }
            #expect(clear?.resultCode == .SQLITE_MISUSE)
        }
    }

    @Test("on a connection that keeps all others out is refused, until it lets them in")
    func exclusiveLock() throws {
        try withQueue(wal: true, rows: 1) { queue, path in
            _ = try queue.inDatabase { try String.fetchOne($0, sql: "PRAGMA locking_mode = EXCLUSIVE") }
            let error = #expect(throws: DatabaseError.self) { try queue.rotateKey(to: .passphrase("new")) }
            #expect(error?.resultCode == .SQLITE_MISUSE)
            #expect(error?.recoverySuggestion == "set PRAGMA locking_mode = NORMAL")
            _ = try queue.inDatabase { try String.fetchOne($0, sql: "PRAGMA locking_mode = NORMAL") }
            try queue.rotateKey(to: .passphrase("new"))
            #expect(try count(path, "new") == 1)
        }
    }

    @Test("of a database with a rollback journal uses a write-ahead log, and restores the journal mode")
    func journal() throws {
        try withQueue(wal: false, rows: 200) { queue, path in
            var isLogged = true
            try queue.rotateKey(to: .passphrase("new")) { progress in
                guard !progress.isCompleted else { return }
                let exist = ["-wal", "-journal"].map { FileManager.default.fileExists(atPath: path + $0) }
                if exist != [true, false] { isLogged = false }
            }
            #expect(isLogged)
            #expect(try queue.inDatabase { try String.fetchOne($0, sql: "PRAGMA journal_mode") } == "delete")
        }
    }

    @Test("by changePassphrase is the same")
    func changePassphrase() throws {
        try withQueue(wal: true) { queue, path in
            try queue.inDatabase { try $0.changePassphrase("new") }
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == 2000)
            #expect(try count(path, "new") == 2000)
        }
    }

    @Test("without room for it is refused before anything is written")
    func noRoom() async throws {
        await #expect(processExitsWith: .success) {
            let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
            let queue = try DatabaseQueue(path: path, configuration: .encrypted())
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE t(a INTEGER PRIMARY KEY, b)")
                for _ in 0..<2000 { try db.execute(sql: "INSERT INTO t(b) VALUES (randomblob(1000))") }
            }
            signal(SIGXFSZ, SIG_IGN)
            var limit = rlimit(rlim_cur: 1_000_000, rlim_max: 100_000_000)
            guard setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit) == 0 else { exit(2) }
            do {
                try queue.rotateKey(to: .passphrase("new"))
                exit(3)
            } catch let error as DatabaseError { if error.resultCode != .SQLITE_FULL { exit(4) } }
            guard try queue.read({ try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }) == 2000 else { exit(5) }
            _ = try DatabaseQueue(path: path, configuration: .encrypted())
        }
    }
}

@Suite("An integrity check")
struct IntegrityTests {
    private func create(_ path: String) throws {
        let queue = try DatabaseQueue(path: path, configuration: .encrypted())
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE p(a INTEGER PRIMARY KEY, b); CREATE TABLE c(a REFERENCES p)")
            for _ in 0..<100 { try db.execute(sql: "INSERT INTO p(b) VALUES (randomblob(1000))") }
        }
    }

    @Test("of an intact database finds nothing")
    func intact() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try create(path)
        let report = try DatabaseQueue(path: path, configuration: .encrypted()).checkIntegrity()
        #expect(report.isIntact)
        #expect(report.unauthenticPages == [])
        #expect(report.pageCount > 20)
    }

    @Test("names the damaged pages, all of them")
    func damaged() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try create(path)
        try flip(path, at: 4096 * 9 + 100)
        try flip(path, at: 4096 * 19 + 4090)
        let report = try DatabaseQueue(path: path, configuration: .encrypted()).checkIntegrity()
        #expect(!report.isIntact)
        #expect(report.unauthenticPages == [10, 20])
    }

    @Test("names rows that refer to nothing")
    func foreignKeys() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try create(path)
        var configuration = Configuration.encrypted()
        configuration.foreignKeysEnabled = false
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: "INSERT INTO c VALUES (12345)") }
        let report = try queue.checkIntegrity()
        #expect(report.foreignKeyProblems.count == 1)
        #expect(report.unauthenticPages == [])
        #expect(!report.isIntact)
    }

    @Test("reads the write-ahead log, too")
    func log() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try create(path)
        let queue = try DatabaseQueue(path: path, configuration: .encrypted())
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = wal; PRAGMA wal_autocheckpoint = 0")
            try db.execute(sql: "UPDATE p SET b = randomblob(1000)")
        }
        #expect(try queue.checkIntegrity().isIntact)
        try flip(path, at: 4096 * 12 + 1)
        #expect(try queue.checkIntegrity().unauthenticPages == [])
        try flip(path, at: 4096 * 12 + 1)
        try flip(path + "-wal", at: 32 + (4096 + 24) * 3 + 500)
        #expect(try queue.checkIntegrity().unauthenticPages?.count == 1)
    }
}

@Suite("Inspecting a file")
struct InspectionTests {
    @Test("shows its properties without a key")
    func kinds() throws {
        let folder = try TemporaryFolder()
        let absent = folder.path("absent"), empty = folder.path("empty"), clear = folder.path("clear"),
            encrypted = folder.path("encrypted"), text = folder.path("text")
        try Data().write(to: URL(fileURLWithPath: empty))
        try String(repeating: "text ", count: 1000).write(toFile: text, atomically: true, encoding: .utf8)
        try DatabaseQueue(path: clear).write { try $0.execute(sql: "CREATE TABLE t(a)") }
        try DatabaseQueue(path: encrypted, configuration: .encrypted()).write {
            try $0.execute(sql: "CREATE TABLE t(a)")
        }
        #expect(try DatabaseFile.inspect(path: absent).kind == .absent)
        #expect(try DatabaseFile.inspect(path: empty).kind == .empty)
        #expect(try DatabaseFile.inspect(path: text).kind == .notDatabase)
        #expect(try DatabaseFile.inspect(path: folder.path).kind == .notDatabase)
        let clearFile = try DatabaseFile.inspect(path: clear)
        #expect(clearFile.kind == .clear)
        #expect(clearFile.pageSize == 4096)
        #expect(clearFile.salt == nil)
        let encryptedFile = try DatabaseFile.inspect(path: encrypted)
        #expect(encryptedFile.kind == .encrypted)
        #expect(encryptedFile.pageSize == nil)
        #expect(try encryptedFile.salt == Array(Data(contentsOf: URL(fileURLWithPath: encrypted)).prefix(16)))
        #expect(!encryptedFile.isRotationPending)
        #expect(!FileManager.default.fileExists(atPath: absent))
    }

    @Test("drops no lock of this process on it")
    func locks() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let queue = try DatabaseQueue(path: path, configuration: .encrypted())
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a)") }
        try queue.inDatabase { db in
            try db.execute(sql: "BEGIN IMMEDIATE; INSERT INTO t VALUES (1)")
            #expect(try DatabaseFile.inspect(path: path).kind == .encrypted)
            // The other process would write, were the lock gone.
            #expect(try stockShell(path, "INSERT INTO t VALUES (2);").contains { $0.contains("locked") })
            try db.execute(sql: "COMMIT")
        }
    }
}
