import Strongroom
import Testing

private struct Parent: Codable, FetchableRecord, PersistableRecord {
    var a: Int
    var b: String
    var rank: Int?

    static let children = hasMany(Child.self)
}

private struct Child: Codable, FetchableRecord, PersistableRecord {
    var parentA: Int?
    var parentB: String?
    var name: String

    static let parent = belongsTo(Parent.self)
}

@Suite("Associations by keys of several columns")
struct CompoundKeyTests {
    private struct Family: Decodable, FetchableRecord {
        var parent: Parent
        var children: [Child]
    }

    /// Each parent has a child of the name `a/b`; one child has no parent.
    private func withFamilies(count: Int = 10, _ body: (Database) throws -> Void) throws {
        try withDatabase { db throws in
            try db.execute(
                sql: """
                    CREATE TABLE parent (a INTEGER, b TEXT, rank INTEGER, PRIMARY KEY (a, b));
                    CREATE INDEX backwards ON parent (b DESC, a);
                    CREATE TABLE child (parentA INTEGER, parentB TEXT, name TEXT, FOREIGN KEY (parentA, parentB) \
                    REFERENCES parent);
                    """)
            try db.execute(
                literal: """
                    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
                    INSERT INTO parent SELECT i, 'b' || (i % 3), -i FROM n;
                    INSERT INTO child SELECT a, b, a || '/' || b FROM parent;
                    INSERT INTO child VALUES (NULL, 'b1', 'orphan');
                    """)
            try body(db)
        }
    }

    private func expectWhole(_ families: [Family], count: Int, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(families.count == count, sourceLocation: sourceLocation)
        let isWhole = families.allSatisfy { $0.children.map(\.name) == ["\($0.parent.a)/\($0.parent.b)"] }
        #expect(isWhole, sourceLocation: sourceLocation)
    }

    @Test("Compound associations fetch the associated rows of any number of rows", arguments: [10, 600, 20_000])
    func many(count: Int) throws {
        try withFamilies(count: count) { db throws in
            let request = Parent.including(all: Parent.children).asRequest(of: Family.self)
            expectWhole(try request.fetchAll(db), count: count)
        }
    }

    @Test(
        "Compound associations fetch the associated rows of any number of rows that can't be queried twice",
        arguments: [10, 600, 20_000])
    func manyOfGroups(count: Int) throws {
        try withFamilies(count: count) { db throws in
            let request = Parent.select(Column("a"), Column("b"), max(Column("rank")).forKey("rank"))
                .group(Column("a"), Column("b")).including(all: Parent.children).asRequest(of: Family.self)
            expectWhole(try request.fetchAll(db), count: count)
        }
    }

    @Test("Compound associations fetch the rows of the fetched ones when a limit leaves the choice to SQLite")
    func limited() throws {
        try withFamilies { db throws in
            // The keys alone would come from another index, in another order.
            let request = Parent.filter(Column("rank") < 0).including(all: Parent.children).asRequest(of: Family.self)
            expectWhole(try request.limit(3).fetchAll(db), count: 3)
            expectWhole(try request.order(Column("b")).limit(4, offset: 1).fetchAll(db), count: 4)
            expectWhole(try request.orderByPrimaryKey().limit(4).fetchAll(db), count: 4)
            let first = try #require(try request.fetchOne(db))
            expectWhole([first], count: 1)
        }
    }

    @Test("Compound associations prefetch rows whose condition contains a selected column")
    func namedSelection() throws {
        try withFamilies { db throws in
            let request = Parent.annotated(with: (Column("rank") * 2).forKey("double"))
                .filter(Column("double") < -10).including(all: Parent.children)
            expectWhole(try request.asRequest(of: Family.self).fetchAll(db), count: 5)
        }
    }

    @Test("Compound associations lead to nothing where a part of the key is NULL")
    func null() throws {
        try withFamilies { db throws in
            let orphan = Child(parentA: nil, parentB: "b1", name: "orphan")
            #expect(try sql(db, orphan.request(for: Child.parent)) == #"SELECT * FROM "parent" WHERE ? [0]"#)
            #expect(try orphan.request(for: Child.parent).fetchOne(db) == nil)
            let rows = try Row.fetchAll(
                db, Child.including(optional: Child.parent.including(all: Parent.children)).order(sql: "name DESC"))
            #expect(rows[0]["name"] == "orphan")
            #expect(rows.map { $0.prefetchedRows["children"]?.count } == [0] + Array(repeating: 1, count: 10))
        }
    }
}
