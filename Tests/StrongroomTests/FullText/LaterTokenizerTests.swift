import CStrongroomFaults
import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("Full text through queues and pools")
struct LaterTokenizerTests {
    private func createTable(_ writer: some DatabaseWriter) throws {
        try writer.write { (db) throws in
            try db.create(virtualTable: "document", using: FTS5()) { t in
                t.tokenizer = SynonymTokenizer.tokenizerDescriptor()
                t.column("body")
            }
            try db.execute(sql: "INSERT INTO document VALUES ('the first')")
        }
    }

    @Test("add(tokenizer:) on a queue")
    func queue() throws {
        try withEncryptedQueue { (queue) throws in
            queue.add(tokenizer: SynonymTokenizer.self)
            try createTable(queue)
            #expect(try queue.read { try matches($0, "1st") } == [1])
        }
    }

    @Test("add(tokenizer:) on a pool: present and future connections, and snapshots made later")
    func pool() throws {
        let folder = try TemporaryFolder()
        let pool = try DatabasePool(path: folder.path("db"), configuration: .encrypted())
        // Opens the first reader.
        _ = try pool.read { try $0.tableExists("document") }
        pool.add(tokenizer: SynonymTokenizer.self)
        try createTable(pool)
        #expect(try pool.read { try matches($0, "1st") } == [1])
        pool.invalidateReadOnlyConnections()
        #expect(try pool.read { try matches($0, "1st") } == [1])
        let snapshot = try pool.makeSnapshot()
        #expect(try snapshot.read { try matches($0, "1st") } == [1])
        try snapshot.close()
        try pool.close()
    }

    @Test("A tokenizer of the configuration is there from the first access on")
    func prepareDatabase() throws {
        let folder = try TemporaryFolder()
        var configuration = Configuration.encrypted()
        configuration.prepareDatabase { $0.add(tokenizer: SynonymTokenizer.self) }
        let pool = try DatabasePool(path: folder.path("db"), configuration: configuration)
        try createTable(pool)
        try pool.close()
        let again = try DatabasePool(path: folder.path("db"), configuration: configuration)
        #expect(try again.read { try matches($0, "1st") } == [1])
        try again.close()
    }

    @Test("No text reaches a file in clear, be it content or index", arguments: ["fts3", "fts4", "fts5"])
    func noClearText(module: String) throws {
        let watch = WriteWatch(module)
        let before = strongroom_faults_bytes_written()
        try withEncryptedQueue { (queue) throws in
            try fill(queue, module, watch.text)
            #expect(try queue.read { try matches($0, #""\#(watch.text)""#).count } == 500)
        }
        #expect(strongroom_faults_bytes_written() - before > 100_000)
        #expect(watch.sightings == 0, "seen in \(watch.lastPlace)")
    }

    @Test("The watch sees the text of an unencrypted database", arguments: ["fts4", "fts5"])
    func control(module: String) throws {
        let watch = WriteWatch(module)
        try withEncryptedQueue(Configuration()) { try fill($0, module, watch.text) }
        #expect(watch.sightings > 0)
    }

    private func fill(_ queue: DatabaseQueue, _ module: String, _ text: String) throws {
        try queue.write { (db) throws in
            try db.execute(sql: "PRAGMA cache_size = 10; CREATE VIRTUAL TABLE document USING \(module)(body)")
            for number in 0..<500 {
                try db.execute(
                    sql: "INSERT INTO document (body) VALUES (?)",
                    arguments: ["\(text) \(number) \(String(repeating: "word\(number) ", count: 40))"])
            }
            try db.execute(sql: "INSERT INTO document(document) VALUES ('optimize')")
        }
    }
}
