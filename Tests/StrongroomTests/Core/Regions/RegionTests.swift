import Testing

@testable import Strongroom

@Suite("A region")
struct RegionTests {
    private let names = DatabaseRegion(table: "player", columns: ["name"])
    private let rows = DatabaseRegion(table: "player", columns: ["id", "name"], rowIDs: [1, 2])

    @Test("is empty, full, or in between")
    func extremes() {
        #expect(DatabaseRegion().isEmpty)
        #expect(!DatabaseRegion().isFullDatabase)
        #expect(DatabaseRegion.fullDatabase.isFullDatabase)
        #expect(!DatabaseRegion.fullDatabase.isEmpty)
        #expect(!names.isEmpty && !names.isFullDatabase)
    }

    @Test("describes itself")
    func description() {
        #expect("\(DatabaseRegion())" == "empty")
        #expect("\(DatabaseRegion.fullDatabase)" == "full database")
        #expect("\(rows.union(DatabaseRegion(table: "Team")))" == "Team(*),player(id,name)[1,2]")
    }

    @Test("of a statement shows the table's own name, not its alias")
    func ownNames() throws {
        try DatabaseQueue().write { db in
            for number in 0..<32 {
                try db.execute(sql: "CREATE TABLE cellar\(number)(id INTEGER PRIMARY KEY, name TEXT)")
                let statement = try db.makeStatement(sql: "SELECT ID FROM CELLAR\(number)")
                #expect("\(statement.databaseRegion)" == "cellar\(number)(*)")
            }
        }
    }

    @Test("unites with others")
    func union() {
        #expect(names.union(DatabaseRegion()) == names)
        #expect(names.union(.fullDatabase) == .fullDatabase)
        #expect(DatabaseRegion.fullDatabase.union(names) == .fullDatabase)
        #expect(names.union(rows).description == "player(id,name)")
        #expect(
            rows.union(DatabaseRegion(table: "PLAYER", columns: ["ID"], rowIDs: [3])).description
                == "player(id,name)[1,2,3]")
        #expect(names.union(DatabaseRegion(table: "player")).description == "player(*)")
    }

    @Test("is equal for names in upper and lower case")
    func equality() {
        #expect(names == DatabaseRegion(table: "Player", columns: ["NAME"]))
        #expect(names != rows)
        #expect(names != DatabaseRegion())
    }

    @Test("is modified by changes of its tables and columns")
    func kinds() {
        #expect(names.isModified(byEventsOfKind: .insert(tableName: "player")))
        #expect(names.isModified(byEventsOfKind: .delete(tableName: "Player")))
        #expect(names.isModified(byEventsOfKind: .update(tableName: "player", columnNames: ["Name", "score"])))
        #expect(!names.isModified(byEventsOfKind: .update(tableName: "player", columnNames: ["score"])))
        #expect(!names.isModified(byEventsOfKind: .insert(tableName: "team")))
        #expect(
            DatabaseRegion(table: "player").isModified(
                byEventsOfKind: .update(tableName: "player", columnNames: ["score"])))
        #expect(DatabaseRegion.fullDatabase.isModified(byEventsOfKind: .delete(tableName: "team")))
        #expect(!DatabaseRegion().isModified(byEventsOfKind: .delete(tableName: "team")))
    }

    @Test(
        "is modified by changes of its rows",
        arguments: [("player", Int64(1), true), ("PLAYER", 2, true), ("player", 3, false), ("team", 1, false)])
    func events(table: String, rowID: Int64, isModified: Bool) {
        let event = DatabaseEvent(kind: .update, rowID: rowID, databaseName: "main", tableName: table)
        #expect(rows.isModified(by: event) == isModified)
        #expect(DatabaseRegion.fullDatabase.isModified(by: event))
    }

    @Test("can be restricted to some rows")
    func restricted() {
        #expect(names.restricted(toRowIDs: [1], of: "Player").description == "player(name)[1]")
        #expect(rows.restricted(toRowIDs: [2, 3], of: "player").description == "player(id,name)[2]")
        #expect(names.restricted(toRowIDs: [1], of: "team") == names)
    }

    @Test("of any kind can be wrapped")
    func erased() throws {
        try withEncryptedQueue { queue throws in
            try queue.read { db throws in
                #expect(try AnyDatabaseRegionConvertible(names).databaseRegion(db) == names)
                #expect(try AnyDatabaseRegionConvertible { _ in names }.databaseRegion(db) == names)
                #expect(try AnyDatabaseRegionConvertible(.fullDatabase).databaseRegion(db).isFullDatabase)
            }
        }
    }
}
