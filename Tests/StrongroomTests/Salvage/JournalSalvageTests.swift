import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A salvage beside a rollback journal")
struct JournalSalvageTests {
    private let folder: TemporaryFolder
    private let path: String

    /// Copies a database of 200 rows, the journal of a transaction that changes each of them, and the file before or
    /// after its commit.
    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("db.sqlite")
    }

    private func makeFiles(afterCommit: Bool) throws {
        let original = folder.path("original.sqlite")
        let queue = try DatabaseQueue(path: original, configuration: SalvageModel.configuration())
        try queue.writeWithoutTransaction { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, state TEXT, filler BLOB)")
            for _ in 0..<200 { try db.execute(sql: "INSERT INTO t VALUES (NULL, 'old', randomblob(900))") }
            // Pages reach the file before the transaction ends, or the journal has one part.
            try db.execute(sql: "PRAGMA cache_size = \(afterCommit ? 10_000 : 2)")
            try db.inTransaction {
                try db.execute(sql: "UPDATE t SET state = 'new'")
                try copy(original, "-journal")
                if !afterCommit { try copy(original, "") }
                return .commit
            }
            if afterCommit { try copy(original, "") }
        }
        try queue.close()
    }

    private func copy(_ original: String, _ suffix: String) throws {
        try FileManager.default.copyItem(atPath: original + suffix, toPath: path + suffix)
    }

    private func states() throws -> [String: Int] {
        let salvaged = try Salvaged(path, to: folder.path("copy.sqlite"))
        #expect(salvaged.report.isComplete, "\(salvaged.report)")
        let queue = try DatabaseQueue(path: folder.path("copy.sqlite"), configuration: SalvageModel.configuration())
        let rows = try queue.read { try Row.fetchAll($0, sql: "SELECT state, count(*) FROM t GROUP BY state") }
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], $0[1]) })
    }

    @Test("rolls the transaction back that did not end")
    func rollback() throws {
        try makeFiles(afterCommit: false)
        #expect(try states() == ["old": 200])
    }

    @Test("hides no page because the header of the journal says that there were fewer", arguments: [0, 2, 100])
    func damagedHeader(pageCount: UInt8) throws {
        try makeFiles(afterCommit: false)
        var journal = [UInt8](try folder.bytes("db.sqlite-journal"))
        journal.replaceSubrange(16..<20, with: [0, 0, 0, pageCount])
        try folder.write(journal, to: "db.sqlite-journal")
        #expect(try states() == ["old": 200])
    }

    @Test("keeps a transaction of several databases whose super-journal is gone", arguments: [true, false])
    func superJournal(isGone: Bool) throws {
        try makeFiles(afterCommit: true)
        let name = Array(folder.path("super-journal").utf8)
        if !isGone { try folder.write([UInt8]("names".utf8), to: "super-journal") }
        func bigEndian(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number.bigEndian, Array.init) }
        let sum = name.reduce(UInt32(0)) { $0 + UInt32($1) }
        // As SQLite ends it: the number of the lock page, the name, its length and sum, and the magic number.
        let end = bigEndian(1 << 20) + name + bigEndian(UInt32(name.count)) + bigEndian(sum)
        var journal = [UInt8](try folder.bytes("db.sqlite-journal"))
        let sector = Int(journal[22]) << 8 | Int(journal[23]), record = SalvageModel.pageSize + 8
        // The commit has written this when the journal was complete.
        let magic: [UInt8] = [0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7]
        journal.replaceSubrange(0..<12, with: magic + bigEndian(UInt32((journal.count - sector) / record)))
        try folder.write(journal + end + magic, to: "db.sqlite-journal")
        let states = try states()
        #expect(states == [isGone ? "new" : "old": 200])
    }
}
