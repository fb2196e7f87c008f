import Foundation
@testable import Strongroom
import Testing

@Suite("A database with key slots")
struct KeySlotTests {
    @Test("is created with one, and opened by its secret")
    func creation() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let pool = try DatabasePool(path: path, configuration: .slots("first", creating: true))
        try pool.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        try pool.close()
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["db.sqlite", "db.sqlite-keys"])
        let again = try DatabasePool(path: path, configuration: .slots("first"))
        #expect(try again.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
        #expect(try again.keySlots().slots.map(\.label) == ["first"])
        let error = #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: .slots("second")) }
        #expect(error?.reason == .wrongKey && error?.isWrongKeyError == true)
    }

    @Test("changes a passphrase, and only the new one opens it")
    func change() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        let pool = try DatabasePool(path: path, configuration: .slots("first", creating: true))
        try pool.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        try pool.keySlots().change("first", to: .passphrase("second"), derivation: .cheap)
        _ = try DatabaseQueue(path: path, configuration: .slots("second"))
        let error = #expect(throws: DatabaseError.self) { try DatabaseQueue(path: path, configuration: .slots("first")) }
        #expect(error?.reason == .wrongKey)
    }
}
