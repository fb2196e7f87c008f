import Dispatch
import Foundation
import Strongroom
import Testing

@Suite("The extent of transaction observers")
struct ObservationExtentTests {
    @Test("By default the connection does not keep the observer alive")
    func observerLifetime() throws {
        try withRecordedTables { db, _ in
            var recorder: TransactionRecorder? = TransactionRecorder()
            weak let weakRecorder = recorder
            db.add(transactionObserver: recorder!)
            recorder = nil
            #expect(weakRecorder == nil)
            try db.execute(sql: "INSERT INTO wine (id) VALUES (1)")
        }
    }

    @Test("To the next transaction: the observer lives until then, and is not notified of others")
    func nextTransaction() throws {
        try withRecordedTables { db, _ in
            var recorder: TransactionRecorder? = TransactionRecorder()
            weak let weakRecorder = recorder
            db.add(transactionObserver: recorder!, extent: .nextTransaction)
            recorder = nil
            #expect(weakRecorder != nil)
            recorder = weakRecorder
            try db.execute(sql: "INSERT INTO wine (id) VALUES (1)")
            try db.execute(sql: "INSERT INTO wine (id) VALUES (2)")
            #expect(recorder?.log == ["insert main.wine 1", "will commit", "commit"])
            recorder = nil
            #expect(weakRecorder == nil)
        }
    }

    @Test("For the lifetime of the database: the observer is released when the database is closed")
    func databaseLifetime() throws {
        let fixture = try QueueFixture()
        var recorder: TransactionRecorder? = TransactionRecorder()
        weak let weakRecorder = recorder
        fixture.queue.add(transactionObserver: recorder!, extent: .databaseLifetime)
        recorder = nil
        try fixture.queue.write { try $0.insertWine() }
        #expect(weakRecorder?.log == ["insert main.wine 1", "will commit", "commit"])
        try fixture.queue.close()
        #expect(weakRecorder == nil)
    }

    @Test("A removed observer is not notified, and can be added again", arguments: WriterKind.allCases)
    func removal(_ kind: WriterKind) throws {
        let (writer, _) = try kind.make()
        let recorder = TransactionRecorder()
        writer.add(transactionObserver: recorder)
        try writer.write { try $0.insertWine() }
        #expect(recorder.take().count == 3)
        writer.remove(transactionObserver: recorder)
        try writer.write { try $0.insertWine() }
        #expect(recorder.take() == [])
        writer.add(transactionObserver: recorder)
        try writer.write { try $0.insertWine() }
        #expect(recorder.take().count == 3)
    }

    @Test("An observer that is added inside of a transaction is notified of the rest of it")
    func addedInside() throws {
        try withRecordedTables { db, recorder in
            db.remove(transactionObserver: recorder)
            try db.inTransaction {
                try db.execute(sql: "INSERT INTO wine (id) VALUES (1)")
                try db.inSavepoint {
                    db.add(transactionObserver: recorder)
                    try db.execute(sql: "INSERT INTO wine (id) VALUES (2)")
                    return .rollback
                }
                try db.execute(sql: "INSERT INTO wine (id) VALUES (3)")
                return .commit
            }
            #expect(recorder.take() == ["insert main.wine 3", "will commit", "commit"])
        }
    }
}
