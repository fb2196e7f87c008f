import Foundation
import Strongroom
import Testing

@Suite("A generated record")
struct GeneratedRecordTests {
    private func queue(_ sql: String) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase { try $0.usePassphrase("x'\(String(repeating: "2d", count: 32))'") }
        let path = NSTemporaryDirectory() + UUID().uuidString + ".sqlite"
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try queue.write { try $0.execute(sql: sql) }
        return queue
    }

    @Test("is fetched as it was saved")
    func roundTrip() throws {
        try queue(Document.table).write { db in
            var saved = (0..<20).map { Document.sample($0) }
            for index in saved.indices { try saved[index].insert(db) }
            #expect(saved.map(\.id) == (1...20).map { Int64($0) })
            for index in saved.indices { saved[index].isSelected = false }
            #expect(try Document.fetchAll(db) == saved)
            saved[3].title = "changed"
            saved[3].receiver = nil
            try saved[3].update(db)
            #expect(try Document.fetchOne(db, key: 4) == saved[3])
            try saved[4].save(db)
            #expect(try Document.fetchCount(db) == 20)
        }
    }

    @Test("has the columns of its properties and of its parts, in their order")
    func columns() {
        #expect(Document.databaseTableName == "documents")
        #expect(Address.databaseTableName == "address")
        #expect(
            Document.databaseColumns.names == [
                "id", "document_title", "kind", "rating", "pages", "created", "opened", "from_street", "from_zip_code",
                "tags", "notes", "to_street", "to_zip_code", "uuid", "data", "default",
            ])
        #expect(Document.Columns.title.name == "document_title")
    }

    @Test("is stored as its strategies say")
    func stored() throws {
        try queue(Document.table).write { db in
            var document = Document.sample(1)
            try document.insert(db)
            let row = try #require(try Row.fetchOne(db, sql: "SELECT * FROM documents"))
            #expect(row["created"] == "2023-11-14T22:13:21Z")
            #expect(row["opened"] == 1)
            #expect(row["tags"] == #"["a","1"]"#)
            #expect(row["kind"] == "invoice")
            #expect(row["to_street"] == "To 1")
        }
    }

    @Test("reads columns in any order, of a copied row, of an adapted row, and without those that have a default")
    func orders() throws {
        try queue("CREATE TABLE t (x)").read { db in
            let sql = "SELECT 7 AS count, 'a' AS name UNION ALL SELECT 8, 'b'"
            let expected = [Tag(name: "a", count: 7), Tag(name: "b", count: 8)]
            #expect(try Tag.fetchAll(db, sql: sql) == expected)
            #expect(try Row.fetchAll(db, sql: sql).map { try Tag(row: $0) } == expected)
            let adapter = ColumnMapping(["count": "a", "name": "b"])
            #expect(
                try Tag.fetchAll(db, sql: "SELECT 0, 7 AS a, 'a' AS b UNION ALL SELECT 0, 8, 'b'", adapter: adapter)
                    == expected)
            let scoped = try Row.fetchAll(
                db, sql: "SELECT 'x' AS name, 1 AS count, 'a' AS name, 7 AS count",
                adapter: ScopeAdapter(["tag": SuffixRowAdapter(fromIndex: 2)]))
            #expect(try Tag(row: #require(scoped[0].scopes["tag"])) == expected[0])
            #expect(try Tag(row: scoped[0]) == Tag(name: "x", count: 1))
        }
    }

    @Test("alternates with another record over the rows of one cursor")
    func alternation() throws {
        try queue("CREATE TABLE t (x)").read { db in
            let rows = try Row.fetchCursor(
                db, sql: "SELECT 1 AS count, 'a' AS name, 's' AS street UNION ALL SELECT 2, 'b', 't'")
            var found: [String] = []
            while let row = try rows.next() {
                found.append(try Tag(row: row).name + Address(row: row).street + String(try Tag(row: row).count))
            }
            #expect(found == ["as1", "bt2"])
        }
    }

    @Test("keeps a default value where a row has no such column, and throws for other missing columns and for NULL")
    func missing() throws {
        let queue = try queue(Document.table)
        try queue.write { db in
            var document = Document.sample(5)
            try document.insert(db)
            let names = Document.databaseColumns.names
            let others = names.filter { $0 != "pages" && $0 != "rating" }.map(\.quotedDatabaseIdentifier).joined(
                separator: ", ")
            let read = try #require(try Document.fetchOne(db, sql: "SELECT \(others) FROM documents"))
            #expect(read.pages == 1)
            #expect(read.rating == nil)
            #expect(throws: RowDecodingError.self) { try Document.fetchOne(db, sql: "SELECT 1 AS id") }
            try db.execute(sql: "UPDATE documents SET document_title = NULL")
            #expect(throws: RowDecodingError.self) { try Document.fetchOne(db) }
        }
    }

    @MainActor @Test("composes with requests, associations and observations")
    func composition() throws {
        let queue = try queue(
            """
            CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
            CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, authorId INTEGER REFERENCES author(id))
            """)
        struct BookInfo: FetchableRecord, Decodable {
            var book: Title, author: Name
            struct Title: Decodable { var title: String }
            struct Name: Decodable { var name: String }
        }
        try queue.write { db in
            let author = Author(name: "Arthur")
            try author.insert(db)
            #expect(author.id == 1)
            for title in ["b", "a", "c"] {
                var book = Book(title: title, authorId: author.id)
                try book.insert(db)
            }
            let books = try Book.filter { $0.title > "a" }.order(\.title).fetchAll(db)
            #expect(books.map(\.title) == ["b", "c"])
            let request = Book.including(required: Book.author).order(Book.Columns.id)
            #expect(try BookInfo.fetchAll(db, request).map(\.author.name) == ["Arthur", "Arthur", "Arthur"])
            #expect(try author.request(for: Author.books).fetchCount(db) == 3)
            #expect(try Author.fetchAll(db, keys: [1]).map(\.name) == ["Arthur"])
        }
        let observation = ValueObservation.tracking { try Book.fetchCount($0) }
        nonisolated(unsafe) var counts: [Int] = []
        let cancellable = observation.start(
            in: queue, scheduling: .immediate, onError: { _ in }, onChange: { counts.append($0) })
        #expect(counts == [3])
        cancellable.cancel()
    }

    @Test("keeps a callback of the program's own")
    func callback() throws {
        try queue("CREATE TABLE counted (id INTEGER PRIMARY KEY)").write { db in
            var counted = Counted()
            try counted.insert(db)
            #expect(counted.id == 1)
            #expect(counted.insertions == 1)
        }
    }
}
