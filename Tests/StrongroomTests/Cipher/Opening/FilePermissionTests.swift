import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("The permissions of new files")
struct FilePermissionTests {
    private let folder: TemporaryFolder
    private let path: String

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("db.sqlite")
    }

    private func modes(
        _ configuration: Configuration, _ body: (DatabasePool) throws -> Void = { _ in }
    ) throws -> Set<Int> {
        let pool = try DatabasePool(path: path, configuration: configuration)
        try pool.write { try $0.execute(sql: "CREATE TABLE t(a)") }
        try body(pool)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(names.contains("db.sqlite-wal") && names.contains("db.sqlite-shm"))
        return try Set(names.map { try mode(folder.path($0)) })
    }

    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    @Test(
        "are those of the configuration, for the log and the sidecars, too",
        arguments: [nil, 0o640, 0o666] as [UInt16?])
    func chosen(permissions: UInt16?) throws {
        var configuration = Configuration.slots("first", creating: true)
        configuration.encryption?.plaintextHeader = PlaintextHeader()
        if let permissions { configuration.posixPermissions = permissions }
        let modes = try modes(configuration) { _ = try $0.keySlots().addRecoveryCode() }
        #expect(modes == [Int(permissions ?? 0o600)])
        #expect(FileManager.default.fileExists(atPath: path + "-keys"))
        #expect(FileManager.default.fileExists(atPath: path + "-salt"))
    }

    @Test("are the same where the program sets its key itself")
    func preparedKey() throws {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase("first") }
        #expect(try modes(configuration) == [0o600])
    }

    @Test("are the same where the database is attached")
    func attached() throws {
        var configuration = Configuration.slots("first")
        configuration.posixPermissions = 0o640
        let queue = try DatabaseQueue(path: path, configuration: configuration), other = folder.path("other")
        try queue.inDatabase { db in
            try db.attach(path: other, as: "other", encryption: Encryption(key: .passphrase("second")))
            try db.execute(sql: "CREATE TABLE other.t(a)")
        }
        #expect(try mode(other) == 0o640)
    }

    @Test("stay those of a file that exists, and follow the umask in clear text")
    func existing() throws {
        try Data().write(to: URL(fileURLWithPath: path))
        try #require(chmod(path, 0o644) == 0)
        #expect(try modes(.slots("first")) == [0o644])
        let clear = folder.path("clear"), made = folder.path("made")
        try DatabaseQueue(path: clear).write { try $0.execute(sql: "CREATE TABLE t(a)") }
        let descriptor = open(made, O_CREAT | O_WRONLY, 0o644)
        close(descriptor)
        #expect(try mode(clear) == mode(made))
    }
}
