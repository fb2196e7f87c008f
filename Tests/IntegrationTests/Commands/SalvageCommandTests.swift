import Foundation
import TestSupport
import Testing

@Suite("strongroom salvage")
struct SalvageCommandTests {
    let scratch: TemporaryFolder
    let database: String
    let key: String

    init() async throws {
        scratch = try TemporaryFolder()
        database = try await scratch.encryptedDatabase("db.sqlite", rawKey: "right")
        key = try scratch.rawKey("right")
    }

    @Test("strongroom salvage of a sound database ends with 0, and names each table")
    func sound() async throws {
        let outcome = try await strongroom("salvage", database, scratch.path("out.sqlite"), "--raw-key-file", key)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.contains("book: 300 rows saved"))
        let check = try await strongroom("check", scratch.path("out.sqlite"), "--raw-key-file", key)
        #expect(check.status == 0, "\(check.errors)")
    }

    @Test("strongroom salvage of a damaged database ends with 13, and reports tables and pages as JSON")
    func damaged() async throws {
        try scratch.damage("db.sqlite", at: 5 * 4096 + 100)
        let check = try await strongroom("check", database, "--raw-key-file", key)
        #expect(check.status == 13)
        #expect(check.output.contains("page 6 ") && check.output.contains("of the table book"), "\(check.output)")
        let outcome = try await strongroom(
            "salvage", "--json", database, scratch.path("out.sqlite"), "--raw-key-file", key)
        #expect(outcome.status == 13)
        let report = try outcome.object, tables = try #require(report["tables"] as? [[String: Any]])
        let book = try #require(tables.first { $0["name"] as? String == "book" })
        let saved = try #require(book["saved"] as? Int)
        #expect((200..<300).contains(saved))
        #expect(book["missing"] as? Int == 1)
        #expect((report["damaged_pages"] as? [[String: Any]])?.count == 1)
        #expect(FileManager.default.fileExists(atPath: scratch.path("out.sqlite")))
    }

    @Test("strongroom salvage with a wrong key ends with 12, and makes no file")
    func wrongKey() async throws {
        let wrong = try scratch.rawKey("wrong", in: "wrong")
        let outcome = try await strongroom("salvage", database, scratch.path("out.sqlite"), "--raw-key-file", wrong)
        #expect(outcome.status == 12, "\(outcome.errors)")
        #expect(!FileManager.default.fileExists(atPath: scratch.path("out.sqlite")))
    }
}
