import CSQLCipher
import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("A migrator's temporary database")
struct MigratorSetUpTests {
    @Test(
        "A migrator's temporary database runs set-up functions that need a file, and is deleted afterwards",
        arguments: [false, true])
    func fileControl(isPool: Bool) throws {
        let folder = try TemporaryFolder()
        let paths = TemporaryFolder.Names()
        var configuration = Configuration.encrypted()
        configuration.prepareDatabase { db in
            var flag: CInt = 1
            let code = withUnsafeMutablePointer(to: &flag) {
                sqlite3_file_control(db.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, $0)
            }
            guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code)) }
            try paths.note(String.fetchOne(db, sql: "SELECT file FROM pragma_database_list WHERE name = 'main'"))
        }
        let writer: any DatabaseWriter =
            isPool
            ? try DatabasePool(path: folder.path("db.sqlite"), configuration: configuration)
            : try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration)
        var migrator = DatabaseMigrator()
        migrator.eraseDatabaseOnSchemaChange = true
        migrator.registerMigration("one") { try $0.execute(sql: "CREATE TABLE wine (id INTEGER PRIMARY KEY)") }
        try migrator.migrate(writer)
        #expect(try writer.read { try !migrator.hasSchemaChanges($0) })
        let others = paths.all.filter { !$0.hasPrefix(folder.path) }
        #expect(!others.isEmpty)
        for path in others { #expect(!FileManager.default.fileExists(atPath: path)) }
    }
}

extension TemporaryFolder {
    /// Names of files, noted by several threads.
    final class Names: Sendable {
        private let noted = Shared<[String]>([])
        var all: [String] { noted.value }
        func note(_ name: String?) { if let name { noted.update { $0.append(name) } } }
    }
}
