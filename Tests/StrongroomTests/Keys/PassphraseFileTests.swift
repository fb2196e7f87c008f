import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("A passphrase in a file")
struct PassphraseFileTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// Writes the file, and makes sure that the process owns it.
    private func file(_ text: String, mode: Int = 0o600) throws -> String {
        let path = folder.path("key")
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        return path
    }

    private func open(_ key: DatabaseKey, readonly: Bool = false) throws {
        var configuration = Configuration()
        configuration.readonly = readonly
        configuration.encryption = Encryption(key: key, settings: CipherSettings(kdfIterations: 1000))
        let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration)
        if !readonly { try queue.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t(a)") } }
        try queue.close()
    }

    @Test("opens the database of that text, with or without a newline at its end", arguments: ["", "\n", "\r\n"])
    func newline(end: String) throws {
        try open(.passphrase("two words"))
        try open(.passphrase(contentsOf: file("two words" + end)))
    }

    @Test("keeps all but one newline")
    func newlines() throws {
        try open(.passphrase("two\nlines\n"))
        try open(.passphrase(contentsOf: file("two\nlines\n\n")))
    }

    @Test("may spell a raw key")
    func rawKey() throws {
        let spelled = "x'" + String(repeating: "0f", count: 32) + "'"
        try open(.rawKey([UInt8](repeating: 15, count: 32)))
        try open(.passphrase(contentsOf: file(spelled + "\n")))
        try open(.passphrase(from: { spelled }))
    }

    @Test(
        "that others may read is refused",
        arguments: [
            (0o640, DatabaseKey.Readers.owner), (0o604, .owner), (0o644, .group), (0o620, .group), (0o666, .everyone),
        ])
    func permissions(mode: Int, readers: DatabaseKey.Readers) throws {
        let path = try file("open sesame", mode: mode)
        let error = #expect(throws: DatabaseError.self) { try open(.passphrase(contentsOf: path, readableBy: readers)) }
        #expect(error?.resultCode == .SQLITE_PERM)
        #expect(error?.recoverySuggestion?.contains("chmod") == true)
    }

    @Test(
        "that others may read is accepted on request",
        arguments: [(0o640, DatabaseKey.Readers.group), (0o444, .everyone)])
    func requestedPermissions(mode: Int, readers: DatabaseKey.Readers) throws {
        try open(.passphrase(contentsOf: file("open sesame", mode: mode), readableBy: readers))
    }

    @Test("that is absent, a folder, a FIFO, empty or endless is refused immediately")
    func unfit() throws {
        func code(_ path: String) -> ResultCode? {
            #expect(throws: DatabaseError.self) { try open(.passphrase(contentsOf: path)) }?.resultCode
        }
        #expect(code(folder.path("nothing")) == .SQLITE_CANTOPEN)
        #expect(code(folder.path) == .SQLITE_MISUSE)
        #expect(mkfifo(folder.path("fifo"), 0o600) == 0)
        #expect(code(folder.path("fifo")) == .SQLITE_MISUSE)
        #expect(code("/dev/zero") == .SQLITE_MISUSE)
        #expect(try code(file("\n")) == .SQLITE_MISUSE)
        #expect(try code(file(String(repeating: "x", count: 65_537))) == .SQLITE_MISUSE)
    }

    @Test("that is absent is an error of the opening")
    func absentForReaders() throws {
        try open(.passphrase(contentsOf: file("open sesame")))
        let error = #expect(throws: DatabaseError.self) {
            try open(.passphrase(contentsOf: folder.path("nothing")), readonly: true)
        }
        #expect(error?.message?.contains(folder.path("nothing")) == true)
    }

    @Test("is read at each opening")
    func changes() throws {
        let path = try file("first"), key = DatabaseKey.passphrase(contentsOf: path)
        try open(key)
        _ = try file("second")
        let error = #expect(throws: DatabaseError.self) { try open(key) }
        #expect(error?.isWrongKeyError == true)
    }
}
