import CSQLCipher
import Strongroom
import TestSupport
import Testing

@Suite("FTS5 tokenizers")
struct TokenizerTests {
    private func words(_ tokens: [(token: String, flags: FTS5TokenFlags)]) -> [String] {
        tokens.map { $0.flags.contains(.colocated) ? "=" + $0.token : $0.token }
    }

    private func insert(_ db: Database, _ bodies: String...) throws {
        for body in bodies { try db.execute(sql: "INSERT INTO document VALUES (?)", arguments: [body]) }
    }

    @Test("SQLite's tokenizers return their tokens")
    func builtIn() throws {
        try withDatabase { (db) throws in
            let unicode = try db.makeTokenizer(.unicode61())
            #expect(try words(unicode.tokenize(document: "Jack & Jill's Éclair")) == ["jack", "jill", "s", "eclair"])
            #expect(try words(unicode.tokenize(query: "")) == [])
            let porter = try db.makeTokenizer(.porter(wrapping: .ascii(tokenCharacters: ["."])))
            #expect(try words(porter.tokenize(query: "a.b running")) == ["a.b", "run"])
        }
    }

    @Test("A tokenizer that is unknown to SQLite, or has invalid arguments, can't be created")
    func unknown() throws {
        try withDatabase { (db) throws in
            #expect { try db.makeTokenizer(FTS5TokenizerDescriptor(components: ["missing"])) } throws: {
                ($0 as? DatabaseError)?.message == "no such tokenizer: missing"
            }
            #expect(throws: DatabaseError.self) {
                try db.makeTokenizer(FTS5TokenizerDescriptor(components: ["unicode61", "colour", "red"]))
            }
        }
    }

    @Test("A tokenizer may outlive its connection")
    func outlives() throws {
        var tokenizer: (any FTS5Tokenizer)?
        try withDatabase { (db) throws in
            db.add(tokenizer: SynonymTokenizer.self)
            tokenizer = try db.makeTokenizer(SynonymTokenizer.tokenizerDescriptor())
        }
        #expect(try words(tokenizer!.tokenize(document: "to the first")) == ["first", "=1st"])
    }

    @Test("A table uses a tokenizer written in Swift")
    func custom() throws {
        try withTokenizer(LetterTokenizer.self) { (db) throws in
            #expect(
                try definition(db, "document")
                    == #"CREATE VIRTUAL TABLE "document" USING fts5(body, tokenize='''letters''')"#)
            try insert(db, "abc", "cd e")
            #expect(try matches(db, "a") == [1])
            #expect(try matches(db, "c") == [1, 2])
            #expect(try matches(db, "de") == [2])
        }
    }

    @Test("A wrapper drops tokens and adds synonyms")
    func wrapper() throws {
        try withTokenizer(SynonymTokenizer.self) { (db) throws in
            try insert(db, "to the FIRST", "the second")
            #expect(try matches(db, "first") == [1])
            #expect(try matches(db, "1st") == [1])
            #expect(try matches(db, "the OR to") == [])
            #expect(
                try String.fetchOne(db, sql: "SELECT highlight(document, 0, '<', '>') FROM document('1st')")
                    == "to the <FIRST>")
            let tokenizer = try db.makeTokenizer(SynonymTokenizer.tokenizerDescriptor())
            #expect(try words(tokenizer.tokenize(document: "the first")) == ["first", "=1st"])
            #expect(try words(tokenizer.tokenize(query: "the first")) == ["first"])
        }
    }

    @Test("A wrapper wraps a wrapper")
    func nested() throws {
        try withTokenizer(NestedTokenizer.self) { (db) throws in
            try insert(db, "the first")
            #expect(try matches(db, "first") == [1])
            let tokenizer = try db.makeTokenizer(NestedTokenizer.tokenizerDescriptor())
            #expect(try words(tokenizer.tokenize(document: "the first")) == ["FIRST", "=1ST"])
        }
    }

    @Test("An error in a tokenizer is the error of the insertion, code and message", arguments: ["synonyms", "nested"])
    func errorInDocument(_ name: String) throws {
        try withTokenizer(NestedTokenizer.self) { (db) throws in
            try db.create(virtualTable: "other", using: FTS5()) { t in
                t.tokenizer = FTS5TokenizerDescriptor(components: [name])
                t.column("body")
            }
            #expect { try db.execute(sql: "INSERT INTO other VALUES ('a bomb')") } throws: { error in
                let error = error as? DatabaseError
                return error?.resultCode == .SQLITE_CONSTRAINT && error?.message == "no bombs here"
                    && error?.sql == "INSERT INTO other VALUES ('a bomb')"
            }
            #expect { try db.execute(sql: "INSERT INTO other VALUES ('a trap')") } throws: { error in
                let error = error as? DatabaseError
                return error?.resultCode == .SQLITE_ERROR && error?.message == "it was a trap"
            }
            #expect(try Int.fetchOne(db, sql: "SELECT COUNT(*) FROM other") == 0)
        }
    }

    @Test("An error in a tokenizer is the error of the query")
    func errorInQuery() throws {
        try withTokenizer(SynonymTokenizer.self) { (db) throws in
            #expect { try matches(db, "bomb") } throws: { ($0 as? DatabaseError)?.message == "no bombs here" }
            let pattern = FTS5Pattern(matchingAllTokensIn: "a bomb")
            #expect { try Table("document").matching(pattern).fetchAll(db) } throws: {
                ($0 as? DatabaseError)?.message == "no bombs here"
            }
        }
    }

    @Test("An error in a tokenizer that is called by hand is thrown, and none comes after it")
    func errorByHand() throws {
        try withTokenizer(SynonymTokenizer.self) { (db) throws in
            let tokenizer = try db.makeTokenizer(SynonymTokenizer.tokenizerDescriptor())
            #expect { try tokenizer.tokenize(document: "a trap") } throws: {
                ($0 as? DatabaseError)?.message == "it was a trap"
            }
            #expect { try db.execute(sql: "SELECT missing") } throws: {
                ($0 as? DatabaseError)?.message == "no such column: missing"
            }
            #expect(try words(tokenizer.tokenize(document: "fine")) == ["fine"])
        }
    }

    @Test("An error in a tokenizer's initializer is the error of the statement")
    func errorInInitializer() throws {
        try withDatabase { (db) throws in
            db.add(tokenizer: LetterTokenizer.self)
            let descriptor = LetterTokenizer.tokenizerDescriptor(arguments: ["no 'quoted' argument"])
            #expect { try db.makeTokenizer(descriptor) } throws: { error in
                let error = error as? DatabaseError
                return error?.resultCode == .SQLITE_MISUSE && error?.message == "letters: no 'quoted' argument"
            }
            #expect {
                try db.create(virtualTable: "document", using: FTS5()) { t in
                    t.tokenizer = descriptor
                    t.column("body")
                }
            } throws: { error in
                let error = error as? DatabaseError
                return error?.resultCode == .SQLITE_MISUSE && error?.message == "letters: no 'quoted' argument"
            }
        }
    }

    @Test("A connection without the tokenizer can't use the table, and says so")
    func missingTokenizer() throws {
        let folder = try TemporaryFolder()
        for adds in [true, false] {
            let queue = try DatabaseQueue(path: folder.path("db"), configuration: .encrypted())
            if adds { queue.add(tokenizer: LetterTokenizer.self) }
            try queue.write { (db) throws in
                if adds {
                    try db.execute(sql: "CREATE VIRTUAL TABLE document USING fts5(body, tokenize=letters)")
                } else {
                    #expect { try matches(db, "a") } throws: {
                        ($0 as? DatabaseError)?.message?.contains("no such tokenizer: letters") == true
                    }
                }
            }
            try queue.close()
        }
    }

    @Test("Tokenizers are released: those of tables with the connection, others with their last reference")
    func released() throws {
        try withTokenizer(CountedTokenizer.self) { (db) throws in
            try insert(db, "a b c")
            #expect(CountedTokenizer.count == 1)
            try withExtendedLifetime(db.makeTokenizer(CountedTokenizer.tokenizerDescriptor())) {
                #expect(CountedTokenizer.count == 2)
            }
            #expect(CountedTokenizer.count == 1)
        }
        #expect(CountedTokenizer.count == 0)
    }

    @Test("FTS5's own interface is within reach")
    func api() throws {
        try withDatabase { (db) throws in
            #expect(FTS5.api(db).pointee.iVersion >= 2)
            #expect(FTS5.api(db) == FTS5.api(db))
        }
    }
}
