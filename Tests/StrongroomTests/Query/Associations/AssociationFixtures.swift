import Strongroom

struct Author: Codable, Hashable, Identifiable, FetchableRecord, PersistableRecord {
    var id: Int
    var name: String
    var country: String?

    enum Columns {
        static let id = Column("id")
        static let name = Column("name")
        static let country = Column("country")
    }

    static let books = hasMany(Book.self)
    static let biography = hasOne(Biography.self)
    static let awards = hasMany(Award.self, through: books, using: Book.awards)
}

struct Book: Codable, Hashable, Identifiable, FetchableRecord, PersistableRecord {
    var id: Int
    var authorId: Int?
    var title: String
    var price: Int

    enum Columns {
        static let title = Column("title")
        static let price = Column("price")
    }

    static let author = belongsTo(Author.self)
    static let awards = hasMany(Award.self)
    static let authorBiography = hasOne(Biography.self, through: author, using: Author.biography)
}

struct Biography: Codable, Hashable, FetchableRecord, PersistableRecord {
    var id: Int
    var authorId: Int
    var text: String

    static let author = belongsTo(Author.self)
}

struct Award: Codable, Hashable, FetchableRecord, PersistableRecord {
    var id: Int
    var bookId: Int
    var name: String

    static let book = belongsTo(Book.self)
    static let author = hasOne(Author.self, through: book, using: Book.author)
}

/// A connection to a database with three authors, four books, three awards and a biography.
func withLibrary(_ body: (Database) throws -> Void) throws {
    try withDatabase { db in
        try db.execute(
            sql: """
                CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL, country TEXT);
                CREATE TABLE book (id INTEGER PRIMARY KEY, authorId INTEGER \
                REFERENCES author, title TEXT NOT NULL, price INTEGER);
                CREATE TABLE biography (id INTEGER PRIMARY KEY, authorId INTEGER UNIQUE REFERENCES author(id), text \
                TEXT);
                CREATE TABLE award (id INTEGER PRIMARY KEY, bookId INTEGER REFERENCES book, name TEXT);
                INSERT INTO author VALUES (1, 'Melville', 'US'), (2, 'Verne', 'FR'), (3, 'Nobody', NULL);
                INSERT INTO book VALUES (1, 1, 'Moby Dick', 10), (2, 1, 'Typee', 6), (3, 2, 'Nautilus', 8), (4, NULL, \
                'Edda', 5);
                INSERT INTO biography VALUES (1, 1, 'Sailor');
                INSERT INTO award VALUES (1, 1, 'gold'), (2, 1, 'silver'), (3, 3, 'gold');
                """)
        try body(db)
    }
}
