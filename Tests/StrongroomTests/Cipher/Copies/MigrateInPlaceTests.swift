import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Invariant 19: the database and the files beside it are replaced as a unit.
@Suite("A migration in place")
struct MigrateInPlaceTests {
    /// A format that a database has before or after.
    enum Format: String, CaseIterable, CustomTestStringConvertible, Codable {
        case one, two, three, four, largePages, header

        var testDescription: String { rawValue }

        var encryption: Encryption {
            var settings: CipherSettings =
                switch self {
                case .one: .sqlcipher1
                case .two: .sqlcipher2
                case .three: .sqlcipher3
                case .four, .header, .largePages: .sqlcipher4
                }
            settings.kdfIterations = 1000
            if self == .largePages { settings.pageSize = 16384 }
            return Encryption(
                key: .passphrase("first"), settings: settings,
                plaintextHeader: self == .header ? PlaintextHeader() : nil)
        }

        func value(_ path: String) throws -> Int? {
            var configuration = Configuration()
            configuration.encryption = encryption
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            guard try queue.checkIntegrity().isIntact else { throw DatabaseError(message: "\(path) is damaged") }
            return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") }
        }

        /// Makes a database with 40 rows, 20 of them in a log that a killed program has left.
        func make(_ path: String, journal: String = "wal") throws {
            let made = path + ".open"
            var configuration = Configuration()
            configuration.encryption = encryption
            let queue = try DatabaseQueue(path: made, configuration: configuration)
            try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = \(journal)") }
            try queue.write { db in
                try db.execute(sql: "CREATE TABLE t(a, b)")
                for _ in 1...20 { try db.execute(sql: "INSERT INTO t VALUES (1, randomblob(400))") }
            }
            if journal == "wal" { _ = try queue.writeWithoutTransaction { try $0.checkpoint(.truncate) } }
            try queue.write { db in
                for _ in 1...20 { try db.execute(sql: "INSERT INTO t VALUES (2, randomblob(400))") }
            }
            for ending in ["", "-wal", "-salt"] where FileManager.default.fileExists(atPath: made + ending) {
                try FileManager.default.copyItem(atPath: made + ending, toPath: path + ending)
            }
            try queue.close()
            for ending in ["", "-salt"] { try? FileManager.default.removeItem(atPath: made + ending) }
        }

        func migrate(_ path: String, to other: Format) throws {
            try DatabaseFile.migrateInPlace(path: path, from: encryption, as: other.encryption)
        }
    }

    private static let ways: [(Format, Format)] = [
        (.one, .four), (.two, .four), (.three, .four), (.four, .largePages), (.largePages, .four), (.four, .header),
        (.header, .four), (.three, .header),
    ]

    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("db")
    }

    @Test(
        "keeps every row, also those of a log that was left, and leaves one database", arguments: ways,
        ["wal", "delete"])
    func rows(_ way: (Format, Format), journal: String) throws {
        try way.0.make(path, journal: journal)
        try #require(chmod(path, 0o640) == 0)
        try way.0.migrate(path, to: way.1)
        #expect(try RestoredKind.names(folder.path) == (way.1 == .header ? ["db", "db-salt"] : ["db"]))
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o640)
        #expect(try way.1.value(path) == 40)
        // As a run after one that was killed at its end.
        try way.0.migrate(path, to: way.1)
        #expect(try way.1.value(path) == 40)
    }

    @Test("keeps the slots of a database whose page size changes")
    func slots() throws {
        var encryption = Format.four.encryption
        encryption.keySlots.creating = NewKeySlot(label: "a", derivation: .cheap)
        var configuration = Configuration()
        configuration.encryption = encryption
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        try queue.close()
        // The key of a slot is the data key only after it was unlocked.
        let inspection = try DatabaseFile.inspect(path: path)
        #expect(inspection.hasSlotFile)
        try DatabaseFile.migrateInPlace(path: path, from: Format.four.encryption, as: Format.largePages.encryption)
        #expect(try Format.largePages.value(path) == 1)
        #expect(try DatabaseFile.inspect(path: path).keySlots.map(\.label) == ["a"])
    }

    @Test("is refused with a wrong key, in use, with several names and without room, and touches nothing")
    func refusals() throws {
        try Format.three.make(path, journal: "delete")
        let before = try folder.contents(".")
        var wrong = Format.three.encryption
        wrong.key = .passphrase("wrong")
        let error = #expect(throws: DatabaseError.self) { try DatabaseFile.migrateInPlace(path: path, from: wrong) }
        #expect(error?.isWrongKeyError == true)
        #expect(try folder.contents(".") == before)
        var configuration = Configuration()
        configuration.encryption = Format.three.encryption
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        // Without a read, it has no lock.
        try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = wal; SELECT * FROM sqlite_schema") }
        let busy = #expect(throws: DatabaseError.self) { try Format.three.migrate(path, to: .four) }
        #expect(busy?.resultCode == .SQLITE_BUSY)
        try queue.close()
        try FileManager.default.linkItem(atPath: path, toPath: path + ".name")
        let named = #expect(throws: DatabaseError.self) { try Format.three.migrate(path, to: .four) }
        #expect(named?.reason == .severalNames)
        try FileManager.default.removeItem(atPath: path + ".name")
        #expect(throws: CancellationError.self) {
            try DatabaseFile.migrateInPlace(
                path: path, from: Format.three.encryption, as: Format.four.encryption
            ) { if $0.phase == .checking { throw CancellationError() } }
        }
        #expect(try RestoredKind.names(folder.path) == ["db"])
        #expect(try Format.three.value(path) == 40)
    }

    @Test(
        "that is killed leaves the former database or the migrated one, and goes on when it is called again",
        .enabled(if: strongroom_faults_operations() >= 0), .timeLimit(.minutes(10)),
        arguments: [(Format.three, Format.four), (.three, .header), (.header, .four)])
    func killed(_ way: (Format, Format)) async throws {
        let model = folder.path("model"), counted = folder.path("counted")
        try FileManager.default.createDirectory(atPath: model, withIntermediateDirectories: false)
        try way.0.make(model + "/db")
        try FileManager.default.copyItem(atPath: model, toPath: counted)
        strongroom_faults_kill_after(-1)
        try way.0.migrate(counted + "/db", to: way.1)
        let count = strongroom_faults_operations()
        var seen: Set<Bool> = []
        for operation in Form.every(20, of: 0..<count, "changes of files in a migration in place") {
            let copy = folder.path("\(operation)")
            try FileManager.default.copyItem(atPath: model, toPath: copy)
            await #expect(processExitsWith: .signal(SIGKILL)) {
                [copy = copy as String, from = way.0 as Format, to = way.1 as Format, operation = operation as Int64] in
                strongroom_faults_kill_after(operation)
                try from.migrate(copy + "/db", to: to)
            }
            if operation % 2 == 0 {
                let isFormer = (try? way.0.value(copy + "/db")) == 40
                seen.insert(isFormer)
                if !isFormer { #expect(try way.1.value(copy + "/db") == 40, "before \(operation) of \(count)") }
            }
            try way.0.migrate(copy + "/db", to: way.1)
            #expect(try way.1.value(copy + "/db") == 40, "again, before \(operation) of \(count)")
            let names = try RestoredKind.names(copy)
            #expect(names == (way.1 == .header ? ["db", "db-salt"] : ["db"]), "before \(operation) of \(count)")
            try FileManager.default.removeItem(atPath: copy)
        }
        #expect(seen.contains(true))
    }

    // MARK: - The policy of a configuration

    private func configuration(_ policy: Configuration.OlderFormatPolicy) -> Configuration {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .passphrase("first"))
        configuration.olderFormats = policy
        return configuration
    }

    /// In the format that other programs write, with all its rounds.
    private func makeFormer() throws {
        var former = Configuration()
        former.encryption = Encryption(key: .passphrase("first"), settings: .sqlcipher3)
        let queue = try DatabaseQueue(path: path, configuration: former)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (7)") }
        try queue.close()
    }

    @Test("happens at the first opening for writing if the configuration says so, and not otherwise")
    func policy() throws {
        try makeFormer()
        let before = try folder.contents(".")
        let refused = #expect(throws: DatabaseError.self) {
            try DatabasePool(path: path, configuration: configuration(.refuse))
        }
        #expect(refused?.reason == .olderFormat)
        var readonly = configuration(.migrate())
        readonly.readonly = true
        #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: readonly) }
        #expect(try folder.contents(".") == before)
        let seen = Mutex<[EncryptionProgress.Phase]>([])
        let policy = Configuration.OlderFormatPolicy.migrate { done in seen.withLock { $0.append(done.phase) } }
        for _ in 1...2 {
            let pool = try DatabasePool(path: path, configuration: configuration(policy))
            #expect(try pool.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 7)
            try pool.close()
        }
        #expect(Set(seen.withLock { $0 }) == [.writing, .checking])
        #expect(try RestoredKind.names(folder.path) == ["db"])
    }
}
