import Foundation
import Strongroom
import Testing

@Suite("The data of a row")
struct RowDataTests {
    /// Calls `body` with a row of a cursor, and with its copy.
    private func withRows(_ body: (Row) throws -> Void) throws {
        try withDatabase { db in
            let cursor = try Row.fetchCursor(
                db, sql: "SELECT x'0102' AS bytes, x'' AS empty, NULL AS missing, 'é' AS text, 1 AS number")
            let row = try #require(try cursor.next())
            try body(row)
            try body(row.copy())
        }
    }

    @Test("is read without a copy by index, name and column")
    func bytes() throws {
        try withRows { (row) throws in
            #expect(try row.withUnsafeData(atIndex: 0) { Array($0 ?? Data()) } == [1, 2])
            #expect(try row.withUnsafeData(named: "BYTES") { Array($0 ?? Data()) } == [1, 2])
            #expect(try row.withUnsafeData(at: Column("bytes")) { Array($0 ?? Data()) } == [1, 2])
        }
    }

    @Test("is nil for NULL and for a column that is not there, empty for an empty blob")
    func nothing() throws {
        try withRows { (row) throws in
            #expect(try row.withUnsafeData(named: "missing") { $0 == nil })
            #expect(try row.withUnsafeData(named: "zzz") { $0 == nil })
            #expect(try row.withUnsafeData(named: "empty") { $0 } == Data())
        }
    }

    @Test("is the UTF-8 of a text")
    func text() throws {
        try withRows { (row) throws in
            #expect(try row.withUnsafeData(named: "text") { $0.map(Array.init) } == [0xC3, 0xA9])
        }
    }

    @Test("is refused for a number, and errors pass through")
    func failures() throws {
        struct Refusal: Error {}
        try withRows { (row) throws in
            #expect(throws: RowDecodingError.self) { try row.withUnsafeData(named: "number") { _ in } }
            #expect(throws: Refusal.self) { try row.withUnsafeData(named: "bytes") { _ in throw Refusal() } }
        }
    }
}
