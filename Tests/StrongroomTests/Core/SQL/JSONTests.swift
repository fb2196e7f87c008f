import Foundation
import Strongroom
import Testing

@Suite("JSON")
struct JSONTests {
    /// Is stored with a column of JSON.
    private struct Person: Codable, FetchableRecord, PersistableRecord {
        struct Address: Codable, Hashable {
            var city: String
            var streets: [String]
        }

        var id: Int64
        var address: Address

        enum Columns {
            static let address = JSONColumn(CodingKeys.address)
        }
    }

    private static let hasJSONB =
        (try? DatabaseQueue().read { try String.fetchOne($0, sql: "SELECT json(jsonb('{}'))") }) == "{}"

    private func withPeople(_ body: (Database) throws -> Void) throws {
        try withDatabase { db throws in
            try db.create(table: "person") { t in
                t.primaryKey("id", .integer)
                t.column("address", .jsonText).notNull()
            }
            try Person(id: 1, address: .init(city: "Nantes", streets: ["Crébillon"])).insert(db)
            try Person(id: 2, address: .init(city: "Tours", streets: ["Colbert", "Scellerie"])).insert(db)
            try body(db)
        }
    }

    private func expect(
        _ expectations: [(SQLExpression, String?)], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try withDatabase { db throws in
            for (expression, expected) in expectations {
                let value = try SQLRequest<String>(literal: "SELECT \(expression)").fetchOne(db)
                #expect(value == expected, sourceLocation: sourceLocation)
            }
        }
    }

    @Test("Columns filter, order and select by their JSON values")
    func columns() throws {
        try withPeople { (db) throws in
            let address = Person.Columns.address
            #expect(try Person.filter(address["city"] == "Tours").fetchAll(db).map(\.id) == [2])
            #expect(try Person.order(address["$.streets[0]"]).fetchAll(db).map(\.id) == [2, 1])
            #expect(
                try Person.select(address.jsonExtract(atPath: "$.streets[1]"), as: String?.self).order(Column("id"))
                    .fetchAll(db)
                    == [nil, "Scellerie"])
            #expect(
                try Person.select(address.jsonRepresentation(atPath: "streets"), as: String.self).filter(key: 1)
                    .fetchOne(db)
                    == #"["Crébillon"]"#)
            #expect(
                try Person.select(address.jsonExtract(atPaths: ["$.city", "$.streets[0]"]), as: String.self).filter(
                    key: 2
                ).fetchOne(db)
                    == #"["Tours","Colbert"]"#)
        }
    }

    @Test("Columns are changed where they are")
    func changes() throws {
        try withPeople { (db) throws in
            let address = Person.Columns.address
            try Person.filter(key: 1).updateAll(db, address.set(to: Database.jsonSet(address, ["$.city": "Rezé"])))
            #expect(try Person.fetchOne(db, key: 1)?.address == .init(city: "Rezé", streets: ["Crébillon"]))
            try Person.filter(key: 2).updateAll(
                db, address.set(to: Database.jsonRemove(address, atPath: "$.streets[0]")))
            #expect(try Person.fetchOne(db, key: 2)?.address.streets == ["Scellerie"])
        }
    }

    @Test("Rows are gathered")
    func aggregates() throws {
        try withPeople { (db) throws in
            let city = Person.Columns.address["city"], id = Column("id")
            #expect(
                try Person.select(Database.jsonGroupArray(city), as: String.self).fetchOne(db) == #"["Nantes","Tours"]"#
            )
            #expect(
                try Person.select(Database.jsonGroupArray(city, filter: id > 1), as: String.self).fetchOne(db)
                    == #"["Tours"]"#)
            #expect(
                try Person.select(Database.jsonGroupObject(key: city, value: id), as: String.self).fetchOne(db)
                    == #"{"Nantes":1,"Tours":2}"#)
        }
    }

    @Test("That SQLite knows as such is not converted")
    func knownJSON() throws {
        try withDatabase { db throws in
            let part = JSONColumn("address").jsonRepresentation(atPath: "city")
            for expression in [part, part.asJSON.sqlExpression] {
                #expect(try SQL(Database.jsonArray([expression])).build(db).sql == #"JSON_ARRAY("address" -> ?)"#)
            }
            let column = Column("address"), city = Database.jsonExtract(column, atPath: "city").asJSON
            let known = [Database.json(column), Database.jsonArray([1]), Database.jsonGroupArray(column)].map(
                \.asJSON.sqlExpression)
            #expect(
                try SQL(Database.jsonArray(known)).build(db).sql
                    == #"JSON_ARRAY(JSON("address"), JSON_ARRAY(?), JSON_GROUP_ARRAY("address"))"#)
            #expect(
                try SQL(Database.jsonArray([city.sqlExpression])).build(db).sql.contains(
                    #"(JSON_EXTRACT("address", ?))"#))
        }
    }

    @Test("Text is read and built by SQLite's functions")
    func functions() throws {
        let array = "[1, [2, 3]]", object = #"{"a": 1, "b": null}"#
        let members: [(key: String, value: any SQLExpressible)] = [
            (key: "a", value: 1), (key: "b", value: Database.json("[2]")),
        ]
        try expect([
            (Database.json(array), "[1,[2,3]]"), (Database.jsonQuote("a\"b"), #""a\"b""#),
            (Database.jsonArrayLength(array), "2"), (Database.jsonArrayLength(array, atPath: "$[1]"), "2"),
            (Database.jsonType(array), "array"), (Database.jsonType(object, atPath: "$.b"), "null"),
            (Database.jsonIsValid(object), "1"), (Database.jsonIsValid("{"), "0"),
            (Database.jsonArray([1, 2]), "[1,2]"), (Database.jsonArray([1, "a"] as [any SQLExpressible]), #"[1,"a"]"#),
            (Database.jsonObject(members), #"{"a":1,"b":[2]}"#),
            (Database.jsonExtract(object, atPath: "$.a"), "1"),
            (Database.jsonExtract(object, atPaths: ["$.a", "$.b"]), "[1,null]"),
        ])
    }

    @Test(
        "Text that is none has a position where that shows",
        .enabled(if: Database.sqliteLibVersionNumber >= 3_042_000))
    func errorPosition() throws {
        try expect([(Database.jsonErrorPosition("[1]"), "0"), (Database.jsonErrorPosition("[1,,"), "4")])
    }

    @Test("Text is changed by SQLite's functions")
    func changedText() throws {
        let object = #"{"a":1}"#
        try expect([
            (Database.jsonInsert(object, ["$.a": 2]), object),
            (Database.jsonInsert(object, ["$.b": 2]), #"{"a":1,"b":2}"#),
            (Database.jsonReplace(object, ["$.a": 2]), #"{"a":2}"#), (Database.jsonReplace(object, ["$.b": 2]), object),
            (Database.jsonSet(object, ["$.a": 2]), #"{"a":2}"#),
            (Database.jsonSet(object, ["$.b": 2]), #"{"a":1,"b":2}"#),
            (Database.jsonPatch(object, with: #"{"a":null,"c":3}"#), #"{"c":3}"#),
            (Database.jsonRemove(object, atPath: "$.a"), "{}"),
            (Database.jsonRemove(#"{"a":1,"b":2}"#, atPaths: ["$.a", "$.b"]), "{}"),
        ])
    }

    @Test("In its binary form is built, changed and read alike", .enabled(if: JSONTests.hasJSONB))
    func binary() throws {
        let object = #"{"a":1}"#
        let members: [(key: String, value: any SQLExpressible)] = [(key: "a", value: 1)]
        let binary: [(SQLExpression, String)] = [
            (Database.jsonb(object), object), (Database.jsonbArray([1, 2]), "[1,2]"),
            (Database.jsonbObject(members), object),
            (Database.jsonbExtract(#"{"a":[1]}"#, atPath: "$.a"), "[1]"),
            (Database.jsonbExtract(object, atPaths: ["$.a", "$.b"]), "[1,null]"),
            (Database.jsonbInsert(object, ["$.b": 2]), #"{"a":1,"b":2}"#),
            (Database.jsonbReplace(object, ["$.a": 2]), #"{"a":2}"#),
            (Database.jsonbSet(object, ["$.a": 2]), #"{"a":2}"#),
            (Database.jsonbPatch(object, with: #"{"a":null}"#), "{}"),
            (Database.jsonbRemove(object, atPath: "$.a"), "{}"), (Database.jsonbRemove(object, atPaths: ["$.a"]), "{}"),
        ]
        try expect(binary.map { (Database.json($0.0), $0.1) })
        try expect(binary.map { (SQL("typeof(\($0.0))").sqlExpression, "blob") })
        try expect([
            (Database.jsonIsValid(Database.jsonb(object), options: .jsonb), "1"),
            (Database.jsonIsValid("{a:1}", options: .json5), "1"),
        ])
        try withPeople { (db) throws in
            let groups = [
                Database.jsonbGroupArray(Column("id")),
                Database.jsonbGroupObject(key: Person.Columns.address["city"], value: Column("id")),
            ]
            let read = try groups.map { try Person.select(Database.json($0), as: String.self).fetchOne(db) }
            #expect(read == ["[1,2]", #"{"Nantes":1,"Tours":2}"#])
        }
    }

    @Test("Leaves NULL as it is in other JSON")
    func null() throws {
        try withRecords { db throws in
            let array = Database.jsonArray([DatabaseValue.null.asJSON, "[1]".databaseValue.asJSON])
            #expect(try sql(db, array).hasPrefix("JSON_ARRAY(NULL, JSON"))
            #expect(try String.fetchOne(db, SQLRequest<String>(literal: "SELECT \(array)")) == "[null,[1]]")
        }
    }
}
