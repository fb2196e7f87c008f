import Strongroom
import Testing

@Suite("FTS5 tables")
struct FTS5TableTests {
    private func fts5(_ body: @escaping (FTS5TableDefinition) -> Void) throws -> String? {
        try withDatabase { (db) throws in
            try db.create(virtualTable: "document", using: FTS5(), body)
            return try definition(db, "document")
        }
    }

    @Test("All options of FTS5 go into the definition")
    func options() throws {
        let sql = try fts5 { t in
            t.tokenizer = .porter(
                wrapping: .unicode61(
                    diacritics: .remove, categories: "L* N*", separators: ["X"], tokenCharacters: [".", "'", "\""]))
            t.column("title")
            t.column("body").notIndexed()
            t.prefixes = [4, 2]
            t.columnSize = 0
            t.detail = "column"
        }
        #expect(
            sql == """
                CREATE VIRTUAL TABLE "document" USING fts5(title, body UNINDEXED, \
                tokenize='''porter'' ''unicode61'' ''remove_diacritics'' ''2'' ''categories'' ''L* N*'' \
                ''separators'' ''X'' ''tokenchars'' ''"''''.''', \
                prefix='2 4', columnSize=0, detail=column)
                """)
    }

    @Test(
        "Each tokenizer of SQLite can be had",
        arguments: [
            (
                FTS5TokenizerDescriptor.ascii(),
                "CREATE VIRTUAL TABLE \"document\" USING fts5(title, tokenize='''ascii''')"
            ),
            (
                .ascii(separators: ["a"], tokenCharacters: ["-"]),
                """
                CREATE VIRTUAL TABLE "document" USING fts5(title, \
                tokenize='''ascii'' ''separators'' ''a'' ''tokenchars'' ''-''')
                """
            ),
            (.porter(), "CREATE VIRTUAL TABLE \"document\" USING fts5(title, tokenize='''porter''')"),
            (
                .porter(wrapping: .ascii()),
                "CREATE VIRTUAL TABLE \"document\" USING fts5(title, tokenize='''porter'' ''ascii''')"
            ),
            (
                .unicode61(diacritics: .keep),
                "CREATE VIRTUAL TABLE \"document\" USING "
                    + "fts5(title, tokenize='''unicode61'' ''remove_diacritics'' ''0''')"
            ),
            (
                FTS5TokenizerDescriptor(components: ["trigram"]),
                "CREATE VIRTUAL TABLE \"document\" USING fts5(title, tokenize='''trigram''')"
            ),
        ])
    func tokenizers(_ tokenizer: FTS5TokenizerDescriptor, _ expected: String) throws {
        let sql = try fts5 { t in
            t.tokenizer = tokenizer
            t.column("title")
        }
        #expect(sql == expected)
    }

    @Test("A table without columns is refused before SQLite sees it")
    func noColumns() throws {
        try withDatabase { (db) throws -> Void in
            #expect { try db.create(virtualTable: "document", using: FTS5()) } throws: {
                ($0 as? DatabaseError)?.resultCode == .SQLITE_MISUSE
            }
        }
    }

    @Test("A temporary table is deleted with its connection, and an existing one can be kept")
    func tableOptions() throws {
        try withDatabase { (db) throws in
            for _ in 0..<2 {
                try db.create(virtualTable: "document", options: [.ifNotExists, .temporary], using: FTS5()) {
                    $0.column("title")
                }
            }
            #expect(try db.tableExists("document", in: "temp"))
            #expect(try !db.tableExists("document", in: "main"))
        }
    }

    @Test("A table with its text elsewhere says where, and can be filled by hand")
    func externalContent() throws {
        try withDatabase { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE text (key INTEGER PRIMARY KEY, title TEXT);
                    INSERT INTO text VALUES (10, 'Moby Dick');
                    """)
            try db.create(virtualTable: "document", using: FTS5()) { t in
                t.column("title")
                t.content = "text"
                t.contentRowID = "key"
            }
            #expect(
                try definition(db, "document")
                    == #"CREATE VIRTUAL TABLE "document" USING fts5(title, content='text', content_rowid='key')"#)
            #expect(try matches(db, "moby") == [])
            try db.execute(sql: "INSERT INTO document(document) VALUES ('rebuild')")
            #expect(try matches(db, "moby") == [10])
        }
    }

    @Test("A contentless table finds without keeping the text")
    func contentless() throws {
        try withDatabase { (db) throws in
            try db.create(virtualTable: "document", using: FTS5()) { t in
                t.column("title")
                t.content = ""
            }
            try db.execute(sql: "INSERT INTO document (rowid, title) VALUES (7, 'Moby Dick')")
            #expect(try matches(db, "dick") == [7])
            #expect(try String.fetchOne(db, sql: "SELECT title FROM document") == nil)
        }
    }

    @Test("A synchronized table begins with the present rows, and follows inserts, updates and deletes")
    func synchronized() throws {
        try withDatabase { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE "the text" ("the id" INTEGER PRIMARY KEY, title TEXT, body TEXT);
                    INSERT INTO "the text" VALUES (10, 'Moby Dick', 'Call me Ishmael');
                    """)
            try db.create(virtualTable: "document", using: FTS5()) { t in
                t.synchronize(withTable: "the text")
                t.column("title")
                t.column("body")
            }
            #expect(try matches(db, "moby") == [10])
            try db.execute(sql: #"INSERT INTO "the text" VALUES (20, 'Walden', 'Woods')"#)
            #expect(try matches(db, "walden") == [20])
            try db.execute(sql: #"UPDATE "the text" SET title = 'Life' WHERE "the id" = 20"#)
            #expect(try matches(db, "walden") == [])
            #expect(try matches(db, "life") == [20])
            try db.execute(sql: #"DELETE FROM "the text" WHERE "the id" = 10"#)
            #expect(try matches(db, "moby") == [])
            try db.execute(sql: "INSERT INTO document(document) VALUES ('integrity-check')")
        }
    }

    @Test("A synchronized table without a key is followed by its rowid")
    func synchronizedByRowID() throws {
        try withDatabase { (db) throws in
            try db.execute(sql: "CREATE TABLE text (title TEXT)")
            try db.create(virtualTable: "document", using: FTS5()) { t in
                t.synchronize(withTable: "text")
                t.column("title")
            }
            try db.execute(sql: "INSERT INTO text VALUES ('Moby'); INSERT INTO text VALUES ('Dick')")
            #expect(try matches(db, "dick") == [2])
        }
    }

    @Test("A table without rowids can't be synchronized with")
    func noRowID() throws {
        try withDatabase { (db) throws in
            try db.execute(sql: "CREATE TABLE text (title TEXT PRIMARY KEY) WITHOUT ROWID")
            #expect(throws: DatabaseError.self) {
                try db.create(virtualTable: "document", using: FTS5()) { t in
                    t.synchronize(withTable: "text")
                    t.column("title")
                }
            }
            #expect(try !db.tableExists("document"))
        }
    }

    @Test("A synchronized table that is there already is not filled again")
    func synchronizedOnce() throws {
        try withDatabase { (db) throws in
            try db.execute(sql: "CREATE TABLE text (id INTEGER PRIMARY KEY, title TEXT)")
            func create() throws {
                try db.create(virtualTable: "document", options: .ifNotExists, using: FTS5()) { t in
                    t.synchronize(withTable: "text")
                    t.column("title")
                }
            }
            try create()
            let again = try statements(db, create)
            #expect(!again.contains { $0.contains("rebuild") })
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger'") == 3)
        }
    }

    @Test("Without its triggers a table stays as it is")
    func dropTriggers() throws {
        try withDatabase { (db) throws in
            try db.execute(sql: "CREATE TABLE text (id INTEGER PRIMARY KEY, title TEXT)")
            try db.create(virtualTable: "document", using: FTS5()) { t in
                t.synchronize(withTable: "text")
                t.column("title")
            }
            try db.dropFTS5SynchronizationTriggers(forTable: "document")
            try db.drop(table: "document")
            try db.execute(sql: "INSERT INTO text VALUES (1, 'Moby')")
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger'") == 0)
        }
    }

    @Test("FTS5 tables follows a table in which another column is called rowid")
    func columnCalledRowID() throws {
        try withDatabase { db throws in
            try db.execute(
                sql:
                    """
                    CREATE TABLE book (id INTEGER PRIMARY KEY, rowid TEXT, title TEXT); \
                    INSERT INTO book VALUES (7, 'x', 'Walden')
                    """
            )
            try db.create(virtualTable: "book_ft", using: FTS5()) { t in
                t.synchronize(withTable: "book")
                t.column("title")
            }
            try db.execute(
                sql: "INSERT INTO book VALUES (9, 'y', 'Walden again'); UPDATE book SET title = 'Typee' WHERE id = 7")
            #expect(try matches(db, "walden", in: "book_ft") == [9])
            #expect(try matches(db, "typee", in: "book_ft") == [7])
            try db.execute(sql: "DELETE FROM book WHERE id = 9")
            #expect(try matches(db, "walden", in: "book_ft").isEmpty)
        }
    }

    @Test("FTS5 tables can be temporary")
    func temporary() throws {
        try withDatabase { db throws in
            try db.create(virtualTable: "search", options: .temporary, using: FTS5()) { t in t.column("title") }
            #expect(try db.tableExists("search", in: "temp"))
            #expect(try !db.tableExists("search", in: "main"))
        }
    }
}
