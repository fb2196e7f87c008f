import GRDB

/// The tables of the application, with some rows.
func makeSchema(_ db: Database) throws {
    try db.create(table: "country") { t in
        t.primaryKey("code", .text)
        t.column("name", .text).notNull()
    }
    try db.create(table: "author") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("name", .text).notNull()
        t.belongsTo("country")
    }
    try db.create(table: "book") { t in
        t.autoIncrementedPrimaryKey("id")
        t.belongsTo("author")
        t.column("title", .text).notNull()
        t.column("kind", .text)
        t.column("year", .integer)
        t.column("price", .double)
    }
    try db.create(table: "coverImage") { t in
        t.autoIncrementedPrimaryKey("id")
        t.belongsTo("book").notNull()
        t.column("path", .text).notNull()
    }
    try db.create(table: "person") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("name", .text).notNull()
        t.column("email", .text)
    }
    try db.create(table: "citizenship") { t in
        t.primaryKey {
            t.belongsTo("country")
            t.belongsTo("person")
        }
    }
    try db.create(table: "team") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("name", .text).notNull()
        t.column("color", .text)
    }
    try db.create(table: "player") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("name", .text).notNull()
        t.column("score", .integer).notNull()
        t.column("email", .text)
        t.column("bonus", .integer)
        t.column("height", .double)
        t.column("isVerified", .boolean)
        t.column("firstName", .text)
        t.column("lastName", .text)
        t.column("maxScore", .integer)
        t.column("creationDate", .datetime)
        t.belongsTo("team")
    }
    try db.create(table: "award") { t in
        t.autoIncrementedPrimaryKey("id")
        t.belongsTo("team")
        t.belongsTo("player")
        t.column("name", .text).notNull()
    }
    try db.create(table: "place") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("title", .text).notNull()
        t.column("name", .text)
        t.column("isFavorite", .boolean).notNull()
        t.column("latitude", .double).notNull()
        t.column("longitude", .double).notNull()
    }
    for table in ["credit", "debit"] {
        try db.create(table: table) { t in
            t.column(table == "credit" ? "destinationAccount" : "sourceAccount", .text)
            t.column("amount", .integer)
        }
    }
    try db.create(table: "chat") { t in t.autoIncrementedPrimaryKey("id") }
    try db.create(table: "message") { t in
        t.autoIncrementedPrimaryKey("id")
        t.belongsTo("chat")
        t.column("date", .datetime)
        t.column("text", .text)
    }
    try db.create(table: "appConfiguration") { t in t.column("flag", .boolean).notNull() }
    try db.create(virtualTable: "document", using: FTS5()) { t in
        t.column("id")
        t.column("title")
        t.column("body")
        t.column("content")
    }
    try addRows(db)
}

private func addRows(_ db: Database) throws {
    try db.execute(sql: """
        INSERT INTO country (code, name) VALUES ('US', 'United States'), ('FR', 'France');
        INSERT INTO author (name, countryCode) VALUES ('Herman Melville', 'US'), ('Marguerite Yourcenar', 'FR');
        INSERT INTO book (authorId, title, kind, year)
            VALUES (1, 'Moby-Dick', 'novel', 1851), (2, 'Fires', 'poetry', 1936);
        INSERT INTO team (name, color) VALUES ('Reds', 'Red'), ('Blues', 'Blue');
        INSERT INTO player (name, score, teamId) VALUES ('Arthur', 100, 1), ('Barbara', 1000, 2), ('Craig', 500, NULL);
        INSERT INTO place (title, name, isFavorite, latitude, longitude) VALUES ('Paris', 'Paris', TRUE, 48.8, 2.3);
        INSERT INTO document (content) VALUES ('One ring to rule them all');
        """)
}
