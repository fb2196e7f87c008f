import Testing

@testable import Strongroom

@Suite("The message of an error")
struct MessageTests {
    @Test("is about its own result code, and not about another failure of the connection")
    func otherFailure() throws {
        let queue = try QueueFixture().queue
        let code = ResultCode.SQLITE_IOERR_FSYNC.rawValue
        queue.inDatabase { db in
            #expect(DatabaseError(code, on: db.sqliteConnection).message == "disk I/O error")
            #expect(throws: DatabaseError.self) { try db.execute(sql: "SELECT * FROM nowhere") }
            #expect(DatabaseError(code, on: db.sqliteConnection).message == "disk I/O error")
        }
    }

    @Test("is SQLite's where SQLite has one")
    func ownFailure() throws {
        let queue = try QueueFixture().queue
        let error = try #require(throws: DatabaseError.self) {
            try queue.inDatabase { try $0.execute(sql: "SELECT * FROM nowhere") }
        }
        #expect(error.message == "no such table: nowhere")
    }
}
