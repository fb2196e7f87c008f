import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A check of a part of the pages")
struct PageSelectionTests {
    private let scratch: TemporaryFolder
    private var path: String { scratch.path("notes.db") }
    private let encryption = Encryption(
        key: .passphrase("correct horse"), settings: CipherSettings(kdfIterations: 1000))

    init() throws {
        scratch = try TemporaryFolder()
        let queue = try self.queue()
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE note(id INTEGER PRIMARY KEY, text)")
            for id in 1...400 {
                try db.execute(sql: "INSERT INTO note VALUES (?, randomblob(3000))", arguments: [id])
            }
        }
        try queue.close()
    }

    private func queue(_ journal: String = "delete") throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.encryption = encryption
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.inDatabase { try $0.execute(sql: "PRAGMA journal_mode = \(journal)") }
        return queue
    }

    private func check(_ change: (inout PageSelection) -> Void = { _ in }) throws -> IntegrityReport {
        var selection = PageSelection()
        change(&selection)
        return try DatabaseFile.check(
            path: path, encryption: encryption, pagesOnly: !selection.isWhole, selection)
    }

    private func marks() throws -> PageMarks { try check { $0.marksPages = true }.marks }

    @Test("authenticates the share that its seed determines, and always the first page")
    func sample() throws {
        let total = try check().pageCount
        #expect(try check().authenticatedPageCount == total)
        let counts = try (1...3).map { seed in try check { $0.sample = (0.1, UInt64(seed)) }.authenticatedPageCount }
        #expect(counts.allSatisfy { (total / 20...total / 5).contains($0) } && Set(counts).count > 1)
        #expect(try check { $0.sample = (0.1, 1) }.authenticatedPageCount == counts[0])
        #expect(try check { $0.sample = (1, 1) }.authenticatedPageCount == total)
        #expect(try check { $0.sample = (1e-9, 1) }.authenticatedPageCount == 1)
        // Over the seeds, each page is chosen.
        try scratch.damage("notes.db", at: 200 * 4096 + 100)
        let found = try (1...60).filter { seed in
            try check { $0.sample = (0.1, UInt64(seed)) }.unauthenticPages == [201]
        }
        #expect((1...20).contains(found.count))
    }

    @Test("authenticates what was written since, in the file and in the log", arguments: ["delete", "wal"])
    func changed(journal: String) throws {
        let former = try marks()
        #expect(try check { $0.former = former }.authenticatedPageCount == 1)
        let queue = try self.queue(journal)
        try queue.write { try $0.execute(sql: "UPDATE note SET text = randomblob(3000) WHERE id IN (5, 300)") }
        let report = try check {
            $0.former = former
            $0.marksPages = true
        }
        #expect((2...8).contains(report.authenticatedPageCount) && report.isIntact)
        #expect(report.marks != former)
        try queue.close()
        // The pages of the log are in the file by now, and are the same.
        #expect(try check { $0.former = report.marks }.authenticatedPageCount <= 2)
        let sampled = try check {
            $0.former = report.marks
            $0.sample = (0.5, 7)
        }
        #expect(sampled.authenticatedPageCount > report.pageCount / 3)
    }

    @Test("finds damage in what was written since, and again in the next check")
    func damage() throws {
        let former = try marks()
        try queue().write { try $0.execute(sql: "UPDATE note SET text = randomblob(3000) WHERE id = 300") }
        let changed = try marks()
        let number = try #require(
            zip(1..., zip(former.values, changed.values)).first { $0 > 1 && $1.0 != $1.1 }?.0)
        try scratch.damage("notes.db", at: (number - 1) * 4096 + 100)
        let report = try check {
            $0.former = former
            $0.marksPages = true
        }
        #expect(report.unauthenticPages == [number])
        #expect(try check { $0.former = report.marks }.unauthenticPages == [number])
        // The HMAC is that of the page before: only a sample or a whole check finds it.
        #expect(try check { $0.former = changed }.isIntact)
        #expect(try check().unauthenticPages == [number])
    }

    @Test("authenticates all pages after a change of the key, and the pages that a longer file has")
    func rotated() throws {
        let former = try marks()
        let queue = try self.queue()
        try queue.write { try $0.execute(sql: "INSERT INTO note VALUES (401, randomblob(400000))") }
        let longer = try check { $0.former = former }
        #expect(longer.authenticatedPageCount > 90 && longer.authenticatedPageCount < 150)
        try queue.rotateKey(to: encryption.key)
        try queue.rotateKey(to: .passphrase("another"))
        try queue.rotateKey(to: encryption.key)
        try queue.close()
        let report = try check { $0.former = former }
        #expect(report.authenticatedPageCount == report.pageCount)
    }
}
