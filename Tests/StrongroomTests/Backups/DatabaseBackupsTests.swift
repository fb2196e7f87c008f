import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A folder of backups")
struct DatabaseBackupsTests {
    private let scratch: TemporaryFolder
    private var source: String { scratch.path("notes.db") }
    private var backups: DatabaseBackups { DatabaseBackups(folder: scratch.path("copies")) }

    init() throws { scratch = try TemporaryFolder() }

    private static func encryption(_ passphrase: String = "correct horse") -> Encryption {
        Encryption(key: .passphrase(passphrase), settings: CipherSettings(kdfIterations: 1000))
    }

    private func configuration(_ change: (inout Encryption) -> Void = { _ in }) -> Configuration {
        var configuration = Configuration(), encryption = Self.encryption()
        change(&encryption)
        configuration.encryption = encryption
        return configuration
    }

    private func makeSource(_ change: (inout Encryption) -> Void = { _ in }) throws {
        let queue = try DatabaseQueue(path: source, configuration: configuration(change))
        try queue.write { try $0.execute(sql: "CREATE TABLE note(text); INSERT INTO note VALUES ('kept')") }
        try queue.close()
    }

    private func day(_ number: Int) -> Date { Date(timeIntervalSince1970: 1_772_000_000 + Double(number) * 86_400) }

    private func read(_ path: String, _ encryption: Encryption = encryption()) throws -> String? {
        var configuration = Configuration()
        configuration.encryption = encryption
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.read { try String.fetchOne($0, sql: "SELECT text FROM note") }
    }

    private func names(_ path: String = "") throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: scratch.path("copies" + path)).sorted()
    }

    // MARK: - Making

    @Test("gets a folder for each backup, which opens as the database does and knows where it comes from")
    func make() throws {
        try makeSource()
        let before = try scratch.bytes("notes.db")
        let made = try backups.make(of: source, encryption: Self.encryption(), date: day(0))
        #expect(try names() == ["2026-02-25T061320Z"])
        #expect(try names("/2026-02-25T061320Z") == ["notes.db", "strongroom-backup", "strongroom-check"])
        #expect(try read(made.path) == "kept")
        #expect(made.source == DatabaseFile.realPath(source))
        #expect(made.isGood && made.isComplete && !made.hasForeignFiles && made.keySlotCount == 0)
        #expect(made.lastCheck?.outcome == .intact && made.lastCheck?.key == .current)
        #expect(try backups.backups() == [made])
        #expect(try scratch.bytes("notes.db") == before)
        #expect(try scratch.names() == ["copies", "notes.db"])
    }

    @Test(
        "keeps nothing of a backup that fails at any change of a file", .timeLimit(.minutes(5)),
        .enabled(if: strongroom_faults_operations() >= 0), arguments: [true, false])
    func failures(isLasting: Bool) async {
        // In a process of its own: all of its files fail.
        await #expect(processExitsWith: .success) { [isLasting = isLasting as Bool] in
            let folder = try DatabaseBackupsTests()
            try folder.makeSource()
            func make(_ day: Int) throws {
                try folder.backups.make(of: folder.source, encryption: Self.encryption(), date: folder.day(day))
            }
            strongroom_faults_fail_after(.max, false)
            try make(0)
            let count = strongroom_faults_operations()
            guard count > 10 else { exit(3) }
            for operation in Form.every(4, of: 0..<count, "failing changes of files in a backup") {
                strongroom_faults_fail_after(operation, isLasting)
                try? make(1)
                strongroom_faults_fail_after(-1, false)
                try make(2)
                guard try folder.names().allSatisfy({ $0.hasPrefix("2026-") }) else { exit(4) }
                for name in try folder.names() {
                    try FileManager.default.removeItem(atPath: folder.scratch.path("copies/" + name))
                }
            }
        }
    }

    @Test("is readable by its owner only, and so is each backup")
    func modes() throws {
        try makeSource()
        let made = try backups.make(of: source, encryption: Self.encryption())
        for path in [backups.folder, made.folder] {
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o700)
        }
    }

    @Test("keeps the salt and the key slots of a database with its copy")
    func sidecars() throws {
        try makeSource {
            $0.plaintextHeader = PlaintextHeader()
            $0.keySlots.creating = NewKeySlot(label: "owner", derivation: .scrypt(logN: 14, r: 8, p: 1))
        }
        var encryption = Self.encryption()
        encryption.plaintextHeader = PlaintextHeader()
        let made = try backups.make(of: source, encryption: encryption, date: day(0))
        #expect(
            try names("/2026-02-25T061320Z")
                == ["notes.db", "notes.db-keys", "notes.db-salt", "strongroom-backup", "strongroom-check"])
        #expect(made.keySlotCount == 1 && made.plaintextHeaderSize == 32)
        #expect(try read(made.path, encryption) == "kept")
        #expect(try backups.key(opening: made, among: .init(current: Self.encryption())) == .current)
    }

    @Test("takes a backup of an open database, in the middle of its writes")
    func reader() async throws {
        try makeSource()
        let pool = try DatabasePool(path: source, configuration: configuration())
        try await pool.write { try $0.execute(sql: "UPDATE note SET text = 'newer'") }
        let made = try await backups.make(of: pool)
        #expect(try read(made.path) == "newer")
        #expect(made.source == DatabaseFile.realPath(source))
    }

    @Test("gets two backups of the same second as two")
    func sameSecond() throws {
        try makeSource()
        for _ in 1...2 { try backups.make(of: source, encryption: Self.encryption(), date: day(0)) }
        #expect(try names() == ["2026-02-25T061320Z", "2026-02-25T061320Z-2"])
        #expect(
            try backups.backups().map { NamedFile.name(of: $0.folder) } == [
                "2026-02-25T061320Z-2", "2026-02-25T061320Z",
            ])
    }

    @Test("derives the key of the copy once")
    func derivations() throws {
        try makeSource()
        let queue = try DatabaseQueue(path: source, configuration: configuration())
        let before = strongroom_faults_pbkdf2_rounds()
        _ = try backups.make(of: queue)
        // The provider is called with two rounds for the keys of HMACs.
        #expect((strongroom_faults_pbkdf2_rounds() - before) / 1000 == 1)
    }

    @Test("stops when its task is cancelled, and leaves nothing")
    func cancellation() async throws {
        try makeSource()
        let backups = backups, source = source
        let task = Task {
            try await backups.make(of: source, encryption: Self.encryption()) { _ in
                throw CancellationError()
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try names() == [])
        let begun = Mutex(false)
        let other = Task {
            try await backups.make(of: source, encryption: Self.encryption()) { _ in
                begun.withLock { $0 = true }
                usleep(1000)
            }
        }
        while !begun.withLock({ $0 }) { await Task.yield() }
        other.cancel()
        await #expect(throws: CancellationError.self) { try await other.value }
        #expect(try names() == [])
    }

    @Test("does not keep the copy of a database that was replaced meanwhile")
    func replaced() throws {
        try makeSource()
        try scratch.copy("notes.db", to: "other.db")
        var isReplaced = false
        let error = #expect(throws: DatabaseError.self) {
            try backups.make(of: source, encryption: Self.encryption()) { _ in
                if !isReplaced { _ = rename(scratch.path("other.db"), source) }
                isReplaced = true
            }
        }
        #expect(error?.reason == .fileGone && error?.resultCode == .SQLITE_BUSY)
        #expect(try names() == [])
    }

    @Test("refuses a database in clear text, and one whose name is that of a record")
    func refusals() throws {
        let queue = try DatabaseQueue(path: source)
        #expect(throws: DatabaseError.self) { try backups.make(of: queue) }
        let named = scratch.path("strongroom-backup")
        try DatabaseQueue(path: named, configuration: configuration()).write {
            try $0.execute(sql: "CREATE TABLE t(a)")
        }
        #expect(throws: DatabaseError.self) { try backups.make(of: named, encryption: Self.encryption()) }
        #expect(throws: DatabaseError.self) {
            try DatabaseBackups(folder: scratch.path("none/copies")).make(of: named, encryption: Self.encryption())
        }
        #expect(try names() == [])
    }

    // MARK: - Forgetting

    @Test("forgets by its rule, and for each database separately")
    func forget() throws {
        try makeSource()
        try scratch.copy("notes.db", to: "other.db")
        for number in 0..<5 { try backups.make(of: source, encryption: Self.encryption(), date: day(number)) }
        try backups.make(of: scratch.path("other.db"), encryption: Self.encryption(), date: day(0))
        let rule = try #require(BackupRetention("2d"))
        #expect(try backups.forget(keeping: rule, isDryRun: true).removed.count == 3)
        #expect(try backups.backups().count == 6)
        let outcome = try backups.forget(keeping: rule, of: source)
        #expect(outcome.removed.map(\.date) == [day(2), day(1), day(0)])
        #expect(outcome.kept.map(\.date) == [day(4), day(3)])
        #expect(try backups.backups().map(\.date) == [day(4), day(3), day(0)])
        #expect(try names().count == 3)
    }

    @Test("never forgets the newest good backup, nor counts a damaged one")
    func lastGood() throws {
        try makeSource()
        for number in 0..<3 { try backups.make(of: source, encryption: Self.encryption(), date: day(number)) }
        for backup in try backups.backups().prefix(2) {
            var bytes = try Data(contentsOf: URL(fileURLWithPath: backup.path))
            bytes[5000] ^= 1
            try bytes.write(to: URL(fileURLWithPath: backup.path))
            #expect(try backups.check(backup, keys: .init(current: Self.encryption())).outcome == .damaged)
        }
        let outcome = try backups.forget(keeping: try #require(BackupRetention("1")))
        #expect(outcome.kept.map(\.date) == [day(2), day(0)])
        #expect(try backups.backups().map(\.isGood) == [false, true])
    }

    @Test("leaves files of others, and a backup that contains one")
    func foreignFiles() throws {
        try makeSource()
        for number in 0..<3 { try backups.make(of: source, encryption: Self.encryption(), date: day(number)) }
        try scratch.write(Data(), to: "copies/README")
        try FileManager.default.createDirectory(
            atPath: scratch.path("copies/2026-01-01T000000Z"), withIntermediateDirectories: false)
        let oldest = try #require(try backups.backups().last)
        try scratch.write(Data(), to: "copies/\(NamedFile.name(of: oldest.folder))/mine")
        try backups.forget(keeping: try #require(BackupRetention("1")))
        #expect(try backups.backups().map(\.date) == [day(2), day(0)])
        #expect(try backups.foreignNames() == ["2026-01-01T000000Z", "README"])
    }

    // MARK: - Checking

    @Test("tells which key opens a backup: the current one, a former one, or none")
    func keys() throws {
        try makeSource()
        let old = try backups.make(of: source, encryption: Self.encryption(), date: day(0))
        let queue = try DatabaseQueue(path: source, configuration: configuration())
        try queue.rotateKey(to: .passphrase("a better one"))
        try queue.close()
        let new = try backups.make(of: source, encryption: Self.encryption("a better one"), date: day(1))
        let keys = BackupCheck.Keys(current: Self.encryption("a better one"), former: [Self.encryption()])
        #expect(try backups.key(opening: new, among: keys) == .current)
        #expect(try backups.key(opening: old, among: keys) == .former)
        #expect(try backups.check(old, keys: keys).key == .former)
        let few = BackupCheck.Keys(current: Self.encryption("a better one"))
        #expect(try backups.key(opening: old, among: few) == .unrecognized)
        let check = try backups.check(old, keys: few)
        #expect(check.key == .unrecognized && check.outcome == .intact)
        #expect(try backups.backups(of: source).map { $0.lastCheck?.key } == [.current, .unrecognized])
    }

    @Test("finds damage with the key and without it, in a database, a salt and a key file", arguments: [true, false])
    func damage(hasKey: Bool) async throws {
        try makeSource {
            $0.plaintextHeader = PlaintextHeader()
            $0.keySlots.creating = NewKeySlot(label: "owner", derivation: .scrypt(logN: 14, r: 8, p: 1))
        }
        let backup = try await backups.make(of: source, encryption: Self.encryption())
        let keys = hasKey ? BackupCheck.Keys(current: Self.encryption()) : nil
        #expect(try await backups.check(backup, keys: keys).outcome == .intact)
        for (ending, offset) in [("", 4096), ("-salt", 30), ("-keys", 40)] {
            let file = URL(fileURLWithPath: backup.path + ending), whole = try Data(contentsOf: file)
            var bytes = whole
            bytes[offset] ^= 1
            try bytes.write(to: file)
            let check = try await backups.check(backup, keys: keys)
            #expect(check.outcome == .damaged && check.problems.count == 1, "\(ending): \(check)")
            #expect(try backups.backups()[0].isGood == false)
            try whole.write(to: file)
        }
        #expect(try await backups.check(backup, keys: keys).outcome == .intact)
        try FileManager.default.removeItem(atPath: backup.path + "-keys")
        #expect(try backups.backups()[0].isComplete == false)
    }

    // MARK: - Records

    @Test("has records that are read as they were written, with any path")
    func records() throws {
        try makeSource()
        let backup = try backups.make(of: source, encryption: Self.encryption())
        #expect(BackupRecord(text: backup.record.text) == backup.record)
        for source in ["/a b/c\nd\\n", "/é/\\", ""] {
            let record = BackupRecord(
                source: source, settings: .sqlcipher1, headerSize: 32, slotCount: 3, files: backup.record.files)
            #expect(BackupRecord(text: record.text) == record)
        }
    }

    @Test(
        "takes no record that is cut off, or names a file elsewhere",
        arguments: ["../notes.db", "", ".", "a/b", "strongroom-check", "notes.db-wal"])
    func otherRecords(name: String) throws {
        let file = BackupRecord.File(name: "notes.db", size: 1, digest: String(repeating: "0", count: 64))
        var other = file
        other.name = name
        let whole = BackupRecord(
            source: "/s", settings: .sqlcipher4, headerSize: 0, slotCount: 0, files: [other, file])
        #expect(BackupRecord(text: whole.text) == nil)
        let last = BackupRecord(source: "/s", settings: .sqlcipher4, headerSize: 0, slotCount: 0, files: [other])
        #expect((BackupRecord(text: last.text) == nil) == (name != "notes.db-wal"))
        let good = BackupRecord(source: "/s", settings: .sqlcipher4, headerSize: 0, slotCount: 0, files: [file])
        for count in 0..<good.text.count { #expect(BackupRecord(text: Array(good.text.prefix(count))) == nil) }
    }
}
