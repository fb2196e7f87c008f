import Foundation
import Strongroom
import Testing

@Suite("A page that can't be read")
struct UnreadPageTests {
    @Test("is reported as damaged, and not taken for a page of zeros")
    func truncatedFile() throws {
        let fixture = try QueueFixture(walConfiguration()), queue = fixture.queue
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE blob (bytes); INSERT INTO blob VALUES (randomblob(100000))")
        }
        let pageCount = try queue.writeWithoutTransaction { db in
            try db.checkpoint(.truncate)
            // The log has the number of pages, and the file has the last page.
            try db.execute(sql: "PRAGMA user_version = 7")
            return try Int.fetchOne(db, sql: "PRAGMA page_count")!
        }
        #expect(try queue.checkIntegrity().unauthenticPages == [])
        #expect(truncate(queue.path, off_t((pageCount - 1) * 4096)) == 0)
        #expect(try queue.checkIntegrity().unauthenticPages == [pageCount])
    }

    @Test("and forged ones are found at each place among many")
    func manyPages() throws {
        let fixture = try QueueFixture(walConfiguration()), queue = fixture.queue
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE blob (bytes); INSERT INTO blob VALUES (zeroblob(2800000))")
        }
        let pageCount = try queue.writeWithoutTransaction { db in
            try db.checkpoint(.truncate)
            return try Int.fetchOne(db, sql: "PRAGMA page_count")!
        }
        #expect(pageCount > 600)
        #expect(try queue.checkIntegrity().unauthenticPages == [])
        let forged = [2, 255, 256, 257, 300, 512, 513, pageCount]
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: queue.path))
        for page in forged {
            try file.seek(toOffset: UInt64((page - 1) * 4096 + 100))
            try file.write(contentsOf: Data("forged".utf8))
        }
        try file.close()
        #expect(try queue.checkIntegrity().unauthenticPages == forged)
    }
}
