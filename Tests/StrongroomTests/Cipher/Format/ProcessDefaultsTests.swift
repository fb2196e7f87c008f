import CSQLCipher
import CStrongroom
import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Invariant 14: the format is said, never inherited. SQLCipher's defaults belong to the process, so each test has one
/// of its own.
@Suite("SQLCipher's defaults of the process")
struct ProcessDefaultsTests {
    /// The pragmas of other code in the process, on a connection of its own.
    private static let foreign = [
        "cipher_default_plaintext_header_size = 32", "cipher_default_compatibility = 3",
        "cipher_default_compatibility = 1",
        "cipher_default_use_hmac = OFF", "cipher_default_page_size = 8192", "cipher_default_page_size = 7",
        "cipher_default_kdf_iter = 1",
        "cipher_default_kdf_algorithm = PBKDF2_HMAC_SHA1", "cipher_default_hmac_algorithm = HMAC_SHA1",
        "cipher_hmac_salt_mask = \"x'00'\"",
    ]

    private static let back = """
        PRAGMA cipher_default_compatibility = 4; PRAGMA cipher_default_plaintext_header_size = 0; \
        PRAGMA cipher_hmac_salt_mask = "x'3a'"
        """

    /// Other code in C, with a database of its own; the mask can be said with a key only.
    private final class OtherCode {
        private var db: OpaquePointer?

        init() {
            precondition(sqlite3_open(":memory:", &db) == SQLITE_OK && sqlite3_key(db, "k", 1) == SQLITE_OK)
        }

        func say(_ sql: String) {
            precondition(sqlite3_exec(db, sql, nil, nil, nil) == SQLITE_OK)
        }

        func answer(_ pragma: String) -> String? {
            var statement: OpaquePointer?
            defer { sqlite3_finalize(statement) }
            guard sqlite3_prepare_v2(db, "PRAGMA " + pragma, -1, &statement, nil) == SQLITE_OK,
                sqlite3_step(statement) == SQLITE_ROW
            else { return nil }
            return sqlite3_column_text(statement, 0).map { String(cString: $0) }
        }
    }

    private static let content = "CREATE TABLE t(a); INSERT INTO t VALUES (7)"

    @Test("don't reach main databases, attached ones, copies, backups and rotations")
    func everywhere() async {
        await #expect(processExitsWith: .success) {
            let other = OtherCode()
            for foreign in ProcessDefaultsTests.foreign {
                let folder = try TemporaryFolder()
                other.say("PRAGMA " + foreign)
                let queue = try DatabaseQueue(path: folder.path("main"), configuration: configured())
                let target = try DatabaseQueue(path: folder.path("backup"), configuration: configured())
                try queue.write { try $0.execute(sql: ProcessDefaultsTests.content) }
                try queue.writeWithoutTransaction { db throws in
                    try db.attach(path: folder.path("attached"), as: "a", encryption: configured().encryption)
                    try db.execute(sql: "CREATE TABLE a.t AS SELECT 7 AS a")
                    try db.execute(sql: "DETACH a; VACUUM")
                    try db.execute(sql: "VACUUM INTO ?", arguments: [folder.path("statement")])
                }
                try queue.vacuum(into: folder.path("vacuumed"))
                try queue.backup(to: target)
                try queue.vacuum(into: folder.path("copy"), encryption: configured().encryption)
                let rotated = try DatabaseQueue(path: folder.path("copy"), configuration: configured())
                try rotated.rotateKey(to: .passphrase("new"))
                for queue in [queue, target, rotated] { try queue.close() }
                other.say(ProcessDefaultsTests.back)
                for name in ["main", "attached", "backup", "statement", "vacuumed", "copy"] {
                    let key = name == "copy" ? "new" : "correct horse"
                    let rows = try stockShell(
                        folder.path(name), key: key, "SELECT a FROM t; PRAGMA cipher_integrity_check;")
                    guard rows == ["7"] else { fatalError("\(foreign): \(name) answers \(rows)") }
                }
            }
        }
    }

    @Test("are replaced by SQLCipher 4's, or opening fails at any allocation, and are restored afterwards")
    func outOfMemory() async {
        // The allocator must be there before SQLite is used for the first time.
        await #expect(processExitsWith: .success) {
            guard strongroom_faults_install_allocator() == SQLITE_OK else { exit(9) }
            let other = OtherCode()
            other.say("PRAGMA cipher_hmac_salt_mask = \"x'00'\"")
            var allocation: Int64 = 0, failures = 0, isRefused = true
            while isRefused {
                let refusals = strongroom_faults_refusals()
                strongroom_faults_refuse_memory(allocation, 1, false)
                let isHeld = strongroom_defaults_hold() == SQLITE_OK
                strongroom_faults_refuse_memory(-1, 0, false)
                isRefused = strongroom_faults_refusals() > refusals
                guard other.answer("cipher_hmac_salt_mask") == (isHeld ? "3a" : "00") else { exit(8) }
                if isHeld { strongroom_defaults_release() } else { failures += 1 }
                guard other.answer("cipher_hmac_salt_mask") == "00" else { exit(7) }
                allocation += 1
            }
            guard failures > 0 else { exit(6) }
        }
    }

    @Test("don't reach databases that SQL attaches")
    func attachedBySQL() async {
        await #expect(processExitsWith: .success) {
            let other = OtherCode()
            for foreign in ProcessDefaultsTests.foreign where !foreign.contains("kdf_iter") {
                let folder = try TemporaryFolder()
                let queue = try DatabaseQueue(path: folder.path("main"), configuration: configured())
                other.say("PRAGMA " + foreign)
                try queue.writeWithoutTransaction { db throws in
                    try db.execute(sql: "ATTACH ? AS a KEY 'correct horse'", arguments: [folder.path("attached")])
                    // Between the key and the first page.
                    other.say(ProcessDefaultsTests.back)
                    other.say("PRAGMA " + foreign)
                    try db.execute(sql: "CREATE TABLE a.t AS SELECT 7 AS a; DETACH a")
                }
                other.say(ProcessDefaultsTests.back)
                let rows = try stockShell(
                    folder.path("attached"), setUp: "", "SELECT a FROM t; PRAGMA cipher_integrity_check;")
                guard rows == ["7"] else { fatalError("\(foreign): \(rows)") }
            }
        }
    }

    @Test("don't reach a database that was opened before them and written after")
    func openBefore() async {
        await #expect(processExitsWith: .success) {
            let other = OtherCode()
            for foreign in ProcessDefaultsTests.foreign {
                let folder = try TemporaryFolder()
                let queue = try DatabaseQueue(path: folder.path("db"), configuration: configured())
                other.say("PRAGMA " + foreign)
                try queue.write { try $0.execute(sql: ProcessDefaultsTests.content) }
                try queue.close()
                other.say(ProcessDefaultsTests.back)
                let rows = try stockShell(folder.path("db"), "SELECT a FROM t; PRAGMA cipher_integrity_check;")
                guard rows == ["7"] else { fatalError("\(foreign): \(rows)") }
            }
        }
    }

    @Test("don't reach databases in other formats, in memory and in temporary files")
    func formats() async {
        await #expect(processExitsWith: .success) {
            let other = OtherCode()
            for foreign in ProcessDefaultsTests.foreign {
                let folder = try TemporaryFolder()
                for (index, settings) in [
                    CipherSettings.sqlcipher3, .sqlcipher1,
                    CipherSettings(pageSize: 16384, kdfIterations: 10, kdfAlgorithm: .sha256, hmacAlgorithm: .sha256),
                ].enumerated() {
                    other.say("PRAGMA " + foreign)
                    for path in [folder.path("\(index)"), ":memory:", ""] {
                        let queue = try DatabaseQueue(path: path, configuration: configured("key", settings))
                        try queue.write { try $0.execute(sql: ProcessDefaultsTests.content) }
                        let answers = try queue.read { db in
                            try ["kdf_iter", "cipher_page_size", "cipher_use_hmac"].map {
                                try Int.fetchOne(db, sql: "PRAGMA " + $0)
                            }
                        }
                        guard
                            answers == [
                                settings.kdfIterations, settings.pageSize, settings.hmacAlgorithm == nil ? 0 : 1,
                            ]
                        else { fatalError("\(foreign): \(answers)") }
                        try queue.close()
                    }
                    other.say(ProcessDefaultsTests.back)
                    let queue = try DatabaseQueue(
                        path: folder.path("\(index)"), configuration: configured("key", settings))
                    guard try queue.checkIntegrity().isIntact else { fatalError("\(foreign), \(settings)") }
                }
            }
        }
    }

    @Test("are as other code left them")
    func untouched() async {
        await #expect(processExitsWith: .success) {
            let other = OtherCode()
            let names = [
                "cipher_default_page_size", "cipher_default_kdf_iter", "cipher_default_plaintext_header_size",
                "cipher_hmac_salt_mask",
            ]
            other.say(
                """
                PRAGMA cipher_default_compatibility = 3; PRAGMA cipher_default_plaintext_header_size = 48; \
                PRAGMA cipher_hmac_salt_mask = "x'11'"
                """
            )
            let before = names.map { other.answer($0) }
            precondition(before == ["1024", "64000", "48", "11"])
            let folder = try TemporaryFolder()
            let queue = try DatabaseQueue(path: folder.path("db"), configuration: configured())
            try queue.write { try $0.execute(sql: ProcessDefaultsTests.content) }
            guard names.map({ other.answer($0) }) == before else { fatalError("\(names.map { other.answer($0) })") }
        }
    }

    @Test(
        "can't be said through a connection of ours, nor can the mask",
        arguments: foreign + ["main.cipher_default_page_size = 8192", "\"cipher_default_page_size\"(8192)"])
    func refused(pragma: String) throws {
        try withEncryptedQueue { queue throws in
            let error = #expect(throws: DatabaseError.self) {
                try queue.inDatabase { try $0.execute(sql: "PRAGMA " + pragma) }
            }
            #expect(error?.resultCode == .SQLITE_MISUSE)
            #expect(error?.description.contains("Configuration.encryption") == true)
            #expect(try queue.read { try Int.fetchOne($0, sql: "PRAGMA cipher_default_page_size") } == 4096)
        }
    }
}

private func configured(
    _ passphrase: String = "correct horse", _ settings: CipherSettings = CipherSettings(kdfIterations: 1000)
) -> Configuration {
    var configuration = Configuration()
    configuration.encryption = Encryption(key: .passphrase(passphrase), settings: settings)
    return configuration
}
