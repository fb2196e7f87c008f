import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Invariant 19: the database and the files beside it are replaced as a unit.
@Suite("A restore")
struct RestoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func prepare(_ former: RestoredKind?, _ backup: RestoredKind) throws -> (database: String, backup: String) {
        let path = folder.path("db"), other = folder.path("backups")
        try FileManager.default.createDirectory(atPath: other, withIntermediateDirectories: false)
        try former?.make(path, 1)
        try backup.make(other + "/backup", 2)
        return (path, other + "/backup")
    }

    private func restore(
        _ files: (database: String, backup: String), _ check: RestoreCheck? = nil, _ former: FormerDatabase = .kept
    ) throws -> String? {
        try DatabaseFile.restore(
            from: files.backup, to: files.database, check: check ?? .opening(RestoredKind.encryption), former: former)
    }

    /// The names in the folder of the database, without those of the former database.
    private func present() throws -> Set<String> {
        try RestoredKind.names(folder.path).filter { !$0.contains(".former-") && $0 != "backups" }
    }

    // MARK: - The result

    @Test(
        "leaves the restored database, and the former one with all its files under one name",
        arguments: RestoredKind.pairs)
    func kept(_ kinds: (RestoredKind, RestoredKind)) throws {
        let files = try prepare(kinds.0, kinds.1), backup = try folder.contents("backups")
        let former = try #require(try restore(files))
        #expect(try present().isSubset(of: ["db", "db-keys", "db-salt"]))
        #expect(try folder.contents("backups") == backup)
        #expect(try RestoredKind.value(files.database) == 2)
        #expect(try RestoredKind.value(former) == 1)
    }

    @Test(
        "takes the files as they are without a check, with the transactions in their log", arguments: RestoredKind.pairs
    )
    func unchecked(_ kinds: (RestoredKind, RestoredKind)) throws {
        let files = try prepare(kinds.0, kinds.1)
        let former = try #require(try restore(files, RestoreCheck.none))
        #expect(try RestoredKind.value(files.database) == 2)
        #expect(try RestoredKind.value(former) == 1)
    }

    @Test("works where there is no database any more", arguments: RestoredKind.allCases)
    func absent(_ kind: RestoredKind) throws {
        let files = try prepare(nil, kind)
        #expect(try restore(files) == nil)
        #expect(try RestoredKind.value(files.database) == 2)
    }

    @Test("discards the former database, and leaves nothing of it", arguments: RestoredKind.pairs)
    func discarded(_ kinds: (RestoredKind, RestoredKind)) throws {
        let files = try prepare(kinds.0, kinds.1)
        #expect(try restore(files, nil, .discarded) == nil)
        #expect(try RestoredKind.names(folder.path).isSubset(of: ["db", "db-keys", "db-salt", "backups"]))
        #expect(try RestoredKind.value(files.database) == 2)
    }

    @Test("of a former database that stands aside brings it back")
    func back() throws {
        let files = try prepare(.slots, .log), former = try #require(try restore(files))
        let second = try #require(try restore((files.database, former)))
        #expect(second != former)
        #expect(try RestoredKind.value(files.database) == 1)
        #expect(try RestoredKind.value(second) == 2)
    }

    @Test("keeps the mode of the former database, for its sidecars as well", arguments: [0o600, 0o640, 0o666])
    func mode(_ mode: Int) throws {
        let files = try prepare(.plain, .slots)
        try #require(chmod(files.database, mode_t(mode)) == 0)
        _ = try restore(files)
        for path in [files.database, files.database + "-keys"] {
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == mode)
        }
    }

    @Test("keeps the owner of the former database", .enabled(if: geteuid() == 0))
    func owner() throws {
        let files = try prepare(.plain, .slots)
        try #require(chown(files.database, 12_345, 12_346) == 0)
        _ = try restore(files)
        for path in [files.database, files.database + "-keys"] {
            let facts = try FileManager.default.attributesOfItem(atPath: path)
            #expect(facts[.ownerAccountID] as? Int == 12_345)
            #expect(facts[.groupOwnerAccountID] as? Int == 12_346)
        }
    }

    @Test(
        "where the file system has no second names does the same", .enabled(if: strongroom_faults_refused_names() >= 0),
        arguments: RestoredKind.pairs)
    func withoutLinks(_ kinds: (RestoredKind, RestoredKind)) throws {
        let files = try prepare(kinds.0, kinds.1)
        strongroom_faults_refuse_names(true)
        defer { strongroom_faults_refuse_names(false) }
        let former = try #require(try restore(files, RestoreCheck.none))
        #expect(try RestoredKind.value(files.database) == 2)
        #expect(try RestoredKind.value(former) == 1)
    }

    // MARK: - Refusals

    private func refused(
        _ files: (database: String, backup: String), _ code: ResultCode, _ reason: DatabaseError.Reason?,
        _ check: RestoreCheck? = nil
    ) throws {
        let before = try folder.contents("."), error = #expect(throws: DatabaseError.self) { try restore(files, check) }
        #expect(error?.resultCode == code, "\(error as Any)")
        #expect(error?.reason == reason, "\(error as Any)")
        #expect(error?.description.contains("strongroom-partial") == false, "\(error as Any)")
        #expect(try folder.contents(".") == before)
    }

    @Test("with a wrong key, of a damaged backup, or of no backup touches nothing")
    func unfit() throws {
        let files = try prepare(.plain, .plain)
        var wrong = RestoredKind.encryption
        wrong.key = .passphrase("wrong")
        try refused(files, .SQLITE_NOTADB, .wrongKey, .opening(wrong))
        try refused(files, .SQLITE_NOTADB, .encryptedWithoutKey, .clearText)
        var bytes = try Data(contentsOf: URL(fileURLWithPath: files.backup))
        bytes[bytes.count - 100] ^= 1
        try bytes.write(to: URL(fileURLWithPath: files.backup))
        try refused(files, .SQLITE_CORRUPT, .damaged)
        try Data("a text that is no database".utf8).write(to: URL(fileURLWithPath: files.backup))
        try refused(files, .SQLITE_NOTADB, .notDatabase)
        try Data().write(to: URL(fileURLWithPath: files.backup))
        try refused(files, .SQLITE_NOTADB, .notDatabase)
        try refused((files.database, folder.path("nothing")), .SQLITE_CANTOPEN, .notRestorable)
        try refused((files.database, files.database), .SQLITE_CANTOPEN, .notRestorable)
        try refused((folder.path("no/db"), files.database), .SQLITE_CANTOPEN, .notRestorable)
        try refused((folder.path("backups"), files.database), .SQLITE_CANTOPEN, .notRestorable)
    }

    @Test("replaces no text, no link in the place of a sidecar, and no sidecar of a database that is elsewhere")
    func foreign() throws {
        let files = try prepare(nil, .plain)
        try Data("notes".utf8).write(to: URL(fileURLWithPath: files.database))
        try refused(files, .SQLITE_NOTADB, .notDatabase)
        try FileManager.default.removeItem(atPath: files.database)
        for ending in ["-wal", "-keys", "-salt"] {
            try Data("x".utf8).write(to: URL(fileURLWithPath: files.database + ending))
            try refused(files, .SQLITE_CANTOPEN, .notRestorable)
            try FileManager.default.removeItem(atPath: files.database + ending)
        }
        try RestoredKind.plain.make(files.database, 1)
        try FileManager.default.createSymbolicLink(atPath: files.database + "-salt", withDestinationPath: "elsewhere")
        try refused(files, .SQLITE_CANTOPEN, .notRestorable)
    }

    @Test("of a database in use is refused, in this process and in another one", arguments: ["wal", "delete"])
    func inUse(journal: String) throws {
        let files = try prepare(.plain, .plain)
        let queue = try DatabaseQueue(path: files.database, configuration: RestoredKind.plain.configuration)
        try queue.inDatabase { db in
            try db.execute(sql: "PRAGMA journal_mode = \(journal)")
            try db.inTransaction(.immediate) {
                try refused(files, .SQLITE_BUSY, nil)
                return .rollback
            }
        }
        if journal == "wal" { try refused(files, .SQLITE_BUSY, nil) }
        try queue.close()
        _ = try restore(files)
        #expect(try RestoredKind.value(files.database) == 2)
    }

    @Test("keeps this process's locks on other connections")
    func locks() throws {
        let files = try prepare(.plain, .plain)
        let backup = try DatabaseQueue(path: files.backup, configuration: RestoredKind.plain.configuration)
        try backup.inDatabase { db in
            try db.inTransaction(.immediate) {
                _ = try restore(files)
                #expect(db.connection.holdsLock)
                return .rollback
            }
        }
        try backup.close()
    }

    @Test("of a name without room for that of the former files is refused, unless they are discarded")
    func longName() throws {
        let files = try prepare(nil, .plain), long = folder.path(String(repeating: "n", count: 240))
        try RestoredKind.plain.make(long, 1)
        try refused((long, files.backup), .SQLITE_CANTOPEN, .nameTooLong)
        _ = try restore((long, files.backup), nil, .discarded)
        #expect(try RestoredKind.value(long) == 2)
        try refused((folder.path(String(repeating: "n", count: 250)), files.backup), .SQLITE_CANTOPEN, .nameTooLong)
    }

    @Test("stops when its progress throws, and touches nothing")
    func stopped() throws {
        let files = try prepare(.slots, .log), before = try folder.contents(".")
        for phase in [EncryptionProgress.Phase.writing, .checking] {
            #expect(throws: CancellationError.self) {
                try DatabaseFile.restore(
                    from: files.backup, to: files.database, check: .opening(RestoredKind.encryption)
                ) { if $0.phase == phase { throw CancellationError() } }
            }
            #expect(try folder.contents(".") == before)
        }
    }

    @Test("of a backup that changes while it is copied is refused")
    func changed() throws {
        let files = try prepare(.plain, .plain)
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseFile.restore(from: files.backup, to: files.database, check: .none) { _ in
                try Data("later".utf8).write(to: URL(fileURLWithPath: files.backup + "-wal"))
            }
        }
        #expect(error?.reason == .changedMeanwhile)
        #expect(error?.resultCode == .SQLITE_BUSY)
        #expect(try RestoredKind.value(files.database) == 1)
    }
}

extension TemporaryFolder {
    /// The content of each file in a folder of this one.
    func contents(_ name: String) throws -> [String: Data] {
        let root = path(name)
        return try FileManager.default.subpathsOfDirectory(atPath: root).reduce(into: [:]) { files, file in
            files[file] = FileManager.default.contents(atPath: root + "/" + file) ?? Data()
        }
    }
}
