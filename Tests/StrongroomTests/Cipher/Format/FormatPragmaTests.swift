import CSQLCipher
import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A pragma of the format")
struct FormatPragmaTests {
    private func configuration(_ settings: CipherSettings = CipherSettings(kdfIterations: 1000)) -> Configuration {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .passphrase("correct horse"), settings: settings)
        return configuration
    }

    /// Steps of set-up between the key and the format.
    enum Before: String, CaseIterable, CustomTestStringConvertible {
        case comment, quotedName, schema, select, declared, declaredAndSelect, statementOfC

        static let selecting: [Before] = [.select, .declaredAndSelect]

        /// Steps that leave the format open. From SQLCipher 4.7 on, a statement without a table reads page 1, too.
        static var readingNothing: [Before] {
            allCases.filter { SQLCipherVersion.running < .rebuilt || !selecting.contains($0) }
        }

        var testDescription: String { rawValue }

        func configuration(_ pragmas: [String]) -> Configuration {
            var configuration = Configuration()
            let isDeclared = self == .declared || self == .declaredAndSelect
            if isDeclared {
                configuration.encryption = Encryption(
                    key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 10))
            }
            configuration.prepareDatabase { db throws in
                if !isDeclared { try db.usePassphrase("correct horse") }
                if self == .select || self == .declaredAndSelect { _ = try Int.fetchOne(db, sql: "SELECT 1") }
                for pragma in pragmas {
                    let parts = pragma.split(separator: " ", maxSplits: 1)
                    switch self {
                    case .comment: try db.execute(sql: "/* before */ PRAGMA -- between\n \(pragma)")
                    case .quotedName: try db.execute(sql: "PRAGMA \"\(parts[0])\" \(parts[1])")
                    case .schema: try db.execute(sql: "pragma \"MAIN\".[\(parts[0])] \(parts[1])")
                    case .statementOfC:
                        precondition(sqlite3_exec(db.sqliteConnection, "PRAGMA \(pragma)", nil, nil, nil) == SQLITE_OK)
                    case .select, .declared, .declaredAndSelect: try db.execute(sql: "PRAGMA \(pragma)")
                    }
                }
            }
            return configuration
        }
    }

    private static let formats = [
        ["cipher_compatibility = 3"], ["kdf_iter = 1000"], ["cipher_page_size = 8192"],
        ["kdf_iter = 7", "cipher_kdf_algorithm = PBKDF2_HMAC_SHA1"],
        ["cipher_use_hmac = OFF", "kdf_iter = 7"],
        ["cipher_hmac_algorithm = HMAC_SHA256", "cipher_page_size = 1024", "kdf_iter = 7"],
    ]

    @Test(
        "takes effect before the first read, with other steps between it and the key",
        arguments: Before.readingNothing, formats)
    func early(before: Before, pragmas: [String]) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        for count in 1...2 {
            let queue = try DatabaseQueue(path: path, configuration: before.configuration(pragmas))
            try queue.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES (7)") }
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == count)
            #expect(try queue.checkIntegrity().isIntact)
            try queue.close()
        }
        let isDeclared = before == .declared || before == .declaredAndSelect
        let setUp = (isDeclared ? ["kdf_iter = 10"] : []) + pragmas
        #expect(try stockShell(path, setUp: setUp.map { "PRAGMA \($0);" }.joined(), "SELECT count(*) FROM t;") == ["2"])
    }

    @Test(
        "after a SELECT without a table comes too late for a database that exists, and harms nothing",
        .enabled(if: SQLCipherVersion.running >= .rebuilt, "SQLCipher before 4.7 reads nothing for it"),
        arguments: Before.selecting)
    func afterSelect(before: Before) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let plain: Before = before == .select ? .schema : .declared, pragmas = ["cipher_page_size = 8192"]
        try DatabaseQueue(path: path, configuration: plain.configuration(pragmas)).write {
            try $0.execute(sql: "CREATE TABLE t(a)")
        }
        let error = #expect(throws: DatabaseError.self) {
            try DatabaseQueue(path: path, configuration: before.configuration(pragmas))
        }
        #expect(error?.isWrongKeyError == true)
        #expect(try DatabaseQueue(path: path, configuration: plain.configuration(pragmas)).checkIntegrity().isIntact)
    }

    @Test(
        "of a header takes effect before the first page, with the salt beside the file",
        arguments: Before.readingNothing)
    func header(before: Before) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let configuration = before.configuration(["kdf_iter = 1000", "cipher_plaintext_header_size = '32abc'"])
        for count in 1...2 {
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            try queue.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t(a); INSERT INTO t VALUES (7)") }
            #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == count)
            try queue.close()
        }
        let inspection = try DatabaseFile.inspect(path: path)
        #expect(inspection.kind == .plaintextHeader && inspection.salt != nil)
    }

    @Test(
        "after the first read or the first page is refused, and the database opens as before",
        arguments: ["SELECT count(*) FROM t", "CREATE TABLE u(a)"],
        ["cipher_compatibility = 3", "cipher_page_size = 8192", "cipher_plaintext_header_size = 32"])
    func late(statement: String, pragma: String) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let exists = statement.hasPrefix("SELECT")
        if exists {
            try DatabaseQueue(path: path, configuration: configuration()).write {
                try $0.execute(sql: "CREATE TABLE t(a)")
            }
        }
        var late = configuration()
        late.prepareDatabase { try $0.execute(sql: "\(statement); PRAGMA \(pragma)") }
        let error = #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: late) }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.reason == .lateFormat)
        #expect(try DatabaseQueue(path: path, configuration: configuration()).checkIntegrity().isIntact)
    }

    private static let changes = [
        "cipher_salt = \"x'01010101010101010101010101010101'\"", "cipher_salt = 'nonsense'", "cipher_use_hmac = OFF",
        "cipher_use_hmac = 256",
        "cipher_hmac_algorithm = HMAC_SHA1", "cipher_hmac_algorithm = 'nonsense'", "cipher_page_size = 8192",
        "page_size = 8192", "page_size = '1024x'",
        "kdf_iter = 2", "fast_kdf_iter = 3", "cipher_kdf_algorithm = PBKDF2_HMAC_SHA1",
        "cipher_plaintext_header_size = 32",
        "cipher_plaintext_header_size = '32abc'", "cipher_plaintext_header_size = ' 32'",
        "cipher_plaintext_header_size = -1", "cipher_compatibility = 3",
        "cipher_hmac_pgno = be", "main.cipher_use_hmac = no", "\"main\".\"cipher_use_hmac\"(false)",
        "MAIN.Cipher_Use_HMAC = off", "cipher_hmac_salt_mask = \"x'00'\"",
    ]

    @Test("on an open database is refused by its value, and the next write harms nothing", arguments: changes)
    func live(pragma: String) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        for isNew in [true, false] {
            let queue = try DatabaseQueue(path: path, configuration: configuration())
            try queue.writeWithoutTransaction { db throws in
                let error = #expect(throws: DatabaseError.self) { try db.execute(sql: "PRAGMA \(pragma)") }
                #expect(error?.resultCode == .SQLITE_MISUSE)
                #expect(sqlite3_exec(db.sqliteConnection, "PRAGMA \(pragma)", nil, nil, nil) != SQLITE_OK)
                try db.execute(sql: isNew ? "CREATE TABLE t(a); INSERT INTO t VALUES (7)" : "UPDATE t SET a = a")
            }
            try queue.close()
        }
        #expect(try stockShell(path, "SELECT a FROM t; PRAGMA cipher_integrity_check;") == ["7"])
    }

    @Test(
        "that states the present format is no error",
        arguments: [
            "kdf_iter = 1000", "kdf_iter = '1000x'", "cipher_page_size = 4096", "page_size = 4096",
            "cipher_use_hmac = ON", "cipher_use_hmac = 1",
            "cipher_hmac_algorithm = hmac_sha512", "cipher_plaintext_header_size = 0", "fast_kdf_iter = 2",
            "cipher_hmac_pgno = le", "cipher_kdf_algorithm = PBKDF2_HMAC_SHA512",
        ])
    func same(pragma: String) throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase {
                try $0.execute(sql: "CREATE TABLE t(a); PRAGMA \(pragma); INSERT INTO t VALUES (7)")
            }
            #expect(try queue.checkIntegrity().isIntact)
        }
    }

    @Test(
        "of an attached database is refused, and harms nothing",
        arguments: [
            "cipher_use_hmac = OFF", "cipher_page_size = 8192", "page_size = 1024", "kdf_iter = 2", "key = 'x'",
        ])
    func attached(pragma: String) throws {
        let folder = try TemporaryFolder(), path = folder.path("attached")
        let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration())
        try queue.writeWithoutTransaction { db throws in
            try db.attach(path: path, as: "aux 1", encryption: configuration().encryption)
            try db.execute(sql: "CREATE TABLE \"aux 1\".t(a); INSERT INTO t VALUES (7)")
            let error = #expect(throws: DatabaseError.self) { try db.execute(sql: "PRAGMA \"aux 1\".\(pragma)") }
            #expect(error?.resultCode == .SQLITE_MISUSE)
            try db.execute(sql: "UPDATE t SET a = a; CREATE TABLE mine(a)")
        }
        try queue.close()
        #expect(try stockShell(path, "SELECT a FROM t; PRAGMA cipher_integrity_check;") == ["7"])
        #expect(
            try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration()).checkIntegrity().isIntact)
    }

    @Test("that only reads returns the current value each time", arguments: [true, false])
    func answers(inMemory: Bool) throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration()
        configuration.prepareDatabase { db throws in
            try db.usePassphrase("correct horse")
            #expect(try Int.fetchOne(db, sql: "PRAGMA kdf_iter") == 256_000)
            try db.execute(sql: "PRAGMA kdf_iter = 1234")
            #expect(try Int.fetchOne(db, sql: "PRAGMA kdf_iter") == 1234)
        }
        for configuration in [configuration, self.configuration(CipherSettings(kdfIterations: 1234))] {
            let queue = try DatabaseQueue(
                path: inMemory ? ":memory:" : folder.path("db.sqlite"), configuration: configuration)
            try queue.write { try $0.execute(sql: "CREATE TABLE IF NOT EXISTS t(a)") }
            #expect(try queue.read { try Int.fetchOne($0, sql: "PRAGMA kdf_iter") } == 1234)
            #expect(
                try queue.read { try String.fetchOne($0, sql: "PRAGMA cipher_settings") } == "PRAGMA kdf_iter = 1234;")
            try queue.close()
        }
    }

    @Test("is no table-valued function that could change it")
    func functions() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                try db.execute(sql: "CREATE TABLE t(a)")
                #expect(try Int.fetchOne(db, sql: "SELECT * FROM pragma_page_size") == 4096)
                for call in [
                    "pragma_page_size(8192)", "pragma_cipher_page_size(8192)", "pragma_kdf_iter(2)",
                    "pragma_cipher_use_hmac(0)",
                ] {
                    #expect(throws: DatabaseError.self) { try db.execute(sql: "SELECT * FROM \(call)") }
                }
                try db.execute(sql: "INSERT INTO t VALUES (1)")
            }
            #expect(try queue.checkIntegrity().isIntact)
        }
    }

    @Test("that migrates in place is refused: the key would not open the result")
    func migration() throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                try db.execute(sql: "CREATE TABLE t(a)")
                let error = #expect(throws: DatabaseError.self) { try db.execute(sql: "PRAGMA cipher_migrate") }
                #expect(error?.description.contains("DatabaseFile.migrate") == true)
            }
        }
    }

    @Test(
        "that makes no sense fails opening, though set-up swallows errors",
        arguments: [
            "cipher_page_size = 1000", "cipher_hmac_algorithm = nonsense", "kdf_iter = 0",
            "cipher_plaintext_header_size = 24",
        ])
    func nonsense(pragma: String) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        configuration.prepareDatabase { db throws in
            try db.usePassphrase("correct horse")
            try? db.execute(sql: "PRAGMA \(pragma)")
            try? db.execute(sql: "CREATE TABLE t(a)")
        }
        let error = #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: configuration) }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(try Data(contentsOf: URL(fileURLWithPath: path)).isEmpty)
    }
}
