import Foundation
import Strongroom
import Testing

/// The spelling of SQL, where several spellings are equivalent: programs that come from GRDB may compare the
/// text.
@Suite("Expressions: spelling")
struct ExpressionSpellingTests {
    private func expect(_ expected: [(SQLExpression, String)], sourceLocation: SourceLocation = #_sourceLocation) throws
    {
        try withRecords { db throws in
            for (expression, text) in expected {
                #expect(try sql(db, expression) == text, sourceLocation: sourceLocation)
            }
        }
    }

    @Test("Collations follow a compared expression, and precede others")
    func collations() throws {
        let folded = name.collating(.nocase)
        try expect([
            (folded == name.collating(.binary), #""name" = "name" COLLATE BINARY COLLATE NOCASE"#),
            (name == folded, #""name" = "name" COLLATE NOCASE"#),
            (!(folded == "a"), #""name" <> ? COLLATE NOCASE ["a"]"#),
            (("a"..."b").contains(folded), #""name" BETWEEN ? AND ? COLLATE NOCASE ["a", "b"]"#),
            (!("a"..."b").contains(folded), #""name" NOT BETWEEN ? AND ? COLLATE NOCASE ["a", "b"]"#),
            (["a", "b"].contains(folded), #"("name" COLLATE NOCASE) IN (?, ?) ["a", "b"]"#),
            (folded.like("a%"), #"("name" COLLATE NOCASE) LIKE ? ["a%"]"#),
            (folded.collating(.binary), #""name" COLLATE NOCASE COLLATE BINARY"#),
            (
                (name == "a" && id == 1).collating(.nocase),
                #"("name" = ? COLLATE NOCASE) AND ("id" = ? COLLATE NOCASE) ["a", 1]"#
            ),
            ((-score).collating(.nocase), #"-"score" COLLATE NOCASE"#), (-folded, #"-("name" COLLATE NOCASE)"#),
            (!folded, #"NOT "name" COLLATE NOCASE"#),
        ])
    }

    @Test("A truth value on the left is moved to the right, and constants are folded")
    func truth() throws {
        try expect([
            (true == score, #""score" = ? [1]"#), (false != score, #""score" <> ? [0]"#),
            (true.sqlExpression == true, "? [1]"), (1.databaseValue == false, "? [0]"),
            (DatabaseValue.null == true, "NULL"),
            (!DatabaseValue.null, "NULL"), (!0.databaseValue, "? [1]"), (!2.databaseValue, "NOT ? [2]"),
            (!1.0.databaseValue, "NOT ? [1.0]"),
            (Player.all().exists() == true, #"(EXISTS (SELECT * FROM "player")) = ? [1]"#),
        ])
    }

    @Test("Functions of the program are written as SQLite's are")
    func functions() throws {
        let twice = DatabaseFunction("twice", argumentCount: 1) { (Int.fromDatabaseValue($0[0]) ?? 0) * 2 }
        try withRecords { db throws in
            db.add(function: twice)
            #expect(try sql(db, twice(score + 1) > 3) == #"twice("score" + ?) > ? [1, 3]"#)
            #expect(try sql(db, twice(DatabaseValue.null)) == "twice(NULL)")
            #expect(try SQLRequest<Int>("SELECT \(twice(4))").fetchOne(db) == 8)
        }
    }

    @Test("JSON becomes a part of JSON, where text would become a string")
    func json() throws {
        let info = JSONColumn("name"), alias = TableAlias(name: "p")
        let asJSON = Database.sqliteLibVersionNumber >= 3_045_000 ? "JSONB" : "JSON"
        try expect([
            (Database.jsonArray([info, info]), #"JSON_ARRAY(\#(asJSON)("name"), \#(asJSON)("name"))"#),
            (Database.jsonArray([name.asJSON]), #"JSON_ARRAY(\#(asJSON)("name"))"#),
            (Database.jsonArray([name, id]), #"JSON_ARRAY("name", "id")"#),
            (Database.jsonArray([info["a"]]), #"JSON_ARRAY("name" ->> ?) ["a"]"#),
            (Database.jsonObject(["a": info]), #"JSON_OBJECT(?, \#(asJSON)("name")) ["a"]"#),
            (Database.jsonSet(info, ["$.a": info]), #"JSON_SET("name", ?, \#(asJSON)("name")) ["$.a"]"#),
            (Database.jsonQuote(info), #"JSON_QUOTE(\#(asJSON)("name"))"#),
            (Database.jsonPatch(info, with: info), #"JSON_PATCH("name", "name")"#),
            (Database.jsonGroupArray(info), #"JSON_GROUP_ARRAY(\#(asJSON)("name"))"#),
            (Database.jsonGroupObject(key: id, value: info), #"JSON_GROUP_OBJECT("id", \#(asJSON)("name"))"#),
        ])
        try withRecords { db throws in
            let request = Player.aliased(alias).select(Database.jsonArray([alias[info]]))
            #expect(try sql(db, request) == #"SELECT JSON_ARRAY(\#(asJSON)("p"."name")) FROM "player" "p""#)
            try db.execute(sql: #"INSERT INTO player (name) VALUES ('{"a":[1]}')"#)
            #expect(try String.fetchOne(db, Player.select(Database.jsonArray([info]))) == #"[{"a":[1]}]"#)
        }
    }

    @Test("Literals say NULL, the name of a plain collation, and an empty list")
    func literals() throws {
        try withRecords { (db) throws in
            func built(_ literal: SQL) throws -> String { try literal.build(db).sql }
            #expect(try built("\(nil as Int?), \(DatabaseValue.null)") == "NULL, NULL")
            #expect(try built("name COLLATE \(.nocase)") == "name COLLATE NOCASE")
            #expect(try built("id IN \([] as [Int])") == "id IN (SELECT NULL WHERE NULL)")
            #expect(try SQLRequest<Int>("SELECT 1 IN \([] as [Int])").fetchOne(db) == 0)
        }
    }

    private enum Wrapped: RawRepresentable, SQLSelectable, SQLOrderingTerm {
        case score
        init?(rawValue: Column) { return nil }
        var rawValue: Column { Column("score") }
    }

    private enum PlayerColumn: String, ColumnExpression { case id, name }

    @Test("Enums are columns, wrapped columns select and order, and nil is NULL")
    func wrappers() throws {
        try withRecords { (db) throws in
            let some: Column? = Column("score"), none: SQLOrdering? = nil
            #expect(
                try sql(
                    db, Player.select(PlayerColumn.name, Wrapped.score).order(Wrapped.score).filter(PlayerColumn.id > 1)
                )
                    == #"SELECT "name", "score" FROM "player" WHERE "id" > ? ORDER BY "score" [1]"#)
            #expect(
                try sql(db, Player.select([some, id]).order([none, id.desc]))
                    == #"SELECT "score", "id" FROM "player" ORDER BY NULL, "id" DESC"#)
        }
    }

    @Test("A text that orders may be more than an expression, so it can't be reversed")
    func textualOrder() async throws {
        try withRecords { (db) throws in
            #expect(try sql(db, Player.order(SQL("score DESC"))) == #"SELECT * FROM "player" ORDER BY score DESC"#)
            #expect(
                try sql(db, Player.order(SQL("score").sqlExpression).reversed())
                    == #"SELECT * FROM "player" ORDER BY score DESC"#)
        }
        await #expect(processExitsWith: .failure) {
            try withRecords { _ = try Player.order(SQL("score DESC")).reversed().fetchAll($0) }
        }
    }
}
