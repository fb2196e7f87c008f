import Foundation
import Strongroom
import TestSupport
import Testing

/// Programs decide on the reason of an error, never on its sentences.
@Suite("The reason of an error")
struct ErrorReasonTests {
    private static func raw(_ key: [UInt8], salt: [UInt8]? = nil) throws -> Configuration {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: try .rawKey(key, salt: salt))
        return configuration
    }

    private func opening(_ path: String, _ configuration: Configuration) -> DatabaseError? {
        #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: configuration) }
    }

    @Test("distinguishes a wrong salt from a wrong key if the key is raw")
    func wrongSalt() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let key = [UInt8](1...32), salt = [UInt8](1...16)
        try DatabaseQueue(path: path, configuration: Self.raw(key, salt: salt)).write {
            try $0.execute(sql: "CREATE TABLE t(a)")
        }
        let wrongSalt = try opening(path, Self.raw(key, salt: salt.reversed()))
        #expect(wrongSalt?.reason == .wrongSalt)
        #expect(wrongSalt?.isWrongKeyError == false)
        let wrongKey = try opening(path, Self.raw(key.reversed(), salt: salt))
        #expect(wrongKey?.reason == .wrongKey)
        #expect(wrongKey?.isWrongKeyError == true)
    }

    @Test("does not come from the words of a path")
    func wordsInPath() throws {
        let folder = try TemporaryFolder(),
            path = folder.path("the salt of x has the SQLCipher 3 format (another key won't help)")
        try DatabaseQueue(path: path, configuration: .encrypted()).write { try $0.execute(sql: "CREATE TABLE t(a)") }
        let error = opening(path, .encrypted(passphrase: "wrong"))
        #expect(error?.reason == .wrongKey)
        #expect(error?.isWrongKeyError == true)
        #expect(error?.formatVersion == nil)
    }

    @Test("of a newer format than the settings say is that, with the version")
    func newerFormat() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        _ = try stockShell(path, key: "secret", setUp: "", "CREATE TABLE t(a);")
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .passphrase("secret"), settings: .sqlcipher3)
        let error = opening(path, configuration)
        #expect(error?.reason == .newerFormat)
        #expect(error?.formatVersion == 4)
        #expect(error?.isWrongKeyError == false)
    }

    @Test("can be switched over, with a default for reasons to come")
    func pattern() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE t(a)") }
        let isClear =
            switch opening(path, .encrypted())?.reason {
            case .notEncrypted: true
            default: false
            }
        #expect(isClear)
    }

    @Test("is followed by the event and the remedy in the description, while the message is SQLite's")
    func description() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try DatabaseQueue(path: path).write { try $0.execute(sql: "CREATE TABLE t(a)") }
        let error = try #require(opening(path, .encrypted()))
        #expect(error.message == "file is not a database")
        let advice = try #require(error.recoverySuggestion), happened = try #require(error.failureReason)
        #expect(error.description == "SQLite error 26: file is not a database - \(happened): \(advice)")
        #expect(error.localizedDescription == error.description)
        #expect((error as NSError).localizedRecoverySuggestion == advice)
    }

    @Test("is set for interruptions, damage and closed connections, and nil if the code is sufficient")
    func others() throws {
        #expect(DatabaseError(resultCode: .SQLITE_INTERRUPT).reason == .interrupted)
        #expect(DatabaseError(resultCode: .SQLITE_CORRUPT_VTAB).reason == .damaged)
        #expect(DatabaseError(resultCode: .SQLITE_BUSY).reason == nil)
        let queue = try DatabaseQueue(configuration: .encrypted())
        try queue.close()
        let closed = #expect(throws: DatabaseError.self) { try queue.read { _ in } }
        #expect(closed?.reason == .closed)
        #expect(closed?.isConnectionUsable == false)
    }

    @Test("of a suspended database is that, statement and message included")
    func suspended() throws {
        try withEncryptedQueue { queue in
            try queue.write { try $0.execute(sql: "CREATE TABLE t(a)") }
            queue.suspend()
            let error = #expect(throws: DatabaseError.self) {
                try queue.inDatabase { try $0.execute(sql: "INSERT INTO t VALUES (1)") }
            }
            queue.resume()
            #expect(error?.reason == .suspended)
            #expect(error?.message == "Database is suspended")
            #expect(error?.sql == "INSERT INTO t VALUES (1)")
        }
    }
}
