import CSQLCipher
import Foundation
import Strongroom
import Testing

/// A row of values of all kinds.
private struct Sample: Codable, Hashable, FetchableRecord, PersistableRecord {
    var id: Int
    var text: String
    var bytes: Data
    var number: Double

    init(_ id: Int) {
        self.id = id
        text = "\(id): \"quoted\" \\ \n\u{1}\0é"
        bytes = id == 0 ? Data() : Data("\(id)".utf8) + [0, 0xFF]
        number = Double(id).squareRoot() * 1e-7
    }
}

@Suite("More keys than a statement takes arguments")
struct ManyKeysTests {
    /// More than `SQLITE_MAX_VARIABLE_NUMBER`.
    private static let count = 40_000
    private let keys = Array(0..<ManyKeysTests.count)

    private func withSamples(_ body: (Database) throws -> Void) throws {
        try withDatabase { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE sample (id INTEGER PRIMARY KEY, text TEXT UNIQUE, bytes BLOB UNIQUE, number REAL, \
                    UNIQUE (id, number))
                    """)
            for id in stride(from: 0, to: Self.count, by: 1_000) { try Sample(id).insert(db) }
            // Builds differ in their limit.
            sqlite3_limit(db.sqliteConnection, SQLITE_LIMIT_VARIABLE_NUMBER, 32_766)
            #expect(db.maximumStatementArgumentCount < Self.count)
            try body(db)
        }
    }

    @Test("More keys than a statement takes arguments fetch, count, update and delete rows")
    func primaryKeys() throws {
        try withSamples { db throws in
            #expect(try Sample.fetchAll(db, keys: keys).map(\.id) == Array(stride(from: 0, to: Self.count, by: 1_000)))
            #expect(try Sample.filter(keys: keys).fetchCount(db) == 40)
            #expect(try Sample.filter(keys: keys.dropFirst()).updateAll(db, Column("number").set(to: 1)) == 39)
            #expect(try Sample.deleteAll(db, keys: keys.dropFirst(1_001)) == 38)
        }
    }

    @Test("More keys than a statement takes arguments are compared as arguments are, for each type")
    func types() throws {
        try withSamples { db throws in
            let all = keys.map(Sample.init)
            #expect(try Sample.filter(all.map(\.text).contains(Column("text"))).fetchCount(db) == 40)
            #expect(try Sample.filter(all.map(\.bytes).contains(Column("bytes"))).fetchCount(db) == 40)
            #expect(try Sample.filter(all.map(\.number).contains(Column("number"))).fetchCount(db) == 40)
            let mixed = all.flatMap { [$0.id.databaseValue, $0.text.databaseValue, $0.bytes.databaseValue, .null] }
            #expect(try Sample.filter(mixed.contains(Column("bytes"))).fetchCount(db) == 40)
            // A list has no affinity: a number is as good as its text for a column of text, and the other way round.
            #expect(try Sample.filter(keys.map(\.description).contains(Column("id"))).fetchCount(db) == 40)
        }
    }

    @Test("More keys than a statement takes arguments keep the meaning of NULL in a list, and outside of it")
    func null() throws {
        try withSamples { db throws in
            #expect(try Sample.filter(!keys.contains(Column("id"))).fetchCount(db) == 0)
            #expect(try Sample.filter(!keys.dropFirst().contains(Column("id"))).fetchCount(db) == 1)
            let withNull = keys.dropFirst().map { $0 == 1 ? DatabaseValue.null : $0.databaseValue }
            #expect(try Sample.filter(!withNull.contains(Column("id"))).fetchCount(db) == 0)
        }
    }

    @Test("More keys than a statement takes arguments may stand beside expressions, and beside other lists")
    func besideOthers() throws {
        try withSamples { db throws in
            var expressions: [any SQLExpressible] = Array(keys.dropFirst())
            expressions += [Column("number") * 0, Column("id")] as [any SQLExpressible]
            #expect(try Sample.filter(expressions.contains(Column("id"))).fetchCount(db) == 40)
            let lists = (0..<5).map { _ in keys.prefix(8_000).contains(Column("id")) }
            #expect(try Sample.filter(lists.joined(operator: .and)).fetchCount(db) == 8)
        }
    }

    @Test("More keys than a statement takes arguments may stand in a literal")
    func literals() throws {
        try withSamples { db throws in
            #expect(
                try Int.fetchOne(db, SQLRequest<Int>(literal: "SELECT COUNT(*) FROM sample WHERE id IN \(keys)")) == 40)
        }
    }

    @Test("More keys than a statement takes arguments may be dictionaries, with NULL in them")
    func dictionaries() throws {
        try withSamples { db throws in
            let single: [[String: (any DatabaseValueConvertible)?]] = keys.map { ["text": Sample($0).text] }
            #expect(try Sample.filter(keys: single).fetchCount(db) == 40)
            try db.execute(sql: "UPDATE sample SET number = NULL WHERE id = 1000")
            let compound: [[String: (any DatabaseValueConvertible)?]] = keys.map {
                ["id": $0, "number": $0 < 2_000 ? nil : Sample($0).number]
            }
            #expect(
                try Sample.filter(keys: compound).order(Column("id")).fetchAll(db, as: Int.self).prefix(2) == [
                    1_000, 2_000,
                ])
            #expect(try Sample.deleteAll(db, keys: compound) == 39)
        }
    }

    @Test("More keys than a statement takes arguments are arguments one by one where there are few")
    func few() throws {
        try withSamples { db throws in
            let request = Sample.filter(keys: [1, 2, 3])
            #expect(try sql(db, request) == #"SELECT * FROM "sample" WHERE "id" IN (?, ?, ?) [1, 2, 3]"#)
        }
    }
}

extension QueryInterfaceRequest {
    /// The leftmost column of the rows.
    fileprivate func fetchAll(_ db: Database, as type: Int.Type) throws -> [Int] {
        try asRequest(of: Int.self).fetchAll(db)
    }
}
