import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("A database with a rollback journal whose file is removed, renamed or replaced")
struct MovedFileTests {
    @Test("refuses writes with the reason, and reads the former file", arguments: ["remove", "rename", "replace"])
    func write(how: String) throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite"), manager = FileManager.default
        var configuration = Configuration()
        configuration.encryption = Encryption(key: try .rawKey(Data(repeating: 7, count: 32)))
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE t(a); INSERT INTO t VALUES (1)") }
        switch how {
        case "remove": try manager.removeItem(atPath: path)
        case "rename": try manager.moveItem(atPath: path, toPath: path + "-former")
        default:
            try manager.copyItem(atPath: path, toPath: path + "-new")
            #expect(rename(path + "-new", path) == 0)
        }
        let error = try #require(
            throws: DatabaseError.self, performing: { try queue.write { try $0.execute(sql: "DELETE FROM t") } })
        #expect(error.reason == .fileGone)
        #expect(error.extendedResultCode == .SQLITE_READONLY_DBMOVED)
        #expect(!error.isConnectionUsable)
        #expect(error.sql == "DELETE FROM t")
        #expect(error.description.contains(path))
        #expect(try queue.read { try Int.fetchOne($0, sql: "SELECT a FROM t") } == 1)
    }
}
