import TestSupport

/// A random statement that mixes allowed and secret names in every place where SQL takes one.
struct RandomQuery {
    private(set) var sql = ""
    private var generator: SeededGenerator
    private var depth = 0

    init(_ generator: inout SeededGenerator) {
        self.generator = generator
        _ = generator.next()
        sql = statement()
    }

    private mutating func pick(_ choices: [String]) -> String { choices.randomElement(using: &generator)! }
    private mutating func chance(_ n: Int) -> Bool { Int.random(in: 0..<n, using: &generator) == 0 }

    private mutating func statement() -> String {
        if chance(30) {
            return pick([
                "PRAGMA table_info(secret)", "DELETE FROM product", "EXPLAIN SELECT * FROM vault",
                "PRAGMA user_version",
                "SELECT $a('), (SELECT count(*) FROM vault) --'", "ATTACH ':memory:' AS x", "PRAGMA data_version",
            ])
        }
        let query = chance(3) ? common() + query() : query()
        return chance(8) ? "/*" + pick(["FROM", "'", "*"]) + "*/" + query + " -- '" : query
    }

    private mutating func common() -> String {
        let name = pick(["c", "c", "d", "directory", "inside", "secret", "leak", "Product", "\"c\"", "json_each"])
        let columns = chance(2) ? " (" + pick(["id", "name", "password", "id, name"]) + ")" : ""
        let how = pick(["AS", "AS", "AS MATERIALIZED", "AS NOT MATERIALIZED"])
        return "WITH \(name)\(columns) \(how) (\(query())) "
    }

    private mutating func query() -> String {
        depth += 1
        defer { depth -= 1 }
        var text = "SELECT " + (chance(8) ? "DISTINCT " : "") + results() + " FROM " + sources()
        if chance(3) { text += " WHERE " + condition() }
        if chance(8) { text += " GROUP BY " + column() }
        if depth < 3, chance(8) { text += pick([" UNION ", " UNION ALL ", " EXCEPT ", " INTERSECT "]) + query() }
        if chance(6) { text += " ORDER BY " + pick(["1", column(), "password", "(SELECT count(*) FROM vault)"]) }
        return chance(3) ? text + " LIMIT 20" : text
    }

    private mutating func results() -> String {
        switch Int.random(in: 0..<7, using: &generator) {
        case 0: return "count(*)"
        case 1: return "1"
        case 2: return column() + ", " + column()
        case 3: return depth < 3 ? "(\(query()))" : "2"
        case 4: return pick(["max", "upper", "group_concat", "hex", "load_extension", "typeof"]) + "(" + column() + ")"
        case 5: return pick(["*", "s.*", "id", "name"])
        default: return column()
        }
    }

    private mutating func column() -> String {
        let name = pick([
            "id", "id", "name", "name", "city", "label", "price", "password", "rowid", "title", "body", "\"password\"",
        ])
        return chance(6) ? pick(["s.", "product.", "customer.", "secret.", "directory."]) + name : name
    }

    private mutating func sources() -> String {
        var text = source()
        while chance(3) {
            let other = source()
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: text += ", " + other
            case 1: text += " JOIN \(other) ON " + condition()
            case 2: text += " NATURAL JOIN " + other
            case 3:
                text +=
                    pick([" JOIN ", " LEFT JOIN ", " FULL JOIN "])
                    + "\(other) USING (\(pick(["id", "name", "password"])))"
            case 4: text += " LEFT JOIN \(other) ON 1"
            default: text += " CROSS JOIN " + other
            }
        }
        return text
    }

    private mutating func source() -> String {
        let allowed = ["product", "customer", "directory", "nested", "note", "json_each('[1, 2]')", "main.product"]
        let secret = [
            "secret", "vault", "leak", "crowd", "diary", "sqlite_schema", "note_data", "pragma_table_list",
            "main.vault",
            "dbstat", "[vault]", "'secret'", "sqlite_stmt",
        ]
        let made = ["c", "d", "(SELECT 'hunter21' AS password, 1 AS id)", "(VALUES (1))"]
        if depth < 3, chance(6) { return "(\(query()))" + pick(["", " AS s", " AS directory"]) }
        let name = chance(5) ? pick(secret) : chance(4) ? pick(made) : pick(allowed)
        return chance(4) ? name + pick([" AS s", " s", " secret", " AS directory"]) : name
    }

    private mutating func condition() -> String {
        switch Int.random(in: 0..<6, using: &generator) {
        case 0: return column() + pick([" = ", " > ", " IS NOT DISTINCT FROM "]) + pick(["1", "'hunter21'", column()])
        case 1: return depth < 3 ? "EXISTS (\(query()))" : "1"
        case 2: return column() + " IN " + pick(["(1, 2)", "vault", "directory", "nested"])
        case 3: return depth < 3 ? column() + " IN (\(query()))" : "1"
        case 4: return column() + " LIKE '%a%'"
        default: return "1"
        }
    }
}
