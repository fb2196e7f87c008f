import Strongroom
import Testing

@Suite("A row adapter")
struct RowAdapterTests {
    /// The row of `SELECT 1 AS a, 2 AS b, 3 AS c, 4 AS A` as an adapter shows it: live, then copied.
    private func withRows(_ adapter: any RowAdapter, _ body: (Row) throws -> Void) throws {
        try withDatabase { db in
            let cursor = try Row.fetchCursor(db, sql: "SELECT 1 AS a, 2 AS b, 3 AS c, 4 AS A", adapter: adapter)
            let row = try #require(try cursor.next())
            try body(row)
            try body(row.copy())
        }
    }

    @Test("maps columns to new names in the order of the statement, and hides the others")
    func columnMapping() throws {
        try withRows(ColumnMapping(["x": "C", "y": "b", "z": "a"])) { row in
            #expect(row == ["z": 1, "y": 2, "x": 3])
            #expect(row["x"] == 3)
            #expect(row["Y"] == 2)
            #expect(row[0] == 1)
            #expect(!row.hasColumn("c"))
            #expect(row.unadapted == ["a": 1, "b": 2, "c": 3, "A": 4])
        }
    }

    @Test("maps one column to several names")
    func columnMappingTwice() throws {
        try withRows(ColumnMapping(["x": "c", "y": "c"])) { row in
            #expect(row == ["x": 3, "y": 3])
        }
    }

    @Test("throws SQLITE_MISUSE with column and SQL when the statement lacks a mapped column")
    func columnMappingMissing() throws {
        try withDatabase { db in
            let adapter = ColumnMapping(["x": "nope"])
            let fetches: [() throws -> Void] = [
                { _ = try Row.fetchCursor(db, sql: "SELECT 1 AS a", adapter: adapter) },
                { _ = try Row.fetchAll(db, sql: "SELECT 1 AS a WHERE 0", adapter: adapter) },
                { _ = try Int.fetchOne(db, sql: "SELECT 1 AS a", adapter: adapter) },
                { _ = try Row.fetchOne(db, sql: "SELECT 1 AS a", adapter: ScopeAdapter(["s": adapter])) },
            ]
            for fetch in fetches {
                let error = try #require(#expect(throws: DatabaseError.self) { try fetch() })
                #expect(error.resultCode == .SQLITE_MISUSE)
                #expect(error.message == "Mapping references missing column nope. Valid column names are: a.")
                #expect(error.sql?.hasPrefix("SELECT 1 AS a") == true)
            }
        }
    }

    @Test("renames all columns")
    func renaming() throws {
        try withRows(RenameColumnAdapter { $0 + "!" }) { row in
            #expect(row == ["a!": 1, "b!": 2, "c!": 3, "A!": 4])
            #expect(row["A!"] == 1)
        }
    }

    @Test("shows a range of the columns, as far as they exist")
    func ranges() throws {
        try withRows(RangeRowAdapter(1..<3)) { #expect($0 == ["b": 2, "c": 3]) }
        try withRows(RangeRowAdapter(1...2)) { #expect($0 == ["b": 2, "c": 3]) }
        try withRows(RangeRowAdapter(2..<2)) { #expect($0 == [:]) }
        try withRows(RangeRowAdapter(3..<9)) { #expect($0 == ["A": 4]) }
        try withRows(RangeRowAdapter(7..<9)) { #expect($0 == [:]) }
    }

    @Test("shows the columns from one on, and none beyond the last")
    func suffixes() throws {
        try withRows(SuffixRowAdapter(fromIndex: 0)) { #expect($0.count == 4) }
        try withRows(SuffixRowAdapter(fromIndex: 2)) { row in
            #expect(row == ["c": 3, "A": 4])
            // The leftmost `a` of the row, not of the statement.
            #expect(row["a"] == 4)
        }
        try withRows(SuffixRowAdapter(fromIndex: 4)) { #expect($0 == [:]) }
        try withRows(SuffixRowAdapter(fromIndex: 9)) { #expect($0 == [:]) }
    }

    @Test("can hide all columns")
    func empty() throws {
        try withRows(EmptyRowAdapter()) { row in
            #expect(row == [:])
            #expect(row["a"] == nil)
            #expect(row.unadapted.count == 4)
        }
    }

    @Test("of a value fetch chooses the column to read")
    func values() throws {
        try withDatabase { (db) throws in
            let sql = "SELECT 1 AS a, 2 AS b UNION ALL SELECT 3, 4"
            #expect(try Int.fetchAll(db, sql: sql, adapter: SuffixRowAdapter(fromIndex: 1)) == [2, 4])
            #expect(try Int.fetchOne(db, sql: sql, adapter: ColumnMapping(["x": "b"])) == 2)
            #expect(
                try DatabaseValue.fetchAll(db, sql: sql, adapter: RangeRowAdapter(1..<2)) == [
                    2.databaseValue, 4.databaseValue,
                ])
        }
    }

    @Test("that leaves no column to read values from is an error")
    func noColumn() throws {
        try withDatabase { db in
            let error = #expect(throws: DatabaseError.self) {
                try Int.fetchAll(db, sql: "SELECT 1", adapter: EmptyRowAdapter())
            }
            #expect(error?.resultCode == .SQLITE_MISUSE)
        }
    }

    @Test("applies to the rows of another adapter")
    func chains() throws {
        try withDatabase { db in
            let request = SQLRequest(sql: "SELECT 1 AS a, 2 AS b, 3 AS c", adapter: SuffixRowAdapter(fromIndex: 1))
                .adapted { _ in RenameColumnAdapter { $0 + $0 } }
                .adapted { _ in ColumnMapping(["z": "cc"]) }
            let row = try #require(try request.fetchOne(db))
            #expect(row == ["z": 3])
            #expect(row.unadapted == ["a": 1, "b": 2, "c": 3])
            #expect(throws: DatabaseError.self) { try request.adapted { _ in ColumnMapping(["y": "a"]) }.fetchOne(db) }
        }
    }

    @Test("cuts rows into slices")
    func splitting() throws {
        let adapters = splittingRowAdapters(columnCounts: [1, 2])
        #expect(adapters.count == 3)
        try withRows(adapters[0]) { #expect($0 == ["a": 1]) }
        try withRows(adapters[1]) { #expect($0 == ["b": 2, "c": 3]) }
        try withRows(adapters[2]) { #expect($0 == ["A": 4]) }
    }

    @Test("leaves the errors of a row with the names of the statement")
    func decodingErrors() throws {
        try withDatabase { db in
            let cursor = try Row.fetchCursor(
                db, sql: "SELECT 1 AS a, NULL AS b", adapter: ColumnMapping(["score": "b"]))
            let row = try #require(try cursor.next())
            let error = #expect(throws: RowDecodingError.self) { try row.decode(Int.self, forColumn: "score") }
            #expect(try #require(error).description.contains("column: \"b\", column index: 1, row: [a:INTEGER b:NULL]"))
            #expect(throws: RowDecodingError.self) { try row.decode(Int.self, forColumn: "a") }
        }
    }
}
