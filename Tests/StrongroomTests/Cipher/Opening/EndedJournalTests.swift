import Foundation
import Strongroom
import TestSupport
import Testing

@Suite("A journal whose transaction has ended")
struct EndedJournalTests {
    @Test("prevents no read of a database that uses a log by now, and stays")
    func besideLog() throws {
        let folder = try TemporaryFolder(), path = folder.path("db.sqlite")
        var configuration = Configuration()
        configuration.encryption = Encryption(key: try .rawKey([UInt8](1...32)))
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: "CREATE TABLE wine (name)") }
        try queue.close()
        // As a power failure leaves it that comes after the journal was ended, and before its name was removed.
        let journal = URL(fileURLWithPath: path + "-journal"), bytes = Data(repeating: 0, count: 512)
        try bytes.write(to: journal)
        #expect(try DatabaseFile.details(path: path, encryption: configuration.encryption).tableCount == 1)
        #expect(try Data(contentsOf: journal) == bytes)
    }
}
