import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("An unencrypted database with a reserve in its pages")
struct ClearReserveTests {
    /// As `VACUUM INTO` and `.filectrl reserve_bytes` leave it.
    private func make(_ path: String, reserve: Int, rows: Int, setUp: String = "") throws {
        _ = try stockShell(
            path, key: nil,
            """
            .filectrl reserve_bytes \(reserve)
            \(setUp) CREATE TABLE t(a); CREATE TABLE u(b);
            WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(rows)) INSERT INTO t
                SELECT i FROM n WHERE i <= \(rows);
            VACUUM;
            """)
        let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        try #require(Int(bytes[20]) == reserve)
    }

    @Test("is seen as clear, and can be encrypted and opened", arguments: [8, 16, 32, 48, 80, 100], [0, 5000])
    func inspect(reserve: Int, rows: Int) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite"), copy = folder.path("copy.sqlite")
        try make(
            path, reserve: reserve, rows: rows,
            setUp: rows == 0 ? "PRAGMA page_size = 512;" : "PRAGMA journal_mode = WAL;")
        #expect(try DatabaseFile.inspect(path: path).kind == .clear)
        #expect(try DatabaseQueue(path: path).read { try Int.fetchOne($0, sql: "SELECT count(*) FROM t") } == rows)
        let encryption = Encryption(key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000))
        try DatabaseFile.encrypt(path: path, to: copy, encryption: encryption)
        #expect(try stockShell(copy, "SELECT count(*) FROM t;") == ["\(rows)"])
    }

    @Test("with a schema of many pages is seen as clear")
    func largeSchema() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        try make(
            path, reserve: 80, rows: 1,
            setUp: (0..<300).map { "CREATE TABLE with_a_rather_long_name_\($0)(a, b, c);" }.joined())
        #expect(try DatabaseFile.inspect(path: path).kind == .clear)
    }

    @Test(
        "is none that has a plaintext header of any size", arguments: [16, 32, 48, 64, 80, 96],
        [CipherSettings.sqlcipher4, .sqlcipher3, .sqlcipher1])
    func header(size: Int, settings: CipherSettings) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var settings = settings
        settings.kdfIterations = 1000
        var configuration = Configuration()
        configuration.encryption = Encryption(
            key: .passphrase("correct horse"), settings: settings, plaintextHeader: PlaintextHeader(size: size))
        try DatabaseQueue(path: path, configuration: configuration).write { try $0.execute(sql: "CREATE TABLE t(a)") }
        #expect(try DatabaseFile.inspect(path: path).kind == .plaintextHeader)
        #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path) }
    }
}
