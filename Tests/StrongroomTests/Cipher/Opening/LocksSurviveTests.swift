import Foundation
import Strongroom
import TestSupport
import Testing

/// Invariant 5: closing any descriptor of a file drops the locks that this process has on it, so no code opens the file
/// behind SQLite's back.
@Suite("Locks survive", .enabled(if: FileManager.default.fileExists(atPath: "/proc/locks")))
struct LocksSurviveTests {
    /// Operations of a program on a database beside its connection.
    enum Operation: String, CaseIterable {
        case inspect, openAndClose, wrongKey, readOnly, checkIntegrity, vacuumInto, backup, migrateCopy, decryptCopy,
            attach, openShared

        func run(_ path: String, _ folder: TemporaryFolder) throws {
            let copy = folder.path("copy-\(rawValue).sqlite")
            switch self {
            case .inspect:
                _ = try DatabaseFile.inspect(path: path)
            case .openAndClose:
                let pool = try DatabaseQueue(path: path, configuration: LocksSurviveTests.configuration())
                _ = try pool.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM t") }
                try pool.close()
            case .wrongKey:
                let wrong = Result {
                    try DatabaseQueue(path: path, configuration: LocksSurviveTests.configuration("wrong"))
                }
                #expect(throws: DatabaseError.self) {
                    try wrong.get().read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM t") }
                }
            case .readOnly:
                var configuration = LocksSurviveTests.configuration()
                configuration.readonly = true
                let queue = try DatabaseQueue(path: path, configuration: configuration)
                _ = try queue.read { try Int.fetchOne($0, sql: "SELECT COUNT(*) FROM t") }
                try queue.close()
            case .checkIntegrity:
                let report = try DatabaseQueue(path: path, configuration: LocksSurviveTests.configuration())
                    .checkIntegrity()
                #expect(report.isIntact)
            case .vacuumInto:
                try DatabaseQueue(path: path, configuration: LocksSurviveTests.configuration()).vacuum(into: copy)
            case .backup:
                let destination = try DatabaseQueue(path: copy, configuration: LocksSurviveTests.configuration())
                try DatabaseQueue(path: path, configuration: LocksSurviveTests.configuration()).backup(to: destination)
            case .migrateCopy:
                try DatabaseFile.migrate(
                    path: path, to: copy, from: LocksSurviveTests.encryption(),
                    as: LocksSurviveTests.encryption("other"))
            case .decryptCopy:
                try DatabaseFile.decrypt(path: path, to: copy, encryption: LocksSurviveTests.encryption())
            case .attach:
                let queue = try DatabaseQueue(path: copy, configuration: LocksSurviveTests.configuration())
                try queue.inDatabase { db throws in
                    try db.attach(path: path, as: "other", encryption: LocksSurviveTests.encryption())
                    _ = try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM other.t")
                    try db.execute(sql: "DETACH other")
                }
            case .openShared:
                _ = try DatabasePool.openSharedReadOnly(path: path, configuration: LocksSurviveTests.configuration())
            }
        }
    }

    fileprivate static func encryption(_ passphrase: String = "correct horse") -> Encryption {
        Encryption(key: .passphrase(passphrase), settings: CipherSettings(kdfIterations: 1000))
    }

    fileprivate static func configuration(_ passphrase: String = "correct horse") -> Configuration {
        var configuration = Configuration()
        configuration.encryption = encryption(passphrase)
        return configuration
    }

    /// Runs `body` while this process has written to the database, and not committed.
    private func whileWriting(_ body: (_ path: String, _ folder: TemporaryFolder) throws -> Void) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let queue = try DatabaseQueue(path: path, configuration: Self.configuration())
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        try queue.inDatabase { db throws in
            try db.execute(sql: "BEGIN IMMEDIATE; INSERT INTO t VALUES (2)")
            try body(path, folder)
            try db.execute(sql: "ROLLBACK")
        }
    }

    @Test("whatever the process does to the same file meanwhile", arguments: Operation.allCases)
    func operations(operation: Operation) throws {
        try whileWriting { path, folder in
            let before = try Locks.all(on: path)
            try operation.run(path, folder)
            #expect(!before.isEmpty)
            // SQLite may keep a shared lock for the second connection until the first one is done; no lock may be
            // missing.
            let after = try Locks.all(on: path)
            #expect(before.allSatisfy(after.contains), "\(before) \(after)")
        }
    }

    @Test("An ordinary reader of the file would drop them, and be seen")
    func control() throws {
        try whileWriting { path, _ in
            #expect(try !Locks.all(on: path).isEmpty)
            _ = try FileHandle(forReadingFrom: URL(fileURLWithPath: path)).read(upToCount: 16)
            #expect(try Locks.all(on: path).isEmpty)
        }
    }
}
