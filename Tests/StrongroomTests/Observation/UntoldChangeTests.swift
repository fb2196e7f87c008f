import Dispatch
import Foundation
import Strongroom
import Testing

@Suite("Changes that SQLite does not report")
struct UntoldChangeTests {
    @Test("notifyChanges notifies observers of the region, and of the commit")
    func notifyChanges() throws {
        try withRecordedTables { db, recorder in
            recorder.observes = {
                if case .update("wine", let columns) = $0 { columns.contains("score") } else { false }
            }
            try db.inTransaction(.deferred) {
                try db.notifyChanges(in: SQLRequest<Row>(sql: "SELECT name FROM wine"))
                #expect(recorder.take() == [])
                try db.notifyChanges(in: SQLRequest<Row>(sql: "SELECT score FROM wine"))
                #expect(recorder.take() == ["change"])
                try db.notifyChanges(in: .fullDatabase)
                #expect(recorder.take() == ["change"])
                return .commit
            }
            #expect(recorder.take() == ["will commit", "commit"])
            try db.notifyChanges(in: .fullDatabase)
            #expect(recorder.take() == ["change", "will commit", "commit"])
        }
    }

    @Test("notifyChanges does nothing in a read")
    func notifyInRead() throws {
        try withEncryptedQueue { queue in
            let recorder = TransactionRecorder()
            queue.add(transactionObserver: recorder)
            try queue.read { try $0.notifyChanges(in: .fullDatabase) }
            #expect(recorder.take() == [])
        }
    }
}
