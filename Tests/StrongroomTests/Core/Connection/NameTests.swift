import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("The name of a database")
struct NameTests {
    @Test(
        "is that of a file, also where it looks like a URI",
        arguments: ["file:..%2fvictim%2fv.db", "file:v.db?mode=rw", "file:x", "file:a#b", "file:%00"])
    func fileName(name: String) throws {
        let folder = try TemporaryFolder()
        for part in ["here", "victim"] {
            try FileManager.default.createDirectory(atPath: folder.path(part), withIntermediateDirectories: false)
        }
        try inFolder(folder.path("here")) {
            let queue = try DatabaseQueue(path: name, configuration: .encrypted())
            try queue.write { try $0.execute(sql: "CREATE TABLE t(a)") }
            let other = try DatabaseQueue()
            try other.writeWithoutTransaction { db throws in
                try db.attach(
                    path: name, as: "a",
                    encryption: Encryption(
                        key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000)))
                #expect(try db.tableExists("t", in: "a"))
            }
            try queue.close()
            try other.close()
            #expect(try DatabaseFile.inspect(path: name).kind == .encrypted)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("here")) == [name])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path("victim")).isEmpty)
    }

    @Test("is a URI where it begins with file:/, and for databases in memory")
    func uri() throws {
        let folder = try TemporaryFolder(), path = folder.path("a b.db")
        let uri = "file:\(path.replacingOccurrences(of: " ", with: "%20"))?mode=rwc"
        try DatabaseQueue(path: uri, configuration: .encrypted()).write { try $0.execute(sql: "CREATE TABLE t(a)") }
        #expect(FileManager.default.fileExists(atPath: path))
        for name in ["file::memory:", "file:some?mode=memory"] {
            let queue = try DatabaseQueue(path: name)
            try queue.write { try $0.execute(sql: "CREATE TABLE t(a)") }
            #expect(!FileManager.default.fileExists(atPath: name))
        }
    }

    @Test(
        "can't carry a key, however it is written",
        arguments: [
            "?key=zork", "?%6bey=zork", "?KEY=zork", "?mode=rw&%68exkey=7a", "?text%6Bey=zork&a", "?a=b&he%78key",
        ])
    func key(query: String) throws {
        let error = #expect(throws: DatabaseError.self) { try DatabaseQueue(path: "file:/nowhere/a.db" + query) }
        #expect(error?.resultCode == .SQLITE_MISUSE)
        #expect(error?.description.contains("zork") == false)
    }

    @Test(
        "with an escaped key in SQL shows in no error, trace or log",
        arguments: ["ATTACH 'file:/nowhere/a?%6bey=zork' AS a", "VACUUM INTO 'file:/nowhere/a?%6Bey=zork'"])
    func escapedKey(sql: String) throws {
        try withEncryptedQueue { queue throws in
            try queue.inDatabase { db throws in
                var seen: [String] = []
                db.trace { seen.append($0.expandedDescription) }
                let error = try #require(throws: DatabaseError.self) { try db.execute(sql: sql) }
                #expect(!(error.description + error.expandedDescription + seen.joined()).contains("zork"))
                let bound = try #require(throws: DatabaseError.self) {
                    try db.execute(sql: "ATTACH ? AS a", arguments: ["file:/nowhere/a.db?%6bey=zork"])
                }
                #expect(!(bound.description + bound.expandedDescription + seen.joined()).contains("zork"))
            }
        }
        #expect(SQLText.containsKey("cannot open file:/a?%6bey=zork"))
        #expect(!SQLText.containsKey("cannot open file:/a?%6dey=zork"))
    }

    @Test(
        "reads as SQLite reads it",
        arguments: [
            ("file:a%20b", "a b"), ("file:///a/b?c#d", "/a/b"), ("file://localhost/a", "/a"), ("file:/a%00b", "/a"),
            ("file:/a%2", "/a%2"), ("file:/%zz", "/%zz"),
        ])
    func decoding(uri: String, path: String) {
        #expect(SQLiteURI(uri)?.path == path)
    }
}
