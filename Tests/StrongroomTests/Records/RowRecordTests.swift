import Testing

@testable import Strongroom

@Suite("Records of a row")
struct RowRecordTests {
    private struct Team: FetchableRecord, Hashable {
        var id: Int
        var name: String

        init(id: Int, name: String) {
            self.id = id
            self.name = name
        }

        init(row: Row) throws {
            id = try row.decode(forColumn: "id")
            name = try row.decode(forColumn: "name")
        }
    }

    private let adapter = ScopeAdapter(
        base: RangeRowAdapter(0..<1),
        scopes: [
            "team": ScopeAdapter(base: RangeRowAdapter(1..<3), scopes: ["rival": SuffixRowAdapter(fromIndex: 3)])
        ])

    private func row(_ sql: String) throws -> Row {
        try withDatabase { db in
            try #require(try Row.fetchOne(db, sql: sql, adapter: adapter))
        }
    }

    private let full = "SELECT 1 AS id, 2 AS id, 'Reds' AS name, 3 AS id, 'Blues' AS name"
    private let lonely = "SELECT 1 AS id, NULL AS id, NULL AS name, NULL AS id, NULL AS name"

    @Test("come from its scopes, however deep")
    func scopes() throws {
        let row = try row(full)
        #expect(row["team"] == Team(id: 2, name: "Reds"))
        #expect(row["rival"] == Team(id: 3, name: "Blues"))
        #expect(try row.decode(Team.self, forKey: "team").name == "Reds")
        #expect(try row.decodeIfPresent(Team.self, forKey: "rival")?.name == "Blues")
        let optional: Team? = row["team"]
        #expect(optional?.id == 2)
    }

    @Test("are nil in optionals when the scope is all NULL or is not there")
    func optionals() throws {
        let row = try row(lonely)
        let team: Team? = row["team"]
        #expect(team == nil)
        #expect(try row.decodeIfPresent(Team.self, forKey: "team") == nil)
        #expect(try row.decodeIfPresent(Team.self, forKey: "nope") == nil)
        let nope: Team? = row["nope"]
        #expect(nope == nil)
    }

    @Test("are an error that names the key when the scope is all NULL or is not there")
    func errors() throws {
        let row = try row(lonely)
        let null = #expect(throws: RowDecodingError.self) { try row.decode(Team.self, forKey: "team") }
        #expect(try #require(null).description.contains("\"team\""))
        let missing = try #require(#expect(throws: RowDecodingError.self) { try row.decode(Team.self, forKey: "nope") })
        #expect(missing.description.contains("\"nope\""))
        #expect(missing.description.contains("[\"rival\", \"team\"]"))
    }

    @Test("throw their own errors")
    func ownErrors() throws {
        let row = try row("SELECT 1 AS id, 2 AS id, NULL AS name, NULL AS id, NULL AS name")
        #expect(throws: RowDecodingError.self) { try row.decodeIfPresent(Team.self, forKey: "team") }
    }

    @Test("come in collections from its prefetched rows, those of its scopes included")
    func prefetched() throws {
        let row = try row(full)
        let teams: [Row] = [["id": 1, "name": "Reds"], ["id": 2, "name": "Blues"], ["id": 1, "name": "Reds"]]
        row.prefetchedRows.insert(teams, forKey: "teams", at: [])
        row.prefetchedRows.insert([], forKey: "none", at: ["team"])
        row.prefetchedRows.insert([teams[0]], forKey: "teams", at: ["team", "rival"])

        #expect(row["teams"] == [Team(id: 1, name: "Reds"), Team(id: 2, name: "Blues"), Team(id: 1, name: "Reds")])
        let distinct: Set<Team> = row["teams"]
        #expect(distinct.count == 2)
        #expect(try row.decode(ContiguousArray<Team>.self, forKey: "teams").count == 3)
        #expect(try row.decode([Team].self, forKey: "none").isEmpty)
        #expect(row.prefetchedRows.keys == ["teams", "none"])
        #expect(row.prefetchedRows["nope"] == nil)
        #expect(!row.prefetchedRows.isEmpty)
        #expect(row.scopes["team"]?.prefetchedRows["teams"]?.count == 1)
        #expect(row.scopesTree["rival"]?.prefetchedRows.keys == ["teams"])
        #expect(row.unscoped.prefetchedRows.isEmpty)
        #expect(throws: RowDecodingError.self) { try row.decode([Team].self, forKey: "nope") }
    }

    @Test("show as counts of prefetched rows in the debug description")
    func debugDescription() throws {
        let row = try row(full)
        row.prefetchedRows.insert([[:], [:]], forKey: "players", at: [])
        row.prefetchedRows.insert([[:]], forKey: "coaches", at: ["team"])
        #expect(
            row.debugDescription == """
                ▿ [id:1]
                  unadapted: [id:1 id:2 name:"Reds" id:3 name:"Blues"]
                  - team: [id:2 name:"Reds"]
                    - rival: [id:3 name:"Blues"]
                    + coaches: 1 row
                  + coaches: 1 row
                  + players: 2 rows
                """)
    }

    @Test("of prefetched rows make rows different")
    func equality() throws {
        let (plain, prefetched) = (try row(full), try row(full))
        #expect(plain == prefetched)
        prefetched.prefetchedRows.insert([["id": 1]], forKey: "teams", at: [])
        #expect(plain != prefetched)
        plain.prefetchedRows.insert([["id": 1]], forKey: "teams", at: [])
        #expect(plain == prefetched)
    }
}
