import Foundation
import Strongroom
import Testing

@Suite("Rows at the edges")
struct RowEdgeTests {
    @Test("Of equal names the leftmost is used, also at repeated reads")
    func equalNames() throws {
        try withDatabase { (db) throws in
            let row = try #require(try Row.fetchOne(db, sql: "SELECT 1 AS a, 2 AS a, 3 AS b"))
            let values: [Int] = [row["a"], row["a"], row["b"], row["a"], row["A"]]
            #expect(values == [1, 1, 3, 1, 1])
        }
    }

    @Test("A set of rows has each row as it was read")
    func setOfRows() throws {
        try withDatabase { (db) throws in
            let rows = try Row.fetchSet(db, sql: "SELECT 1 AS a UNION ALL SELECT 2 UNION ALL SELECT 1")
            #expect(rows == [["a": 1], ["a": 2]])
        }
    }

    @Test("NULL is a database value, and a missing column is none", arguments: [false, true])
    func databaseValues(isCopy: Bool) throws {
        try withDatabase { (db) throws in
            let cursor = try Row.fetchCursor(db, sql: "SELECT NULL AS a")
            let row = try #require(try cursor.next())
            let read = isCopy ? row.copy() : row
            #expect(read["a"] as DatabaseValue? == .some(.null))
            #expect(read["b"] as DatabaseValue? == nil)
            #expect(DatabaseValue?.fromDatabaseValue(.null) == .some(.some(.null)))
        }
    }

    @Test("NULL is nil for a fetch of one value, by either path")
    func nullValue() throws {
        try withDatabase { (db) throws in
            #expect(try NSNumber.fetchOne(db, sql: "SELECT NULL") == nil)
            #expect(try Int.fetchOne(db, sql: "SELECT NULL") == nil)
            #expect(try NSNumber.fetchOne(db, sql: "SELECT 1") == 1)
        }
    }

    @Test("An address is read from text, and from the bytes of a text")
    func address() throws {
        try withDatabase { (db) throws in
            let url = URL(string: "https://example.org/a")
            #expect(try URL.fetchOne(db, sql: "SELECT 'https://example.org/a'") == url)
            #expect(try URL.fetchOne(db, sql: "SELECT CAST('https://example.org/a' AS BLOB)") == url)
            #expect(throws: RowDecodingError.self) { try URL.fetchOne(db, sql: "SELECT 1") }
        }
    }

    @Test("Rows of the same columns differ by their scopes")
    func scopes() throws {
        try withDatabase { (db) throws in
            func row(_ scopes: [String: any RowAdapter]) throws -> Row? {
                try Row.fetchOne(db, sql: "SELECT 1 AS a, 2 AS b", adapter: ScopeAdapter(scopes))
            }
            let one: [String: any RowAdapter] = ["x": SuffixRowAdapter(fromIndex: 1)]
            #expect(try row(one) == row(one))
            #expect(try row(one) != row([:]))
            #expect(try row([:]) != row(one))
            #expect(try row(one) != row(["y": SuffixRowAdapter(fromIndex: 1)]))
        }
    }

    @Test("Texts that are nearly an identifier, or nearly a date, are none")
    func nearlyValues() {
        let uuid = "69BF8A9C-D9F0-4777-BD11-93451D84CBCF"
        #expect(UUID.fromDatabaseValue(uuid.databaseValue)?.uuidString == uuid)
        for text in [
            String(uuid.dropLast()), uuid + "0", uuid.replacingOccurrences(of: "-", with: ""),
            uuid.replacingOccurrences(of: "F", with: "G"),
        ] {
            #expect(UUID.fromDatabaseValue(text.databaseValue) == nil)
        }
        #expect(Date.fromDatabaseValue("2015-07-22 01:02".databaseValue) != nil)
        for text in ["2015-07-2201:02", "2015-07-22X01:02", "2015-07-22 01:02+15:00", "01:02"] {
            #expect(Date.fromDatabaseValue(text.databaseValue) == nil)
        }
    }

    @Test("Values come from the leftmost column that an adapter leaves, and from nowhere if it leaves none")
    func adaptedValues() throws {
        try withDatabase { (db) throws in
            let sql = "SELECT 1 AS a, 2 AS b", second = SuffixRowAdapter(fromIndex: 1), none = EmptyRowAdapter()
            #expect(try Int.fetchAll(db, sql: sql, adapter: second) == [2])
            #expect(try Int.fetchOne(db, sql: sql, adapter: second) == 2)
            #expect(try NSNumber.fetchAll(db, sql: sql, adapter: second) == [2])
            #expect(try NSNumber.fetchOne(db, sql: sql, adapter: ColumnMapping(["x": "b"])) == 2)
            #expect(throws: DatabaseError.self) { try Int.fetchAll(db, sql: sql, adapter: none) }
            #expect(throws: DatabaseError.self) { try NSNumber.fetchOne(db, sql: sql, adapter: none) }
        }
    }

    @Test("Adapters of an adapted request see the columns of the first one")
    func chainedAdapters() throws {
        try withDatabase { (db) throws in
            let request = SQLRequest<Row>(sql: "SELECT 1 AS a, 2 AS b, 3 AS c")
                .adapted { _ in SuffixRowAdapter(fromIndex: 1) }
                .adapted { _ in ColumnMapping(["first": "b"]) }
            #expect(try request.fetchOne(db) == ["first": 2])
            let missing = request.adapted { _ in ColumnMapping(["x": "b"]) }
            #expect(throws: DatabaseError.self) { try missing.fetchOne(db) }
        }
    }

    @Test("Several types of records are read from one row")
    func severalRecords() throws {
        struct Name: Decodable, FetchableRecord { var name: String }
        struct Number: Decodable, FetchableRecord { var number: Int }
        try withDatabase { (db) throws in
            let rows = try Row.fetchCursor(db, sql: "SELECT 1 AS number, 'a' AS name UNION ALL SELECT 2, 'b'")
            var read: [String] = []
            while let row = try rows.next() {
                read.append(try Name(row: row).name + "\(try Number(row: row).number)" + (try Name(row: row).name))
            }
            #expect(read == ["a1a", "b2b"])
        }
    }

    @Test("A row without scopes has no prefetched rows either")
    func unscoped() throws {
        try withLibrary { (db) throws in
            let row = try #require(try Row.fetchOne(db, Author.including(all: Author.books)))
            #expect(!row.prefetchedRows.isEmpty)
            #expect(row.unscoped.prefetchedRows.isEmpty)
        }
    }

    @Test("Each record reads the row that it shares with another by its own strategies")
    func strategiesOfEach() throws {
        struct First: Decodable, FetchableRecord {
            var date: Date
            static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
                .timeIntervalSince1970
            }
        }
        struct Second: Decodable, FetchableRecord {
            var date: Date
            static func databaseDateDecodingStrategy(for column: String) -> DatabaseDateDecodingStrategy {
                .timeIntervalSinceReferenceDate
            }
        }
        try withDatabase { (db) throws in
            let row = try #require(try Row.fetchOne(db, sql: "SELECT 1 AS date"))
            #expect(try First(row: row).date == Date(timeIntervalSince1970: 1))
            #expect(try Second(row: row).date == Date(timeIntervalSinceReferenceDate: 1))
            #expect(try First(row: row).date == Date(timeIntervalSince1970: 1))
        }
    }
}
