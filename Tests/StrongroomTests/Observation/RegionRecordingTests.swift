import Foundation
import Testing

@testable import Strongroom

@Suite("The region that a fetch reads")
struct RegionRecordingTests {
    /// The processor time of this thread, in nanoseconds: other programs don't change it.
    private var processorTime: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }

    /// The processor time of the fastest of three recordings of that many regions, in nanoseconds.
    private func duration(_ count: Int, _ db: Database, of region: (Int) -> DatabaseRegion) throws -> Int {
        let regions = (0..<count).map(region)
        return try (0..<3).map { _ in
            let start = processorTime
            let (_, recorded) = try db.recordingRegion { for region in regions { try db.registerAccess(to: region) } }
            let end = processorTime
            #expect(!recorded.isEmpty)
            return end - start
        }.min()!
    }

    @Test(
        "is recorded in a time that is linear in the rows that are read",
        arguments: [
            { (number: Int) in DatabaseRegion(table: "table\(number)") },
            { (number: Int) in DatabaseRegion(table: "wine", columns: nil, rowIDs: [Int64(number)]) },
            { (number: Int) in DatabaseRegion(table: "wine", columns: ["column\(number)"]) },
        ] as [@Sendable (Int) -> DatabaseRegion])
    func linearTime(region: @Sendable (Int) -> DatabaseRegion) throws {
        try withDatabase { db in
            let few = try duration(2000, db, of: region), many = try duration(20_000, db, of: region)
            // Ten times as much takes a hundred times as long when each region is a copy of the former.
            #expect(many < 40 * few)
        }
    }

    @Test("is that of the innermost recording, and the outer one continues after it")
    func nestedRecordings() throws {
        try withDatabase { db in
            let (inner, outer) = try db.recordingRegion {
                try db.registerAccess(to: DatabaseRegion(table: "a"))
                let (_, inner) = try db.recordingRegion { try db.registerAccess(to: DatabaseRegion(table: "b")) }
                try db.registerAccess(to: DatabaseRegion(table: "c"))
                return inner
            }
            #expect(inner.description == "b(*)")
            #expect(outer.description == "a(*),c(*)")
            #expect(!db.recordsReads)
        }
    }

    @Test("is no longer recorded after a fetch that fails")
    func failingRecording() throws {
        try withDatabase { db in
            #expect(throws: DatabaseError.self) { try db.recordingRegion { throw DatabaseError(message: "no") } }
            #expect(!db.recordsReads)
        }
    }

    @Test("is the union of its parts, if any of them has all columns or all rows")
    func unions() {
        let one = DatabaseRegion(table: "wine", columns: ["name"], rowIDs: [1])
        let other = DatabaseRegion(table: "Wine", columns: ["SCORE"], rowIDs: [2])
        #expect(one.union(other).description == "wine(SCORE,name)[1,2]")
        #expect(one.union(DatabaseRegion(table: "wine", columns: nil, rowIDs: [2])).description == "wine(*)[1,2]")
        #expect(one.union(DatabaseRegion(table: "wine", columns: ["name"])).description == "wine(name)")
        #expect(DatabaseRegion(table: "wine").union(one).description == "wine(*)")
        #expect(one.union(.fullDatabase).isFullDatabase)
        #expect(DatabaseRegion.fullDatabase.union(one).isFullDatabase)
        #expect(DatabaseRegion().union(one) == one)
    }

    @Test("leaves nothing to observe: without observers, no statement concerns the list of observers")
    func unconcerned() throws {
        try withDatabase { db in
            try db.execute(sql: "CREATE TABLE wine (id INTEGER PRIMARY KEY)")
            let observer = TransactionRecorder()
            db.add(transactionObserver: observer)
            let statement = try db.makeStatement(sql: "INSERT INTO wine DEFAULT VALUES")
            try statement.execute()
            #expect(db.observers.isConcerned(by: statement))
            db.remove(transactionObserver: observer)
            #expect(!db.observers.isConcerned(by: statement))
        }
    }
}
