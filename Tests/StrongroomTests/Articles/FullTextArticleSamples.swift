import Strongroom
import Testing

// The samples of the articles on full text and associations, as they stand there: `ArticleTextTests` compares.

final class StopWords: FTS5WrapperTokenizer {
    static let name = "stopwords"
    let wrappedTokenizer: any FTS5Tokenizer

    init(db: Database, arguments: [String]) throws {
        wrappedTokenizer = try db.makeTokenizer(.unicode61())
    }

    func accept(
        token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
        tokenCallback: FTS5WrapperTokenCallback
    ) throws {
        if !["a", "the"].contains(token) { try tokenCallback(token, flags) }
    }
}

struct Writer: Codable, FetchableRecord, PersistableRecord {
    var id: Int
    var name: String
    static let novels = hasMany(Novel.self)
}

struct Novel: Codable, FetchableRecord, PersistableRecord {
    var id: Int
    var writerId: Int
    var title: String
    static let writer = belongsTo(Writer.self)
}

@Suite("Samples of the articles on full text and associations")
struct FullTextArticleSamples {
    struct Article: Codable, FetchableRecord, PersistableRecord {
        var title: String
        var body: String
    }

    @Test("Searching")
    func searching() throws {
        try withDatabase { (db) throws in
            try db.create(virtualTable: "article", using: FTS5()) { t in
                t.tokenizer = .porter(wrapping: .unicode61())
                t.column("title")
                t.column("body")
            }
            try Article(title: "Whales", body: "They were hunted").insert(db)
            try Article(title: "Woods", body: "They were cut").insert(db)
            let pattern = FTS5Pattern(matchingAllPrefixesIn: "whal hunt")
            let articles = try Article.matching(pattern).order(Column.rank).fetchAll(db)
            #expect(articles.map(\.title) == ["Whales"])
        }
    }

    @Test("The text of another table")
    func synchronized() throws {
        try withDatabase { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT); INSERT INTO note VALUES (7, 'Buy milk')
                    """)
            try db.create(virtualTable: "noteIndex", using: FTS5()) { t in
                t.synchronize(withTable: "note")
                t.column("text")
            }
            #expect(try matches(db, "milk", in: "noteIndex") == [7])
            struct Note: Codable, FetchableRecord, PersistableRecord {
                var id: Int64
                var text: String
            }
            func notes(matching pattern: FTS5Pattern?) -> QueryInterfaceRequest<Note> {
                Note.filter(literal: "id IN (SELECT rowid FROM noteIndex WHERE noteIndex MATCH \(pattern))")
            }
            let milk = try notes(matching: FTS5Pattern(matchingAllTokensIn: "milk")).order(Column("id")).fetchAll(db)
            #expect(milk.map(\.id) == [7])
            #expect(try notes(matching: FTS5Pattern(matchingAllTokensIn: "?")).fetchAll(db).isEmpty)
            let pattern = FTS5Pattern(matchingAllPrefixesIn: "mil")
            let best = try Note.fetchAll(
                db,
                sql: """
                    SELECT note.* FROM note JOIN noteIndex ON noteIndex.rowid = note.id
                    WHERE noteIndex MATCH ? ORDER BY noteIndex.rank
                    """, arguments: [pattern])
            #expect(best.map(\.text) == ["Buy milk"])
        }
    }

    @Test("A tokenizer")
    func tokenizer() throws {
        let pool = try SampleDatabase.pool()
        pool.add(tokenizer: StopWords.self)
        let tokens = try pool.read { db in
            try db.makeTokenizer(StopWords.tokenizerDescriptor()).tokenize(document: "The whale").map(\.token)
        }
        #expect(tokens == ["whale"])
    }

    @Test("Rows that belong to others")
    func associations() throws {
        try withDatabase { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE writer (id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE novel (id INTEGER PRIMARY KEY, writerId INTEGER REFERENCES writer(id), title TEXT);
                    INSERT INTO writer VALUES (1, 'Melville'), (2, 'Nobody');
                    INSERT INTO novel VALUES (1, 1, 'Moby Dick'), (2, 1, 'Typee');
                    """)
            struct NovelInfo: Decodable, FetchableRecord {
                var novel: Novel
                var writer: Writer?
            }
            let infos =
                try Novel
                .including(optional: Novel.writer)
                .asRequest(of: NovelInfo.self)
                .fetchAll(db)
            #expect(infos.map(\.writer?.name) == ["Melville", "Melville"])
            struct WriterInfo: Decodable, FetchableRecord {
                var writer: Writer
                var novels: [Novel]
            }
            let writers =
                try Writer
                .including(all: Writer.novels.order(Column("title")))
                .asRequest(of: WriterInfo.self)
                .fetchAll(db)
            #expect(writers.map { $0.novels.map(\.title) } == [["Moby Dick", "Typee"], []])
            let counts = try Writer.annotated(with: Writer.novels.count).asRequest(of: Row.self).fetchAll(db)
            let idle = try Writer.having(Writer.novels.isEmpty).fetchAll(db)
            #expect(counts.map { $0["novelCount"] as Int } == [2, 0])
            #expect(idle.map(\.name) == ["Nobody"])
        }
    }

    @Test("Queries with a name")
    func commonTable() throws {
        try withDatabase { (db) throws in
            try db.execute(
                sql: """
                    CREATE TABLE novel (id INTEGER PRIMARY KEY, writerId INTEGER, title TEXT);
                    INSERT INTO novel VALUES (1, 1, 'Moby Dick'), (2, 1, 'Typee');
                    """)
            let longTitles = CommonTableExpression<Novel>(
                named: "longTitles", sql: "SELECT * FROM novel WHERE LENGTH(title) > ?", arguments: [8])
            let novels = try longTitles.all().with(longTitles).fetchAll(db)
            #expect(novels.map(\.title) == ["Moby Dick"])
        }
    }
}
