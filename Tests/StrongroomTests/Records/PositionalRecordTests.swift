import Foundation
import Strongroom
import Testing

/// The code that `@DatabaseRecord` writes, by hand: the tests of the macro itself are in Tests/Macros.
@Suite("A record that reads its columns by position")
struct PositionalRecordTests {
    private struct Tag: Equatable, FetchableRecord, PersistableRecord, GeneratedRecord {
        static let databaseColumns = RecordColumns(["name", "count"])
        var name: String
        var count: Int
        var note = "none"

        init(name: String, count: Int) { (self.name, self.count) = (name, count) }
        init(row: Row) throws { try self.init(columns: row.reading(Self.databaseColumns)) }
        init(columns: RecordRow) throws {
            name = try columns.value(0)
            count = try columns.value(1)
        }
        func encode(to container: inout PersistenceContainer) throws { try container.set(self) }
        func encode(to values: RecordValues) throws {
            values.set(name, at: 0)
            values.set(count, at: 1)
        }
    }

    private struct Pair: FetchableRecord, PersistableRecord, GeneratedRecord {
        static let databaseColumns = RecordColumns(
            ["date"] + Tag.databaseColumns.names(prefixedBy: "l_") + Tag.databaseColumns.names(prefixedBy: "r_")
                + ["json", "size"])
        var date: Date?
        var left: Tag, right: Tag?
        var json: [String]?
        var size = 7

        init(date: Date?, left: Tag, right: Tag?, json: [String]?) {
            (self.date, self.left, self.right, self.json) = (date, left, right, json)
        }
        init(row: Row) throws { try self.init(columns: row.reading(Self.databaseColumns)) }
        init(columns: RecordRow) throws {
            date = try columns.date(0, .timeIntervalSince1970)
            left = try columns.part(from: 1)
            right = try columns.part(from: 3)
            json = try columns.json(5, Self.databaseJSONDecoder(for: "json"))
            if columns.has(6) { size = try columns.value(6) }
        }
        func encode(to container: inout PersistenceContainer) throws { try container.set(self) }
        func encode(to values: RecordValues) throws {
            values.set(date, at: 0, .secondsSince1970)
            try values.set(part: left, from: 1)
            try values.set(part: right, from: 3)
            try values.setJSON(json, at: 5, Self.databaseJSONEncoder(for: "json"))
            values.set(size, at: 6)
        }
    }

    private func read<T>(_ body: (Database) throws -> T) throws -> T { try QueueFixture().queue.read(body) }

    private let expected = [Tag(name: "a", count: 7), Tag(name: "b", count: 8)]

    @Test("finds them in any order, in copied and in adapted rows, and in scopes")
    func orders() throws {
        try read { db in
            let sql = "SELECT 7 AS COUNT, 'a' AS name UNION ALL SELECT 8, 'b'"
            #expect(try Tag.fetchAll(db, sql: sql) == expected)
            #expect(try Row.fetchAll(db, sql: sql).map { try Tag(row: $0) } == expected)
            let adapted = try Tag.fetchAll(
                db, sql: "SELECT 0, 7 AS a, 'a' AS b UNION ALL SELECT 0, 8, 'b'",
                adapter: ColumnMapping(["count": "a", "name": "b"]))
            #expect(adapted == expected)
            let rows = try Row.fetchCursor(
                db, sql: "SELECT 'x' AS name, 1 AS count, 'a' AS name, 7 AS count UNION ALL SELECT 'y', 2, 'b', 8",
                adapter: ScopeAdapter(["tag": SuffixRowAdapter(fromIndex: 2)]))
            var scoped: [Tag] = [], main: [Tag] = []
            while let row = try rows.next() {
                scoped.append(try Tag(row: #require(row.scopes["tag"])))
                main.append(try Tag(row: row))
            }
            #expect(scoped == expected)
            #expect(main == [Tag(name: "x", count: 1), Tag(name: "y", count: 2)])
        }
    }

    @Test("finds them again in the rows of a statement that SQLite has compiled anew")
    func schemas() throws {
        let queue = try QueueFixture().queue
        for table in ["tag (name, count)", "tag (count, x, name)", "tag (x, name, y, count)"] {
            try queue.write { db in
                try db.execute(sql: "DROP TABLE IF EXISTS tag; CREATE TABLE \(table)")
                for tag in expected { try tag.insert(db) }
                #expect(try Tag.fetchAll(db, sql: "SELECT * FROM tag") == expected)
                #expect(try Tag.fetchAll(db) == expected)
            }
        }
    }

    @Test("may alternate with another record over the rows of a cursor")
    func alternation() throws {
        struct Other: FetchableRecord {
            static let databaseColumns = RecordColumns(["count", "name"])
            var text: String
            init(row: Row) throws {
                let columns = row.reading(Self.databaseColumns)
                text = try "\(columns.value(0) as Int)" + columns.value(1)
            }
        }
        let found = try read { db in
            let rows = try Row.fetchCursor(db, sql: "SELECT 'a' AS name, 7 AS count UNION ALL SELECT 'b', 8")
            var found: [String] = []
            while let row = try rows.next() {
                found += try [Tag(row: row).name, Other(row: row).text, String(Tag(row: row).count)]
            }
            return found
        }
        #expect(found == ["a", "7a", "7", "b", "8b", "8"])
    }

    @Test("throws for a missing column and NULL, and in a copied row for another type, and names the column")
    func errors() throws {
        try read { db in
            for sql in ["SELECT 'a' AS name", "SELECT 'a' AS name, NULL AS count"] {
                let error = #expect(throws: RowDecodingError.self) { try Tag.fetchAll(db, sql: sql) }
                #expect(error.map { "\($0)".contains("count") } == true)
                try expectFailure(copying: sql, db)
            }
            // SQLite converts the text of a fetched row.
            let sql = "SELECT 'a' AS name, 'b' AS count"
            #expect(try Tag.fetchAll(db, sql: sql) == [Tag(name: "a", count: 0)])
            try expectFailure(copying: sql, db)
        }
    }

    private func expectFailure(copying sql: String, _ db: Database) throws {
        let row = try #require(try Row.fetchOne(db, sql: sql))
        let error = #expect(throws: RowDecodingError.self) { try Tag(row: row) }
        #expect(error.map { "\($0)".contains("count") } == true, "\(sql)")
    }

    @Test("reads the parts, dates and JSON that it has saved, and keeps defaults")
    func parts() throws {
        let queue = try QueueFixture().queue
        try queue.write { db in
            try db.execute(sql: "CREATE TABLE pair (json, r_count, size, r_name, l_name, date, l_count)")
            for n in 0..<6 {
                let date = n % 2 == 0 ? nil : Date(timeIntervalSince1970: Double(n))
                let right = n % 3 == 0 ? nil : Tag(name: "r\(n)", count: -n)
                let json = n % 2 == 1 ? nil : ["\(n)"]
                try Pair(date: date, left: Tag(name: "l\(n)", count: n), right: right, json: json).insert(db)
            }
            let pairs = try Pair.fetchAll(db, sql: "SELECT * FROM pair ORDER BY l_count")
            #expect(pairs.map(\.date?.timeIntervalSince1970) == [nil, 1, nil, 3, nil, 5])
            #expect(pairs.map(\.left.count) == [0, 1, 2, 3, 4, 5])
            #expect(pairs.map(\.right?.name) == [nil, "r1", "r2", nil, "r4", "r5"])
            #expect(pairs.map(\.json) == [["0"], nil, ["2"], nil, ["4"], nil])
            let short = try #require(try Pair.fetchOne(db, sql: "SELECT 'a' AS l_name, 1 AS l_count"))
            #expect(short.size == 7)
            #expect(short.right == nil)
        }
    }

    /// A record that uses a place outside of its list.
    private struct Misplaced: GeneratedRecord, PersistableRecord {
        static let databaseColumns = RecordColumns(["a", "b"])
        init() {}
        init(columns: RecordRow) throws {}
        func encode(to container: inout PersistenceContainer) throws { try container.set(self) }
        func encode(to values: RecordValues) throws { values.set(1, at: -1) }
    }

    private static func use(_ body: (RecordRow) throws -> Void) throws {
        try DatabaseQueue().read { db in
            let row = try #require(try Row.fetchOne(db, sql: "SELECT 'a' AS name, 1 AS count"))
            try body(row.reading(Tag.databaseColumns))
        }
    }

    @Test("stops the program at a place that its list does not have")
    func places() async {
        let results = [
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                try Self.use { _ = try $0.value(-1) as Int }
            },
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                try Self.use { _ = try $0.value(2) as String }
            },
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                try Self.use { _ = $0.has(-1) }
            },
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                try Self.use { _ = $0.part(from: -1, count: 2) }
            },
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                try Self.use { _ = $0.part(from: 1, count: 2) }
            },
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                try await DatabaseQueue().write { try Misplaced().insert($0) }
            },
        ]
        for (index, result) in results.enumerated() {
            let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
            #expect(text.contains("RecordColumns"), "\(index)")
        }
    }

    // MARK: - Saving

    private func rows(_ columns: String, _ save: (Database) throws -> Void) throws -> [[DatabaseValue]] {
        try savedRows(of: "tag", columns, save)
    }

    @Test("sets its columns beside others, which differ from record to record")
    func besideOthers() throws {
        struct Sub: PersistableRecord {
            static let databaseTableName = "tag"
            var tag: Tag, before: Int?, after: Int?
            func encode(to container: inout PersistenceContainer) throws {
                if let before { container["before"] = before }
                try tag.encode(to: &container)
                if let after { container["after"] = after }
                if tag.count == 2 { container["NAME"] = "replaced" }
            }
        }
        let records = (0..<24).map { n in
            Sub(tag: Tag(name: "t\(n)", count: n % 5), before: n % 3 == 1 ? n : nil, after: n % 4 > 1 ? -n : nil)
        }
        let saved = try rows("before, name, count, after") { db in for record in records { try record.insert(db) } }
        #expect(
            saved
                == records.map { record in
                    let name = record.tag.count == 2 ? "replaced" : record.tag.name
                    return [
                        record.before.databaseValue, name.databaseValue, record.tag.count.databaseValue,
                        record.after.databaseValue,
                    ]
                })
    }

    @Test("leaves alone the results that a program has kept")
    func keptResults() throws {
        final class Kept { var results: [InsertionSuccess] = [] }
        struct Sub: PersistableRecord {
            static let databaseTableName = "tag"
            var tag: Tag
            let kept: Kept
            func encode(to container: inout PersistenceContainer) throws { try tag.encode(to: &container) }
            func didInsert(_ inserted: InsertionSuccess) { if tag.count % 3 != 0 { kept.results.append(inserted) } }
        }
        let kept = Kept()
        _ = try rows("name, count") { db in
            for n in 0..<9 { try Sub(tag: Tag(name: "t\(n)", count: n), kept: kept).insert(db) }
        }
        let counts = kept.results.map { $0.persistenceContainer["count"] as Int? }
        #expect(counts == [1, 2, 4, 5, 7, 8])
    }

    @Test("that fails to set its columns leaves nothing to the next one")
    func failures() throws {
        struct Failure: Error {}
        struct Part: PersistableRecord, GeneratedRecord {
            static let databaseTableName = "tag"
            static let databaseColumns = RecordColumns(["name", "count"])
            var name: String?, count: Int
            init(name: String?, count: Int) { (self.name, self.count) = (name, count) }
            init(columns: RecordRow) throws { (name, count) = try (columns.value(0), columns.value(1)) }
            func encode(to container: inout PersistenceContainer) throws { try container.set(self) }
            func encode(to values: RecordValues) throws {
                values.set(name, at: 0)
                if count < 0 { throw Failure() }
                values.set(count, at: 1)
            }
        }
        let saved = try rows("name, count") { db in
            for n in 0..<4 {
                try Part(name: n % 2 == 0 ? nil : "\(n)", count: n).insert(db)
                #expect(throws: Failure.self) { try Part(name: "failed", count: -1).insert(db) }
            }
        }
        #expect(saved == (0..<4).map { [$0 % 2 == 0 ? .null : "\($0)".databaseValue, $0.databaseValue] })
    }

    @Test("that leaves a column out saves NULL, and not the value of the record before")
    func omissions() throws {
        struct Part: PersistableRecord, GeneratedRecord {
            static let databaseTableName = "tag"
            static let databaseColumns = RecordColumns(["name", "count"])
            var name: String?, count: Int?
            init(name: String?, count: Int?) { (self.name, self.count) = (name, count) }
            init(columns: RecordRow) throws { (name, count) = try (columns.value(0), columns.value(1)) }
            func encode(to container: inout PersistenceContainer) throws { try container.set(self) }
            func encode(to values: RecordValues) throws {
                if let name { values.set(name, at: 0) }
                if let count { values.set(count, at: 1) }
            }
        }
        let parts = (0..<8).map { Part(name: $0 % 2 == 0 ? "\($0)" : nil, count: $0 % 4 < 2 ? $0 : nil) }
        let saved = try rows("name, count") { db in for part in parts { try part.insert(db) } }
        #expect(saved == parts.map { [$0.name.databaseValue, $0.count.databaseValue] })
    }

    @Test("with one name for two columns saves the latter")
    func equalNames() throws {
        struct Part: PersistableRecord, GeneratedRecord {
            static let databaseTableName = "tag"
            static let databaseColumns = RecordColumns(["name", "count", "NAME"])
            var values: [Int]
            init(_ values: [Int]) { self.values = values }
            init(columns: RecordRow) throws { values = [] }
            func encode(to container: inout PersistenceContainer) throws { try container.set(self) }
            func encode(to row: RecordValues) throws {
                for (place, value) in values.enumerated() { row.set(value, at: place) }
            }
        }
        let saved = try rows("name, count") { db in for n in 0..<4 { try Part([n, n + 1, n + 2]).insert(db) } }
        #expect(saved == (0..<4).map { [($0 + 2).databaseValue, ($0 + 1).databaseValue] })
    }
}
