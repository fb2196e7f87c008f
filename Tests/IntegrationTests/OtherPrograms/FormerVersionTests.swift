import Foundation
import Strongroom
import TestSupport
import Testing

/// `Tests/Files/0.1.0`, which the program and the library of e5e335fd wrote: 40 rows in each database.
///
/// The passphrase is "correct horse", and "battery staple" after a rotation or in a second slot. Rotations were killed
/// in front of a `fdatasync`: the sixth, before the commit of the new pages, and the ninth, after it.
@Suite("The files of version 0.1.0")
struct FormerVersionTests {
    struct Made: CustomTestStringConvertible {
        let folder: String
        /// The passphrases that open the database. None if the key is in a store.
        var passphrases = ["correct horse"]
        /// Those that do not.
        var wrong = ["battery staple"]

        var testDescription: String { folder }
    }

    private static let former = ["correct horse"], new = ["battery staple"]

    private static let made = [
        Made(folder: "passphrase"), Made(folder: "header"), Made(folder: "log"),
        Made(folder: "slots", passphrases: former + new, wrong: ["neither"]),
        Made(folder: "store", passphrases: []), Made(folder: "store-rotating", passphrases: []),
        Made(folder: "passphrase-rotating"), Made(folder: "passphrase-rotated", passphrases: new, wrong: former),
        Made(folder: "header-rotating"), Made(folder: "header-rotated", passphrases: new, wrong: former),
        Made(folder: "slots-rotating", passphrases: former + new, wrong: ["neither"]),
        Made(folder: "slots-rotated", passphrases: former + new, wrong: ["neither"]),
    ]

    /// The path of the database in a copy of the folder, readable by its owner only.
    private func copy(_ made: Made, into scratch: TemporaryFolder) throws -> String {
        let source = Program.packageFolder.appendingPathComponent("Tests/Files/0.1.0/\(made.folder)").path
        for name in try FileManager.default.contentsOfDirectory(atPath: source) {
            try FileManager.default.copyItem(atPath: source + "/" + name, toPath: scratch.path(name))
            try #require(chmod(scratch.path(name), 0o600) == 0)
        }
        return scratch.path("notes.db")
    }

    private func configuration(_ key: DatabaseKey) -> Configuration {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: key)
        return configuration
    }

    private func keys(_ made: Made, _ scratch: TemporaryFolder) -> [DatabaseKey] {
        made.passphrases.isEmpty
            ? [.managed(by: FileKeyStore(path: scratch.path("keys")))]
            : made.passphrases.map { .passphrase($0) }
    }

    private func rows(_ path: String, _ key: DatabaseKey, adding: Bool = false) throws -> [String] {
        let pool = try DatabasePool(path: path, configuration: configuration(key))
        if adding { try pool.write { try $0.execute(sql: "INSERT INTO note (text) VALUES ('added')") } }
        let rows = try pool.read { try String.fetchAll($0, sql: "SELECT text FROM note ORDER BY id") }
        #expect(try pool.checkIntegrity().isIntact)
        try pool.close()
        return rows
    }

    @Test("open with each of their keys, can be written, and open again", arguments: made)
    func opens(made: Made) throws {
        for index in 0..<max(1, made.passphrases.count) {
            let scratch = try TemporaryFolder(), path = try copy(made, into: scratch)
            let key = keys(made, scratch)[index], expected = (1...40).map { "note \($0)" }
            #expect(try rows(path, key) == expected)
            #expect(try rows(path, key, adding: true) == expected + ["added"])
            #expect(try rows(path, key) == expected + ["added"])
        }
    }

    @Test(
        "refuse other keys as wrong, and open with theirs afterwards",
        arguments: made.filter { !$0.passphrases.isEmpty })
    func refuses(made: Made) throws {
        let scratch = try TemporaryFolder(), path = try copy(made, into: scratch)
        for passphrase in made.wrong {
            let error = #expect(throws: DatabaseError.self) { try rows(path, .passphrase(passphrase)) }
            #expect(error?.reason == .wrongKey, "\(String(describing: error))")
        }
        #expect(try rows(path, .passphrase(made.passphrases[0])).count == 40)
    }

    @Test("are rotated to another key", arguments: made)
    func rotates(made: Made) throws {
        let scratch = try TemporaryFolder(), path = try copy(made, into: scratch)
        let pool = try DatabasePool(path: path, configuration: configuration(keys(made, scratch)[0]))
        if made.folder.hasPrefix("slots") {
            try pool.keySlots().change("second", to: .passphrase("third"))
        } else {
            _ = try pool.rotateKey(to: .passphrase("third"))
        }
        try pool.close()
        #expect(try rows(path, .passphrase("third")).count == 40)
    }
}
