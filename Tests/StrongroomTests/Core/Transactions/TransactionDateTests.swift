import Foundation
import Strongroom
import Testing

@Suite("The date of a transaction")
struct TransactionDateTests {
    private final class Clock: TransactionClock, @unchecked Sendable {
        var count = 0
        func now(_ db: Database) throws -> Date {
            count += 1
            return Date(timeIntervalSince1970: Double(count))
        }
    }

    @Test("The date of a transaction is that of its beginning, and the same until its end")
    func date() throws {
        let clock = Clock()
        var configuration = Configuration.encrypted()
        configuration.transactionClock = clock
        try withEncryptedQueue(configuration) { queue throws in
            try queue.inDatabase { db throws in
                clock.count = 0
                try db.inTransaction {
                    #expect(clock.count == 1)
                    #expect(try db.transactionDate == Date(timeIntervalSince1970: 1))
                    try db.inSavepoint {
                        let date = try db.transactionDate
                        #expect(date == Date(timeIntervalSince1970: 1))
                        return .commit
                    }
                    return .commit
                }
                #expect(try db.transactionDate == Date(timeIntervalSince1970: 2))
                #expect(try db.transactionDate == Date(timeIntervalSince1970: 3))
                try db.inTransaction {
                    let date = try db.transactionDate
                    #expect(date == Date(timeIntervalSince1970: 4))
                    return .rollback
                }
                try db.execute(sql: "SAVEPOINT a")
                #expect(try db.transactionDate == Date(timeIntervalSince1970: 5))
                try db.execute(sql: "RELEASE a")
            }
        }
    }

    @Test("The date of a transaction is not known when the clock throws")
    func failure() throws {
        struct Stopped: Error {}
        var configuration = Configuration.encrypted()
        configuration.transactionClock = .custom { _ in throw Stopped() }
        try withEncryptedQueue(configuration) { queue throws in
            try queue.write { db throws in
                try db.execute(sql: "CREATE TABLE t (a)")
                #expect(throws: Stopped.self) { try db.transactionDate }
            }
        }
    }
}
