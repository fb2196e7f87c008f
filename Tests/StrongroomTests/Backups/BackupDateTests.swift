import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("Backups of a clock that was wrong, and of names that look the same")
struct BackupDateTests {
    private let scratch: TemporaryFolder
    private let encryption = Encryption(
        key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000))
    private var backups: DatabaseBackups { DatabaseBackups(folder: scratch.path("copies")) }

    init() throws { scratch = try TemporaryFolder() }

    private func makeSource(_ name: String) throws -> String {
        var configuration = Configuration()
        configuration.encryption = encryption
        let queue = try DatabaseQueue(path: scratch.path(name), configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE note(text); INSERT INTO note VALUES ('kept')") }
        try queue.close()
        return scratch.path(name)
    }

    private func make(_ source: String, daysFromNow days: Double) throws -> DatabaseBackup {
        try backups.make(of: source, encryption: encryption, date: Date().addingTimeInterval(days * 86_400))
    }

    @Test("forget no copy of today in favor of one that is dated in the future, which stays", arguments: ["1", "1d"])
    func future(rule: String) throws {
        let source = try makeSource("notes.db")
        let future = try make(source, daysFromNow: 400), old = try make(source, daysFromNow: -3)
        let made = try make(source, daysFromNow: 0)
        let outcome = try backups.forget(keeping: try #require(BackupRetention(rule)))
        #expect(outcome.removed == [old])
        #expect(outcome.kept == [future, made])
    }

    /// Two names that look alike: a letter with its mark, and a letter before its mark.
    private static let composed = "not\u{E9}s.db", decomposed = "note\u{301}s.db"

    @Test("belong to the database with the same bytes as name")
    func normalization() throws {
        let sources = try [Self.composed, Self.decomposed].map(makeSource)
        let made = try sources.enumerated().map { try make($1, daysFromNow: Double($0) - 9) }
        #expect(try sources.map { try backups.backups(of: $0) } == made.map { [$0] })
        #expect(try backups.forget(keeping: try #require(BackupRetention("1"))).removed == [])
        #expect(try backups.backups().count == 2)
    }

    @Test("contain foreign files that only look like their own")
    func foreignNames() throws {
        let made = try make(makeSource(Self.composed), daysFromNow: -9)
        try scratch.write(Data(), to: "copies/\(NamedFile.name(of: made.folder))/\(Self.decomposed)")
        #expect(try backups.backups().map(\.hasForeignFiles) == [true])
    }

    @Test(
        "have records that are read by their bytes",
        arguments: ["/a/\u{301}b", "\u{301}", "/a\r", "/a\n\u{301}b", "/a\r\nb", "/a\\\u{301}", "\r"])
    func records(source: String) throws {
        let file = BackupRecord.File(
            name: source.replacingOccurrences(of: "/", with: "", options: .literal), size: 1,
            digest: String(repeating: "0", count: 64))
        let record = BackupRecord(
            source: source, settings: .sqlcipher4, headerSize: 0, slotCount: 0, files: [file])
        let found = try #require(BackupRecord(text: record.text))
        #expect(found.source.utf8.elementsEqual(source.utf8) && found.text == record.text)
    }

    @Test("have no record with a name that leads out of the folder, whatever follows the slash")
    func leadingOut() {
        let file = BackupRecord.File(name: "../\u{301}x", size: 1, digest: String(repeating: "0", count: 64))
        let record = BackupRecord(source: "/s", settings: .sqlcipher4, headerSize: 0, slotCount: 0, files: [file])
        #expect(BackupRecord(text: record.text) == nil)
    }

    @Test("are not called damaged because their key can't be read")
    func absentKey() throws {
        let made = try make(makeSource("notes.db"), daysFromNow: -1)
        let keys = BackupCheck.Keys(current: Encryption(key: .passphrase(contentsOf: scratch.path("none"))))
        #expect(throws: DatabaseError.self) { try backups.check(made, keys: keys) }
        #expect(try backups.backups().map(\.isGood) == [true])
    }

    @Test("that have lost a file are damaged, with their key and without it", arguments: [true, false])
    func incomplete(hasKey: Bool) throws {
        let made = try make(makeSource("notes.db"), daysFromNow: -1)
        try FileManager.default.removeItem(atPath: made.path)
        let keys = hasKey ? BackupCheck.Keys(current: encryption) : nil
        let check = try backups.check(made, keys: keys)
        #expect(check.outcome == .damaged && check.problems.count == 1 && check.problems[0].contains("notes.db"))
    }
}
