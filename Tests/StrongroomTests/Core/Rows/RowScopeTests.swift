import Strongroom
import Testing

@Suite("Row scopes")
struct RowScopeTests {
    private let sql = "SELECT 1 AS a, 2 AS b, 3 AS c, NULL AS d"

    /// The row of `sql` as an adapter shows it: live, then copied.
    private func withRows(_ adapter: any RowAdapter, _ body: (Row) throws -> Void) throws {
        try withDatabase { db in
            let cursor = try Row.fetchCursor(db, sql: sql, adapter: adapter)
            let row = try #require(try cursor.next())
            try body(row)
            try body(row.copy())
        }
    }

    @Test("are rows of their own on the columns of the statement")
    func scopes() throws {
        let adapter = ScopeAdapter(base: RangeRowAdapter(0..<2), scopes: ["rest": SuffixRowAdapter(fromIndex: 2)])
        try withRows(adapter) { row in
            #expect(Array(row).map(\.0) == ["a", "b"])
            let rest = try #require(row.scopes["rest"])
            #expect(rest == ["c": 3, "d": nil])
            #expect(rest["c"] == 3)
            #expect(row.scopes["nope"] == nil)
            #expect(rest.unadapted == ["a": 1, "b": 2, "c": 3, "d": nil])
        }
    }

    @Test("leave the row whole without a base adapter")
    func withoutBase() throws {
        try withRows(ScopeAdapter(["x": RangeRowAdapter(1..<2)])) { row in
            #expect(row.count == 4)
            #expect(row.scopes["x"] == ["b": 2])
        }
    }

    @Test("are a collection of names and rows")
    func collection() throws {
        try withRows(ScopeAdapter(["x": RangeRowAdapter(0..<1), "y": RangeRowAdapter(1..<2)])) { row in
            #expect(row.scopes.count == 2)
            #expect(Set(row.scopes.names) == ["x", "y"])
            let pairs = row.scopes.sorted { $0.name < $1.name }
            #expect(pairs.map(\.name) == ["x", "y"])
            #expect(pairs.map(\.row) == [["a": 1], ["b": 2]])
        }
        try withRows(EmptyRowAdapter()) { #expect($0.scopes.isEmpty) }
    }

    private let nested = ScopeAdapter(
        base: RangeRowAdapter(0..<1),
        scopes: [
            "team": ScopeAdapter(
                base: RangeRowAdapter(1..<2),
                scopes: [
                    "country": ScopeAdapter(base: RangeRowAdapter(2..<3), scopes: ["x": RangeRowAdapter(0..<1)])
                ]),
            "other": ScopeAdapter(base: EmptyRowAdapter(), scopes: ["x": RangeRowAdapter(2..<3)]),
        ])

    @Test("nest, and the nearest of a name is found in their tree")
    func tree() throws {
        try withRows(nested) { row in
            #expect(row.scopesTree.names == ["team", "country", "other", "x"])
            #expect(row.scopesTree["team"] == row.scopes["team"])
            #expect(row.scopesTree["country"]?["c"] == 3)
            #expect(row.scopes["country"] == nil)
            // Two levels down in `other`, three in `team`.
            #expect(row.scopesTree["x"] == ["c": 3])
            #expect(row.scopes["team"]?.scopesTree["x"] == ["a": 1])
            #expect(row.scopesTree["nope"] == nil)
        }
    }

    @Test("follow the cursor from row to row, and stay in copies")
    func liveScopes() throws {
        try withDatabase { db in
            let adapter = ScopeAdapter(["s": ScopeAdapter(["t": RangeRowAdapter(0..<1)])])
            let cursor = try Row.fetchCursor(db, sql: "SELECT 1 AS a UNION ALL SELECT 2", adapter: adapter)
            var copies: [Row] = []
            while let row = try cursor.next() {
                let scope = try #require(row.scopesTree["t"])
                #expect(scope["a"] as Int == row["a"])
                copies.append(row.copy())
            }
            #expect(copies.map { $0.scopesTree["t"]?["a"] as Int? } == [1, 2])
        }
    }

    @Test("count for equality")
    func equality() throws {
        let adapter = ScopeAdapter(["x": RangeRowAdapter(0..<1)])
        try withRows(adapter) { row in
            #expect(row == row.copy())
            #expect(row != row.unscoped)
            #expect(row.unscoped == ["a": 1, "b": 2, "c": 3, "d": nil])
            #expect(row.unscoped.scopes.isEmpty)
        }
        try withDatabase { db in
            let row = try Row.fetchOne(db, sql: "SELECT 1 AS a", adapter: ScopeAdapter(["x": RangeRowAdapter(0..<1)]))
            let sameScope = try Row.fetchOne(
                db, sql: "SELECT 1 AS a", adapter: ScopeAdapter(["x": SuffixRowAdapter(fromIndex: 0)]))
            let otherName = try Row.fetchOne(
                db, sql: "SELECT 1 AS a", adapter: ScopeAdapter(["y": RangeRowAdapter(0..<1)]))
            let otherValue = try Row.fetchOne(db, sql: "SELECT 1 AS a", adapter: ScopeAdapter(["x": EmptyRowAdapter()]))
            #expect(row == sameScope)
            #expect(row != otherName)
            #expect(row != otherValue)
        }
    }

    @Test("count when values that are not NULL are looked for")
    func nonNull() throws {
        try withRows(ScopeAdapter(base: SuffixRowAdapter(fromIndex: 3), scopes: ["x": RangeRowAdapter(0..<1)])) { row in
            #expect(row.containsNonNullValue)
            #expect(!row.unscoped.containsNonNullValue)
        }
        try withRows(ScopeAdapter(base: EmptyRowAdapter(), scopes: ["x": SuffixRowAdapter(fromIndex: 3)])) { row in
            #expect(!row.containsNonNullValue)
        }
    }

    @Test("are added to those of an adapter, and replace those of the same name")
    func addingScopes() throws {
        let adapter = ScopeAdapter(
            base: RangeRowAdapter(0..<1), scopes: ["x": EmptyRowAdapter(), "y": RangeRowAdapter(1..<2)]
        )
        .addingScopes(["x": RangeRowAdapter(2..<3), "z": EmptyRowAdapter()])
        try withRows(adapter) { row in
            #expect(Array(row.columnNames) == ["a"])
            #expect(row.scopes["x"] == ["c": 3])
            #expect(row.scopes["y"] == ["b": 2])
            #expect(row.scopes["z"] == [:])
        }
        try withRows(RangeRowAdapter(0..<1).addingScopes([:])) { #expect($0.scopes.isEmpty) }
    }

    @Test("show in the debug description after all columns, unless there is no scope and nothing hidden")
    func debugDescriptionOfAll() throws {
        try withRows(SuffixRowAdapter(fromIndex: 0)) { #expect($0.debugDescription == "[a:1 b:2 c:3 d:NULL]") }
        try withRows(ScopeAdapter(["x": SuffixRowAdapter(fromIndex: 2)])) { row in
            #expect(
                row.debugDescription == """
                    ▿ [a:1 b:2 c:3 d:NULL]
                      unadapted: [a:1 b:2 c:3 d:NULL]
                      - x: [c:3 d:NULL]
                    """)
            #expect(row.unscoped.debugDescription == row.description)
        }
    }

    @Test("show in the debug description of a row, with the columns that the adapter hides")
    func debugDescription() throws {
        try withRows(nested) { row in
            #expect(row.description == "[a:1]")
            #expect(
                row.debugDescription == """
                    ▿ [a:1]
                      unadapted: [a:1 b:2 c:3 d:NULL]
                      - other: []
                        - x: [c:3]
                      - team: [b:2]
                        - country: [c:3]
                          - x: [a:1]
                    """)
        }
    }
}
