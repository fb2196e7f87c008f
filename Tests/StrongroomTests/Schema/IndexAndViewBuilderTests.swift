import Foundation
import Strongroom
import Testing

@Suite("Index and view builders")
struct IndexAndViewBuilderTests {
    @Test("Indexes on columns, with conditions written out")
    func indexes() throws {
        #expect(
            try createdSchema { (db) throws in
                try db.create(table: "team") { t in
                    t.column("id")
                    t.column("name")
                }
                try db.create(index: "i1", on: "team", columns: ["name", "id"])
                try db.create(
                    index: "i2", on: "team", columns: ["name"], options: .unique,
                    condition: Column("name") != "x'y" && Column("id") > 3)
                try db.create(index: "i3", on: "team", columns: ["name"], unique: true, ifNotExists: true)
                try db.create(
                    index: "i4", on: "team", expressions: [Column("name").collating(.nocase), "id + \(2)" as SQL])
                try db.create(indexOn: "team", columns: ["id", "name"])
            }.dropFirst() == [
                #"CREATE INDEX "i1" ON "team"("name", "id")"#,
                #"CREATE UNIQUE INDEX "i2" ON "team"("name") WHERE ("name" <> 'x''y') AND ("id" > 3)"#,
                #"CREATE UNIQUE INDEX "i3" ON "team"("name")"#,
                #"CREATE INDEX "i4" ON "team"("name" COLLATE NOCASE, id + 2)"#,
                #"CREATE INDEX "index_team_on_id_name" ON "team"("id", "name")"#,
            ])
    }

    @Test("drop(indexOn:) removes the only index on its columns, with any name")
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
            try db.create(
                view: "v1",
                as: SQLRequest<Row>(sql: "SELECT id FROM team WHERE name = ?", arguments: ["it's"]))
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
            try db.create(view: "v", as: SQLRequest<Row>(sql: "SELECT ':n', :n -- :n ?\n", arguments: ["n": "x"]))
            #expect(
                try Row.fetchOne(db, sql: "SELECT * FROM v")?.databaseValues.map(String.fromDatabaseValue) == [
                    ":n",
                    "x",
                ])
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

    @Test("An existing view is kept with ifNotExists")
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
