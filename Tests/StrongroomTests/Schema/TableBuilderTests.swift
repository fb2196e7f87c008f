import Foundation
import Strongroom
import Testing

@Suite("Table builders")
struct TableBuilderTests {
    @Test("Column clauses come in the order that GRDB writes them in")
    func columns() throws {
        #expect(
            try createdSchema { (db) throws in
                try db.create(table: "t") { t in
                    t.column("id", .integer).primaryKey(onConflict: .replace)
                    t.column("a", .text).check(sql: "length(a) > 2").unique(onConflict: .rollback)
                        .notNull(onConflict: .ignore)
                    t.column("b", .text).collate(.nocase).defaults(to: "it's").check { $0 > 0 }
                    t.column("c")
                }
            } == [
                """
                CREATE TABLE "t" ("id" INTEGER PRIMARY KEY ON CONFLICT REPLACE, \
                "a" TEXT NOT NULL ON CONFLICT IGNORE UNIQUE ON CONFLICT ROLLBACK CHECK (length(a) > 2), \
                "b" TEXT CHECK ("b" > 0) DEFAULT 'it''s' COLLATE NOCASE, "c")
                """
            ])
    }

    @Test("NOT NULL and UNIQUE don't spell the conflict resolution that is SQLite's own")
    func abort() throws {
        #expect(
            try createdSchema { (db) throws in
                try db.create(table: "t") { t in
                    t.column("a").notNull(onConflict: .abort)
                    t.column("b").unique(onConflict: .abort)
                    t.column("c").notNull(onConflict: .fail).unique(onConflict: .fail)
                }
            } == [
                #"""
                CREATE TABLE "t" ("a" NOT NULL, "b" UNIQUE, "c" NOT NULL ON CONFLICT FAIL UNIQUE ON CONFLICT FAIL)
                """#
            ])
    }

    @Test("Default values of each type are written out")
    func defaults() throws {
        #expect(
            try createdSchema { (db) throws in
                try db.create(table: "t") { t in
                    t.column("n", .datetime).defaults(sql: "CURRENT_TIMESTAMP")
                    t.column("f", .double).defaults(to: 1.5)
                    t.column("bl", .blob).defaults(to: Data([1, 2]))
                    t.column("bo", .boolean).notNull().defaults(to: false)
                }
            } == [
                """
                CREATE TABLE "t" ("n" DATETIME DEFAULT CURRENT_TIMESTAMP, "f" DOUBLE DEFAULT 1.5, \
                "bl" BLOB DEFAULT X'0102', \
                "bo" BOOLEAN NOT NULL DEFAULT 0)
                """
            ])
    }

    @Test("Generated columns are virtual unless they are to be stored")
    func generatedColumns() throws {
        #expect(
            try createdSchema { (db) throws in
                try db.create(table: "t") { t in
                    t.column("id", .integer)
                    t.column("g", .integer).generatedAs(sql: "id + 1", .stored)
                    t.column("h", .integer).generatedAs(Column("id") * 2)
                }
            } == [
                """
                CREATE TABLE "t" ("id" INTEGER, "g" INTEGER GENERATED ALWAYS AS (id + 1) STORED, \
                "h" INTEGER GENERATED ALWAYS AS ("id" * 2) VIRTUAL)
                """
            ])
    }

    @Test("Table constraints follow the columns: keys, uniqueness, conditions, then SQL")
    func tableConstraints() throws {
        #expect(
            try createdSchema { (db) throws in
                try db.create(table: "t") { t in
                    t.constraint(literal: "CHECK (n > \(3))")
                    t.check(Column("n") > Column("f"))
                    t.uniqueKey(["n", "f"], onConflict: .fail)
                    t.primaryKey(["n"], onConflict: .ignore)
                    t.column("n")
                    t.column(literal: "f TEXT DEFAULT \("va'l?")")
                }
            } == [
                """
                CREATE TABLE "t" ("n", f TEXT DEFAULT 'va''l?', PRIMARY KEY ("n") ON CONFLICT IGNORE, \
                UNIQUE ("n", "f") ON CONFLICT FAIL, CHECK ("n" > "f"), CHECK (n > 3))
                """
            ])
    }

    @Test("The options of a table are spelled out")
    func options() throws {
        #expect(
            try createdSchema { (db) throws in
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
        #expect(
            try createdSchema { (db) throws in
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
        #expect(
            try createdSchema(referring: "p") { t in
                t.column("teamId", .integer).references("team", onDelete: .cascade, onUpdate: .setNull, deferred: true)
                t.column("c", .text).references("country", column: "name").notNull()
                t.column("self").references("p", onDelete: .setDefault)
                t.column("x").references("plain", onDelete: .restrict)
            } == [
                """
                CREATE TABLE "p" ("teamId" INTEGER REFERENCES "team"("id") ON DELETE CASCADE ON UPDATE SET NULL \
                DEFERRABLE INITIALLY DEFERRED, "c" TEXT NOT NULL REFERENCES "country"("name"), \
                "self" REFERENCES "p"("rowid") ON DELETE SET DEFAULT, "x" REFERENCES "plain"("rowid") ON DELETE \
                RESTRICT)
                """
            ])
    }

    @Test("A foreign key of several columns refers to the primary key, or to given columns")
    func foreignKeys() throws {
        #expect(
            try createdSchema(referring: "p") { t in
                t.column("a1")
                t.column("b1")
                t.foreignKey(["a1", "b1"], references: "duo", onDelete: .cascade)
                t.foreignKey(["a1", "b1"], references: "duo", columns: ["b", "a"])
            } == [
                """
                CREATE TABLE "p" ("a1", "b1", FOREIGN KEY ("a1", "b1") REFERENCES "duo"("a", "b") ON DELETE CASCADE, \
                FOREIGN KEY ("a1", "b1") REFERENCES "duo"("b", "a"))
                """
            ])
    }

    @Test("belongsTo defines columns after the other table's key, and indexes them")
    func belongsTo() throws {
        #expect(
            try createdSchema(referring: "b") { t in
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
        #expect(
            try createdSchema(referring: "b") { t in
                t.primaryKey {
                    t.belongsTo("team")
                    t.belongsTo("duo")
                }
            } == [
                """
                CREATE TABLE "b" ("teamId" INTEGER NOT NULL REFERENCES "team"("id"), "duoA" INTEGER NOT NULL, \
                "duoB" TEXT NOT NULL, \
                PRIMARY KEY ("teamId", "duoA", "duoB"), FOREIGN KEY ("duoA", "duoB") REFERENCES "duo"("a", "b"))
                """
            ])
    }

    @Test("belongsTo a table with a key of several columns defines them all, and one index")
    func belongsToComposite() throws {
        #expect(
            try createdSchema(referring: "b") { t in
                t.belongsTo("duo")
                t.belongsTo("u", inTable: "duo").notNull().unique()
            } == [
                """
                CREATE TABLE "b" ("duoA" INTEGER, "duoB" TEXT, "uA" INTEGER NOT NULL, "uB" TEXT NOT NULL, \
                FOREIGN KEY ("duoA", "duoB") REFERENCES "duo"("a", "b"), FOREIGN KEY ("uA", "uB") \
                REFERENCES "duo"("a", "b"))
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
        #expect(
            try createdSchema { (db) throws in
                try db.create(table: "q") { t in
                    t.autoIncrementedPrimaryKey("ID")
                    t.belongsTo("Parent", inTable: "Q", indexed: false)
                }
            }.filter { !$0.contains("sqlite_sequence") } == [
                #"CREATE TABLE "q" ("ID" INTEGER PRIMARY KEY AUTOINCREMENT, "ParentID" INTEGER REFERENCES "q"("ID"))"#
            ])
    }

    @Test("The columns of a primary key's body are the key, and not null")
    func primaryKeyBody() throws {
        #expect(
            try createdSchema(referring: "m") { t in
                t.primaryKey(onConflict: .replace) {
                    t.belongsTo("team", indexed: false)
                    t.column("n", .integer)
                }
                t.column("c")
            } == [
                """
                CREATE TABLE "m" ("teamId" INTEGER NOT NULL REFERENCES "team"("id"), "n" INTEGER NOT NULL, "c", \
                PRIMARY KEY ("teamId", "n") ON CONFLICT REPLACE)
                """
            ])
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

    @Test("Several checks of a column all count")
    func severalChecks() throws {
        let statements = try createdSchema { (db) throws in
            try db.create(table: "t") { t in
                t.column("n", .integer).check { $0 > 0 }.check(sql: "n < 10")
            }
        }
        #expect(statements == [#"CREATE TABLE "t" ("n" INTEGER CHECK ("n" > 0) CHECK (n < 10))"#])
    }

    @Test("A collation is quoted where its name is no word")
    func quotedCollation() throws {
        let collation = DatabaseCollation("by length") { $0.count < $1.count ? .orderedAscending : .orderedDescending }
        let statements = try createdSchema { (db) throws in
            db.add(collation: collation)
            try db.create(table: "t") { t in t.column("a", .text).collate(collation) }
        }
        #expect(statements == [#"CREATE TABLE "t" ("a" TEXT COLLATE "by length")"#])
    }
}
