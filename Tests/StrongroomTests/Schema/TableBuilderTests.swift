import Foundation
import Strongroom
import Testing

/// The statements that change the schema, as SQLite keeps them, in the order of their creation.
private func schema(_ build: (Database) throws -> Void) throws -> [String] {
    try withDatabase { (db) throws in
        let former = try String.fetchAll(db, sql: "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL").count
        try build(db)
        return Array(try String.fetchAll(
            db, sql: """
                SELECT sql FROM (SELECT rowid AS n, sql FROM sqlite_master UNION ALL SELECT rowid, sql FROM sqlite_temp_master) \
                WHERE sql IS NOT NULL ORDER BY n
                """).dropFirst(former))
    }
}

/// Tables to refer to.
private func createDestinations(_ db: Database) throws {
    try db.create(table: "team") { t in
        t.autoIncrementedPrimaryKey("id")
        t.column("name", .text)
    }
    try db.create(table: "country") { t in
        t.primaryKey("code", .text)
        t.column("name", .text)
    }
    try db.create(table: "duo") { t in
        t.primaryKey(["a", "b"])
        t.column("a", .integer)
        t.column("b", .text)
    }
    try db.create(table: "plain") { t in t.column("x") }
}

/// The statements of one table that refers to the others.
private func schema(referring name: String, _ body: (TableDefinition) throws -> Void) throws -> [String] {
    Array(try schema { (db) throws in
        try createDestinations(db)
        try db.create(table: name, body: body)
    }.dropFirst(5))
}

@Suite("Table builders")
struct TableBuilderTests {
    @Test("Column clauses come in the order that GRDB writes them in")
    func columns() throws {
        #expect(try schema { (db) throws in
            try db.create(table: "t") { t in
                t.column("id", .integer).primaryKey(onConflict: .replace)
                t.column("a", .text).check(sql: "length(a) > 2").unique(onConflict: .rollback).notNull(onConflict: .ignore)
                t.column("b", .text).collate(.nocase).defaults(to: "it's").check { $0 > 0 }
                t.column("c")
            }
        } == ["""
            CREATE TABLE "t" ("id" INTEGER PRIMARY KEY ON CONFLICT REPLACE, \
            "a" TEXT NOT NULL ON CONFLICT IGNORE UNIQUE ON CONFLICT ROLLBACK CHECK (length(a) > 2), \
            "b" TEXT CHECK ("b" > 0) DEFAULT 'it''s' COLLATE NOCASE, "c")
            """])
    }

    @Test("NOT NULL and UNIQUE don't spell the conflict resolution that is SQLite's own")
    func abort() throws {
        #expect(try schema { (db) throws in
            try db.create(table: "t") { t in
                t.column("a").notNull(onConflict: .abort)
                t.column("b").unique(onConflict: .abort)
                t.column("c").notNull(onConflict: .fail).unique(onConflict: .fail)
            }
        } == [#"""
            CREATE TABLE "t" ("a" NOT NULL, "b" UNIQUE, "c" NOT NULL ON CONFLICT FAIL UNIQUE ON CONFLICT FAIL)
            """#])
    }

    @Test("Default values are written out, whatever their type")
    func defaults() throws {
        #expect(try schema { (db) throws in
            try db.create(table: "t") { t in
                t.column("n", .datetime).defaults(sql: "CURRENT_TIMESTAMP")
                t.column("f", .double).defaults(to: 1.5)
                t.column("bl", .blob).defaults(to: Data([1, 2]))
                t.column("bo", .boolean).notNull().defaults(to: false)
            }
        } == ["""
            CREATE TABLE "t" ("n" DATETIME DEFAULT CURRENT_TIMESTAMP, "f" DOUBLE DEFAULT 1.5, "bl" BLOB DEFAULT X'0102', \
            "bo" BOOLEAN NOT NULL DEFAULT 0)
            """])
    }

    @Test("Generated columns are virtual unless they are to be stored")
    func generatedColumns() throws {
        #expect(try schema { (db) throws in
            try db.create(table: "t") { t in
                t.column("id", .integer)
                t.column("g", .integer).generatedAs(sql: "id + 1", .stored)
                t.column("h", .integer).generatedAs(Column("id") * 2)
            }
        } == ["""
            CREATE TABLE "t" ("id" INTEGER, "g" INTEGER GENERATED ALWAYS AS (id + 1) STORED, \
            "h" INTEGER GENERATED ALWAYS AS ("id" * 2) VIRTUAL)
            """])
    }

    @Test("Table constraints follow the columns: keys, uniqueness, conditions, then SQL")
    func tableConstraints() throws {
        #expect(try schema { (db) throws in
            try db.create(table: "t") { t in
                t.constraint(literal: "CHECK (n > \(3))")
                t.check(Column("n") > Column("f"))
                t.uniqueKey(["n", "f"], onConflict: .fail)
                t.primaryKey(["n"], onConflict: .ignore)
                t.column("n")
                t.column(literal: "f TEXT DEFAULT \("va'l?")")
            }
        } == ["""
            CREATE TABLE "t" ("n", f TEXT DEFAULT 'va''l?', PRIMARY KEY ("n") ON CONFLICT IGNORE, \
            UNIQUE ("n", "f") ON CONFLICT FAIL, CHECK ("n" > "f"), CHECK (n > 3))
            """])
    }

    @Test("The options of a table are spelled out")
    func options() throws {
        #expect(try schema { (db) throws in
            try db.create(table: "t", options: [.strict, .withoutRowID, .ifNotExists]) { t in
                t.primaryKey("id", .text)
                t.column("x", .any).indexed()
            }
        } == [
            #"CREATE TABLE "t" ("id" TEXT PRIMARY KEY NOT NULL, "x" ANY) STRICT, WITHOUT ROWID"#,
            #"CREATE INDEX "t_on_x" ON "t"("x")"#,
        ])
    }

    @Test("A temporary table is in the temp schema, and ifNotExists lets an existing one be")
    func temporary() throws {
        try withDatabase { (db) throws in
            try db.create(table: "t", temporary: true) { t in t.column("a") }
            try db.create(table: "t", temporary: true, ifNotExists: true) { t in t.column("b") }
            #expect(try db.columns(in: "t", in: "temp").map(\.name) == ["a"])
        }
    }

    @Test("Only columns that are not unique get an index of their own")
    func indexedColumns() throws {
        #expect(try schema { (db) throws in
            try db.create(table: "we ird") { t in
                t.column("order").unique().indexed()
                t.column("a b").indexed()
            }
        } == [
            #"CREATE TABLE "we ird" ("order" UNIQUE, "a b")"#,
            #"CREATE INDEX "we ird_on_a b" ON "we ird"("a b")"#,
        ])
    }

    @Test("References look up the primary key, which may be a hidden rowid, or that of the table itself")
    func references() throws {
        #expect(try schema(referring: "p") { t in
            t.column("teamId", .integer).references("team", onDelete: .cascade, onUpdate: .setNull, deferred: true)
            t.column("c", .text).references("country", column: "name").notNull()
            t.column("self").references("p", onDelete: .setDefault)
            t.column("x").references("plain", onDelete: .restrict)
        } == ["""
            CREATE TABLE "p" ("teamId" INTEGER REFERENCES "team"("id") ON DELETE CASCADE ON UPDATE SET NULL \
            DEFERRABLE INITIALLY DEFERRED, "c" TEXT NOT NULL REFERENCES "country"("name"), \
            "self" REFERENCES "p"("rowid") ON DELETE SET DEFAULT, "x" REFERENCES "plain"("rowid") ON DELETE RESTRICT)
            """])
    }

    @Test("A foreign key of several columns refers to the primary key, or to given columns")
    func foreignKeys() throws {
        #expect(try schema(referring: "p") { t in
            t.column("a1")
            t.column("b1")
            t.foreignKey(["a1", "b1"], references: "duo", onDelete: .cascade)
            t.foreignKey(["a1", "b1"], references: "duo", columns: ["b", "a"])
        } == ["""
            CREATE TABLE "p" ("a1", "b1", FOREIGN KEY ("a1", "b1") REFERENCES "duo"("a", "b") ON DELETE CASCADE, \
            FOREIGN KEY ("a1", "b1") REFERENCES "duo"("b", "a"))
            """])
    }

    @Test("belongsTo defines columns after the other table's key, and indexes them")
    func belongsTo() throws {
        #expect(try schema(referring: "b") { t in
            t.belongsTo("team").notNull()
            t.belongsTo("country", onDelete: .cascade)
            t.belongsTo("x", inTable: "plain").unique()
            t.belongsTo("other", inTable: "team", indexed: false)
        } == [
            """
            CREATE TABLE "b" ("teamId" INTEGER NOT NULL REFERENCES "team"("id"), \
            "countryCode" TEXT REFERENCES "country"("code") ON DELETE CASCADE, \
            "xId" INTEGER UNIQUE REFERENCES "plain"("rowid"), "otherId" INTEGER REFERENCES "team"("id"))
            """,
            #"CREATE INDEX "b_on_teamId" ON "b"("teamId")"#,
            #"CREATE INDEX "b_on_countryCode" ON "b"("countryCode")"#,
        ])
    }

    @Test("belongsTo in a primary key needs no index: the key has one")
    func belongsToInKey() throws {
        #expect(try schema(referring: "b") { t in
            t.primaryKey {
                t.belongsTo("team")
                t.belongsTo("duo")
            }
        } == [
            """
            CREATE TABLE "b" ("teamId" INTEGER NOT NULL REFERENCES "team"("id"), "duoA" INTEGER NOT NULL, "duoB" TEXT NOT NULL, \
            PRIMARY KEY ("teamId", "duoA", "duoB"), FOREIGN KEY ("duoA", "duoB") REFERENCES "duo"("a", "b"))
            """,
        ])
    }

    @Test("belongsTo a table with a key of several columns defines them all, and one index")
    func belongsToComposite() throws {
        #expect(try schema(referring: "b") { t in
            t.belongsTo("duo")
            t.belongsTo("u", inTable: "duo").notNull().unique()
        } == [
            """
            CREATE TABLE "b" ("duoA" INTEGER, "duoB" TEXT, "uA" INTEGER NOT NULL, "uB" TEXT NOT NULL, \
            FOREIGN KEY ("duoA", "duoB") REFERENCES "duo"("a", "b"), FOREIGN KEY ("uA", "uB") REFERENCES "duo"("a", "b"))
            """,
            #"CREATE INDEX "index_b_on_duoA_duoB" ON "b"("duoA", "duoB")"#,
            #"CREATE UNIQUE INDEX "index_b_on_uA_uB" ON "b"("uA", "uB")"#,
        ])
    }

    @Test("belongsTo finds a table by its plural name")
    func belongsToPlural() throws {
        try withDatabase { (db) throws in
            try db.create(table: "countries") { t in t.primaryKey("code", .text) }
            try db.create(table: "b") { t in t.belongsTo("country") }
            #expect(try db.foreignKeys(on: "b").map(\.destinationTable) == ["countries"])
        }
    }

    @Test("belongsTo the table itself uses its own key, however it is spelled")
    func belongsToItself() throws {
        #expect(try schema { (db) throws in
            try db.create(table: "q") { t in
                t.autoIncrementedPrimaryKey("ID")
                t.belongsTo("Parent", inTable: "Q", indexed: false)
            }
        }.filter { !$0.contains("sqlite_sequence") } == [
            #"CREATE TABLE "q" ("ID" INTEGER PRIMARY KEY AUTOINCREMENT, "ParentID" INTEGER REFERENCES "q"("ID"))"#,
        ])
    }

    @Test("The columns of a primary key's body are the key, and not null")
    func primaryKeyBody() throws {
        #expect(try schema(referring: "m") { t in
            t.primaryKey(onConflict: .replace) {
                t.belongsTo("team", indexed: false)
                t.column("n", .integer)
            }
            t.column("c")
        } == ["""
            CREATE TABLE "m" ("teamId" INTEGER NOT NULL REFERENCES "team"("id"), "n" INTEGER NOT NULL, "c", \
            PRIMARY KEY ("teamId", "n") ON CONFLICT REPLACE)
            """])
    }

    @Test("A reference to a table that does not exist is an error", arguments: [true, false])
    func missingDestination(byColumn: Bool) throws {
        _ = try withDatabase { (db) throws in
            #expect {
                try db.create(table: "b") { t in
                    if byColumn { t.column("x").references("nope") } else { t.belongsTo("nope") }
                }
            } throws: { ($0 as? DatabaseError)?.message == "no such table: nope" }
        }
    }

    @Test("Altering a table makes the changes in their order")
    func alter() throws {
        try withDatabase { (db) throws in
            try createDestinations(db)
            try db.alter(table: "team") { t in
                t.add(column: "x", .text).notNull().defaults(to: "a")
                t.add(column: "z", .integer).references("team").indexed()
                t.addColumn(literal: "s TEXT DEFAULT \("q'")")
                t.addColumn(sql: "u")
                t.rename(column: "name", to: "title")
                t.rename(column: "z", to: "zz")
                t.drop(column: "x")
            }
            #expect(try db.columns(in: "team").map(\.name) == ["id", "title", "zz", "s", "u"])
            #expect(try db.columns(in: "team")[3].defaultValueSQL == "'q'''")
            #expect(try db.indexes(on: "team").map(\.name) == ["team_on_z"])
            #expect(try db.foreignKeys(on: "team").map(\.destinationTable) == ["team"])
        }
    }

    @Test("Tables are renamed and dropped")
    func renameAndDrop() throws {
        try withDatabase { (db) throws in
            try createDestinations(db)
            try db.rename(table: "plain", to: "group")
            #expect(try db.tableExists("group") && !db.tableExists("plain"))
            try db.drop(table: "group")
            #expect(try !db.tableExists("group"))
        }
    }

    @Test("A second primary key is a fatal error")
    func secondPrimaryKey() async {
        await #expect(processExitsWith: .failure) {
            try withDatabase { (db) throws in
                try db.create(table: "t") { t in
                    t.primaryKey(["a"])
                    t.primaryKey { t.column("b") }
                }
            }
        }
    }
}

@Suite("Index and view builders")
struct IndexAndViewBuilderTests {
    @Test("Indexes on columns, with conditions written out")
    func indexes() throws {
        #expect(try schema { (db) throws in
            try db.create(table: "team") { t in
                t.column("id")
                t.column("name")
            }
            try db.create(index: "i1", on: "team", columns: ["name", "id"])
            try db.create(
                index: "i2", on: "team", columns: ["name"], options: .unique,
                condition: Column("name") != "x'y" && Column("id") > 3)
            try db.create(index: "i3", on: "team", columns: ["name"], unique: true, ifNotExists: true)
            try db.create(index: "i4", on: "team", expressions: [Column("name").collating(.nocase), "id + \(2)" as SQL])
            try db.create(indexOn: "team", columns: ["id", "name"])
        }.dropFirst() == [
            #"CREATE INDEX "i1" ON "team"("name", "id")"#,
            #"CREATE UNIQUE INDEX "i2" ON "team"("name") WHERE ("name" <> 'x''y') AND ("id" > 3)"#,
            #"CREATE UNIQUE INDEX "i3" ON "team"("name")"#,
            #"CREATE INDEX "i4" ON "team"("name" COLLATE NOCASE, id + 2)"#,
            #"CREATE INDEX "index_team_on_id_name" ON "team"("id", "name")"#,
        ])
    }

    @Test("drop(indexOn:) removes the only index on its columns, whatever its name")
    func dropIndexOn() throws {
        try withDatabase { (db) throws in
            try db.create(table: "t") { t in
                t.column("a").unique()
                t.column("b").unique()
            }
            try db.create(index: "i1", on: "t", columns: ["a"])
            try db.create(index: "i2", on: "t", columns: ["a", "b"])
            try db.drop(indexOn: "t", columns: ["a"])
            try db.drop(indexOn: "t", columns: ["A", "B"])
            #expect(try Set(db.indexes(on: "t").map(\.name)) == ["i1", "sqlite_autoindex_t_1", "sqlite_autoindex_t_2"])
            #expect(throws: DatabaseError.self) { try db.drop(indexOn: "t", columns: ["b"]) }
        }
    }

    @Test("Views show the rows of requests, whose arguments are written out")
    func views() throws {
        try withDatabase { (db) throws in
            try db.execute(sql: "CREATE TABLE team(id, name); INSERT INTO team VALUES (1, 'it''s'), (2, 'b')")
            try db.create(view: "v1", as: SQLRequest<Row>(sql: "SELECT id FROM team WHERE name = ?", arguments: ["it's"]))
            try db.create(
                view: "v2", options: [.temporary, .ifNotExists], columns: ["n"],
                asLiteral: "SELECT name || ':?' FROM team WHERE id > \(1)")
            #expect(try Int.fetchAll(db, sql: "SELECT id FROM v1") == [1])
            #expect(try String.fetchAll(db, sql: "SELECT n FROM temp.v2") == ["b:?"])
            try db.drop(view: "v1")
            #expect(try !db.viewExists("v1"))
        }
    }

    @Test("Named arguments of a view are written out, strings that look like parameters are not")
    func namedArguments() throws {
        try withDatabase { (db) throws in
            try db.create(
                view: "v", as: SQLRequest<Row>(sql: "SELECT ':n', :n -- :n ?\n", arguments: ["n": "x"]))
            #expect(try Row.fetchOne(db, sql: "SELECT * FROM v")?.databaseValues.map(String.fromDatabaseValue) == [":n", "x"])
        }
    }

    @Test("A view with an argument too few is refused before SQLite sees it")
    func missingArgument() throws {
        _ = try withDatabase { (db) throws in
            #expect {
                try db.create(view: "v", as: SQLRequest<Row>(sql: "SELECT ?, ?", arguments: [1]))
            } throws: { ($0 as? DatabaseError)?.resultCode == .SQLITE_MISUSE }
        }
    }

    private struct Module: VirtualTableModule {
        final class Definition { var columns: [String] = [] }
        let moduleName = "fts5"

        func makeTableDefinition(configuration: VirtualTableConfiguration) -> Definition { Definition() }
        func moduleArguments(for definition: Definition, in db: Database) -> [String] { definition.columns }
        func database(_ db: Database, didCreate tableName: String, using definition: Definition) throws {
            if definition.columns.contains("refused") { throw DatabaseError(message: "refused") }
        }
    }

    @Test("A virtual table gets the arguments that its module makes of the definition")
    func virtualTable() throws {
        try withDatabase { (db) throws in
            try db.create(virtualTable: "f", using: Module()) { $0.columns = ["a", "b"] }
            #expect(try db.columns(in: "f").map(\.name) == ["a", "b"])
        }
    }

    @Test("A virtual table whose module fails at the end is not created")
    func failingVirtualTable() throws {
        try withDatabase { (db) throws in
            #expect(throws: DatabaseError.self) {
                try db.create(virtualTable: "f", using: Module()) { $0.columns = ["refused"] }
            }
            #expect(try !db.tableExists("f"))
        }
    }
}

@Suite("Inflections")
struct InflectionTests {
    @Test("English plurals and singulars", arguments: [
        ("team", "teams"), ("country", "countries"), ("person", "people"), ("address", "addresses"), ("status", "statuses"),
        ("news", "news"), ("child", "children"), ("box", "boxes"), ("bookPerson", "bookPeople"), ("day", "days"),
        ("analysis", "analyses"), ("author1", "authors1"), ("index", "indices"), ("mouse", "mice"), ("quiz", "quizzes"),
        ("wife", "wives"), ("wolf", "wolves"), ("category", "categories"), ("movie", "movies"), ("foot", "feet"),
        ("human", "humen"), ("lens", "lenses"), ("myLeaf", "myLeaves"), ("database", "databases"), ("hero", "heroes"), ("process", "processes"), ("latestNews", "latestNews"), ("myMouse", "myMice"),
        ("canvas", "canvases"), ("octopus", "octopi"), ("goose", "gooses"), ("safe", "saves"), ("_12", "_12"),
    ])
    func english(singular: String, plural: String) {
        #expect(Inflections.default.pluralize(singular) == plural)
        #expect(Inflections.default.pluralize(plural) == plural)
        #expect(Inflections.default.singularize(plural) == singular)
        #expect(Inflections.default.singularize(singular) == singular)
    }

    @Test("Rules that are added last come first")
    func customRules() {
        var inflections = Inflections()
        #expect(inflections.pluralize("bureau") == "bureau")
        inflections.plural("$", "s")
        inflections.plural("eau$", "eaux")
        inflections.irregularSuffix("oeil", "yeux")
        inflections.uncountableWords(["gaz"])
        #expect(inflections.pluralize("bureau") == "bureaux")
        #expect(inflections.pluralize("oeil") == "yeux")
        #expect(inflections.singularize("yeux") == "oeil")
        #expect(inflections.pluralize("gaz") == "gaz")
    }

    @Test("Several checks of a column all count")
    func severalChecks() throws {
        let statements = try schema { (db) throws in
            try db.create(table: "t") { t in
                t.column("n", .integer).check { $0 > 0 }.check(sql: "n < 10")
            }
        }
        #expect(statements == [#"CREATE TABLE "t" ("n" INTEGER CHECK ("n" > 0) CHECK (n < 10))"#])
    }

    @Test("A collation is quoted where its name is no word")
    func quotedCollation() throws {
        let collation = DatabaseCollation("by length") { $0.count < $1.count ? .orderedAscending : .orderedDescending }
        let statements = try schema { (db) throws in
            db.add(collation: collation)
            try db.create(table: "t") { t in t.column("a", .text).collate(collation) }
        }
        #expect(statements == [#"CREATE TABLE "t" ("a" TEXT COLLATE "by length")"#])
    }

    @Test("A view that is there is left as it is where that is wanted")
    func viewThatExists() throws {
        try withDatabase { (db) throws in
            try db.create(view: "v", asLiteral: "SELECT 1 AS a")
            try db.create(view: "v", options: .ifNotExists, asLiteral: "SELECT 2 AS a")
            #expect(try Int.fetchOne(db, sql: "SELECT a FROM v") == 1)
            #expect(throws: DatabaseError.self) { try db.create(view: "v", asLiteral: "SELECT 3 AS a") }
        }
    }

    @Test("Arguments that no parameter takes are an error")
    func argumentsTooMany() throws {
        try withDatabase { (db) throws in
            let literal = SQL(sql: "SELECT ?", arguments: [1, 2])
            let error = try #require(throws: DatabaseError.self) { try db.create(view: "v", asLiteral: literal) }
            #expect(error.resultCode == .SQLITE_MISUSE)
        }
    }
}
