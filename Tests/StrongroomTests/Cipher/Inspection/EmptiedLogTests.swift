import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

@Suite("A log that another connection empties", .serialized, .timeLimit(.minutes(2)))
struct EmptiedLogTests {
    /// A database whose pages are all in the file and in its log, and a connection that can empty the log.
    private final class Fixture {
        let folder: TemporaryFolder
        let queue: DatabaseQueue
        let other: DatabaseQueue

        init() throws {
            strongroom_faults_install()
            folder = try TemporaryFolder()
            var configuration = walConfiguration()
            configuration.persistentWAL = true
            queue = try DatabaseQueue(path: folder.path("emptied.sqlite"), configuration: configuration)
            other = try DatabaseQueue(path: queue.path, configuration: configuration)
            try queue.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA wal_autocheckpoint = 0; CREATE TABLE blob (bytes)")
                // More pages than are read at a time, and ahead.
                for _ in 0..<60 { try db.execute(sql: "INSERT INTO blob VALUES (randomblob(100000))") }
                try db.checkpoint(.passive)
            }
        }

        var logSize: Int64 { NamedFile.size(queue.path + "-wal") }

        func empty() {
            #expect(throws: Never.self) { try other.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) } }
            #expect(logSize == 0)
        }
    }

    @Test("during a check of the pages leaves an intact database")
    func betweenPages() throws {
        let fixture = try Fixture()
        #expect(fixture.logSize > 2_000_000)
        try fixture.queue.inDatabase { db in
            var steps = 0
            let bad = try PageAuthentication(db).badPages { _ in
                if steps == 0 { fixture.empty() }
                steps += 1
            }
            #expect(bad.isEmpty && steps > 1)
        }
        #expect(try fixture.queue.checkIntegrity().isIntact)
    }

    @Test("between the size and the frames that a check reads leaves an intact database")
    func whileIndexing() throws {
        let fixture = try Fixture()
        try fixture.queue.inDatabase { db in
            try db.readSchema()
            let context = Unmanaged.passRetained(fixture)
            strongroom_faults_at(
                STRONGROOM_MOMENT_LOG_HEADER_READ, fixture.queue.path,
                { Unmanaged<Fixture>.fromOpaque($0!).takeRetainedValue().empty() }, context.toOpaque())
            #expect(try PageAuthentication(db).badPages().isEmpty)
            #expect(fixture.logSize == 0)
        }
        #expect(try fixture.queue.checkIntegrity().isIntact)
    }
}
