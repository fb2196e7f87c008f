import Strongroom
import Testing

@Suite("FTS3 and FTS4 tables")
struct FTS3And4TableTests {
    private func fts4(_ body: @escaping (FTS4TableDefinition) -> Void) throws -> String? {
        try withDatabase { (db) throws in
            try db.create(virtualTable: "document", using: FTS4(), body)
            return try definition(db, "document")
        }
    }

    @Test("An FTS3 table has its columns and its tokenizer")
    func fts3() throws {
        try withDatabase { (db) throws in
            try db.create(virtualTable: "document", using: FTS3()) { t in
                t.tokenizer = .porter
                t.column("title")
                t.column("a \"body\"")
            }
            #expect(
                try definition(db, "document")
                    == #"CREATE VIRTUAL TABLE "document" USING fts3(title, "a ""body""", tokenize=porter)"#)
            #expect(try db.columns(in: "document").map(\.name) == ["title", "a \"body\""])
            try db.execute(sql: "INSERT INTO document (title) VALUES ('Running')")
            #expect(try matches(db, "runs") == [1])
        }
    }

    @Test("A table without columns gets one")
    func noColumns() throws {
        try withDatabase { (db) throws in
            try db.create(virtualTable: "document", using: FTS3())
            #expect(try db.columns(in: "document").map(\.name) == ["content"])
        }
    }

    @Test("All options of FTS4 go into the definition")
    func fts4Options() throws {
        let sql = try fts4 { t in
            t.tokenizer = .unicode61(diacritics: .keep, separators: ["X"], tokenCharacters: [".", "\"", "'"])
            t.column("title")
            t.column("body").notIndexed()
            t.column("lid").asLanguageId()
            t.matchinfo = "fts3"
            t.prefixes = [4, 2]
        }
        #expect(
            sql == """
                CREATE VIRTUAL TABLE "document" USING fts4(title, body, notindexed=body, languageid="lid", \
                tokenize=unicode61 "remove_diacritics=0" "separators=X" "tokenchars=""'.", \
                matchinfo="fts3", prefix="2,4")
                """)
    }

    @Test("Text is packed and unpacked by the functions of the options")
    func compression() throws {
        try withDatabase { (db) throws in
            db.add(
                function: DatabaseFunction("pack", argumentCount: 1, pure: true) { values in
                    String.fromDatabaseValue(values[0]).map { String($0.reversed()) }
                })
            try db.create(virtualTable: "document", using: FTS4()) { t in
                t.column("title")
                t.compress = "pack"
                t.uncompress = "pack"
            }
            try db.execute(sql: "INSERT INTO document (title) VALUES ('Moby')")
            #expect(try String.fetchOne(db, sql: "SELECT title FROM document WHERE document MATCH 'moby'") == "Moby")
            #expect(try String.fetchOne(db, sql: "SELECT c0title FROM document_content") == "yboM")
        }
    }

    @Test("A column that is not indexed is stored, and not found")
    func notIndexed() throws {
        try withDatabase { (db) throws in
            try db.create(virtualTable: "document", using: FTS4()) { t in
                t.column("title")
                t.column("body").notIndexed()
            }
            try insertDocuments(db)
            #expect(try matches(db, "ishmael") == [3])
            #expect(try String.fetchOne(db, sql: "SELECT body FROM document") == "Call me Ishmael")
        }
    }

    @Test("A contentless table finds without keeping the text")
    func contentless() throws {
        try withDatabase { (db) throws in
            try db.create(virtualTable: "document", using: FTS4()) { t in
                t.column("title")
                t.content = ""
            }
            try db.execute(sql: "INSERT INTO document (docid, title) VALUES (7, 'Moby Dick')")
            #expect(try matches(db, "dick") == [7])
            #expect(try !db.tableExists("document_content"))
        }
    }

    @Test("Accents count or don't, as the tokenizer says")
    func diacritics() throws {
        #expect(try FTS3.tokenize("Éclair", withTokenizer: .unicode61()) == ["eclair"])
        #expect(try FTS3.tokenize("Éclair", withTokenizer: .unicode61(diacritics: .keep)) == ["éclair"])
        #expect(try FTS3.tokenize("ộ", withTokenizer: .unicode61(diacritics: .remove)) == ["o"])
    }

    @Test("Text is cut as the table would cut it")
    func tokenize() throws {
        #expect(try FTS3.tokenize("Jack & Jill's run") == ["jack", "jill", "s", "run"])
        #expect(try FTS3.tokenize("running", withTokenizer: .porter) == ["run"])
        #expect(try FTS3.tokenize("a.b-c", withTokenizer: .unicode61(tokenCharacters: ["."])) == ["a.b", "c"])
        #expect(try FTS3.tokenize("") == [])
    }

    @Test("A synchronized table begins with the present rows, and follows inserts, updates and deletes")
    func synchronized() throws {
        try withDatabase { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE text (id INTEGER PRIMARY KEY, title TEXT, body TEXT);
                    INSERT INTO text VALUES (10, 'Moby Dick', 'Call me Ishmael');
                    """)
            try db.create(virtualTable: "document", using: FTS4()) { t in
                t.synchronize(withTable: "text")
                t.column("title")
                t.column("body")
            }
            #expect(try matches(db, "moby") == [10])
            try db.execute(sql: "INSERT INTO text VALUES (20, 'Walden', 'Woods')")
            #expect(try matches(db, "walden") == [20])
            try db.execute(sql: "UPDATE text SET title = 'Life' WHERE id = 20")
            #expect(try matches(db, "walden") == [])
            #expect(try matches(db, "life") == [20])
            try db.execute(sql: "DELETE FROM text WHERE id = 10")
            #expect(try matches(db, "moby") == [])
            try db.execute(sql: "INSERT INTO document(document) VALUES ('integrity-check')")
        }
    }

    @Test("Without its triggers a table stays as it is")
    func dropTriggers() throws {
        try withDatabase { (db) throws in
            try db.execute(sql: "CREATE TABLE text (id INTEGER PRIMARY KEY, title TEXT)")
            try db.create(virtualTable: "document", using: FTS4()) { t in
                t.synchronize(withTable: "text")
                t.column("title")
            }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger'") == 4)
            try db.dropFTS4SynchronizationTriggers(forTable: "document")
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM sqlite_master WHERE type = 'trigger'") == 0)
            try db.drop(table: "document")
            try db.execute(sql: "INSERT INTO text VALUES (1, 'Moby')")
        }
    }
}
