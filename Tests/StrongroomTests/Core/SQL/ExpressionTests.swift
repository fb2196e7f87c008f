import Strongroom
import Testing

@Suite("Expressions as SQL")
struct ExpressionTests {
    private func expect(
        _ expected: [(any SQLSpecificExpressible, String)], sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        try withRecords { db throws in
            for (expression, text) in expected {
                #expect(try sql(db, expression) == text, sourceLocation: sourceLocation)
            }
        }
    }

    @Test("Equality knows NULL")
    func equality() throws {
        try expect([
            (score == 1, #""score" = ? [1]"#), (1 == score, #"? = "score" [1]"#),
            (score == nil as Int?, #""score" IS NULL"#), (nil as Int? == score, #""score" IS NULL"#),
            (score != 1, #""score" <> ? [1]"#), (score != nil as Int?, #""score" IS NOT NULL"#),
            (score === 1, #""score" IS ? [1]"#), (score !== name, #""score" IS NOT "name""#),
            (score == true, #""score" = ? [1]"#), (score != false, #""score" <> ? [0]"#),
        ])
    }

    @Test("Comparisons and arithmetic keep their operands together")
    func arithmetic() throws {
        try expect([
            (score < 1, #""score" < ? [1]"#), (1 <= score, #"? <= "score" [1]"#),
            (score >= name, #""score" >= "name""#),
            (score * 2 + 1, #"("score" * ?) + ? [2, 1]"#), ((score + 1) * 2, #"("score" + ?) * ? [1, 2]"#),
            (score - 1 - 2, #"("score" - ?) - ? [1, 2]"#), (score - (score - 1), #""score" - ("score" - ?) [1]"#),
            (score + (score + 1), #""score" + ("score" + ?) [1]"#),
            (-(-score), #"-(-"score")"#), (-(score + 1), #"-("score" + ?) [1]"#), (~score, #"~"score""#),
            ((score & 1) == 0, #"("score" & ?) = ? [1, 0]"#), (score << 2 | 1, #"("score" << ?) | ? [2, 1]"#),
            (score ?? 1, #"IFNULL("score", ?) [1]"#), ((score < 1) < id, #"("score" < ?) < "id" [1]"#),
        ])
    }

    @Test("Logic joins as many operands as there are")
    func logic() throws {
        try expect([
            (score > 1 && name == "a", #"("score" > ?) AND ("name" = ?) [1, "a"]"#),
            (score > 1 && name == "a" && id == 2, #"("score" > ?) AND ("name" = ?) AND ("id" = ?) [1, "a", 2]"#),
            (score > 1 && (name == "a" || id == 2), #"("score" > ?) AND (("name" = ?) OR ("id" = ?)) [1, "a", 2]"#),
            ([score > 1, id > 2].joined(operator: .and), #"("score" > ?) AND ("id" > ?) [1, 2]"#),
            ([name, name, name].joined(operator: .concat), #""name" || "name" || "name""#),
            ([Column]().joined(operator: .or), "? [0]"), ([Column]().joined(operator: .bitwiseAnd), "? [-1]"),
        ])
    }

    @Test("Negation turns operators round where SQL can")
    func negation() throws {
        try expect([
            (!(score == 1), #""score" <> ? [1]"#), (!(score == nil as Int?), #""score" IS NOT NULL"#),
            (!(score > 1), #"NOT ("score" > ?) [1]"#), (!(!score), #"NOT (NOT "score")"#),
            (![1, 2].contains(score), #""score" NOT IN (?, ?) [1, 2]"#),
            (!(1...3).contains(score), #""score" NOT BETWEEN ? AND ? [1, 3]"#),
            (!name.like("a%"), #""name" NOT LIKE ? ["a%"]"#),
            (!Player.all().exists(), #"NOT EXISTS (SELECT * FROM "player")"#),
            (!(score > 1 && id > 2), #"NOT (("score" > ?) AND ("id" > ?)) [1, 2]"#),
        ])
    }

    @Test("Sequences and ranges contain columns")
    func contains() throws {
        try expect([
            ([1, 2].contains(score), #""score" IN (?, ?) [1, 2]"#), ([1].contains(score), #""score" = ? [1]"#),
            ([Int]().contains(score), "? [0]"), (![Int]().contains(score), "? [1]"),
            ([1, nil].contains(score), #""score" IN (?, NULL) [1]"#),
            ((1..<3).contains(score), #"("score" >= ?) AND ("score" < ?) [1, 3]"#),
            (("a"..."b").contains(name), #""name" BETWEEN ? AND ? ["a", "b"]"#),
        ])
    }

    @Test("Subqueries are values, lists, and conditions")
    func subqueries() throws {
        try expect([
            (Player.select(id, as: Int.self).contains(score), #""score" IN (SELECT "id" FROM "player")"#),
            (Player.filter(id == 1).exists(), #"EXISTS (SELECT * FROM "player" WHERE "id" = ?) [1]"#),
            (Player.select(max(score), as: Int.self) == score, #"(SELECT MAX("score") FROM "player") = "score""#),
            (SQLRequest<Int>(sql: "SELECT 1").contains(id), #""id" IN (SELECT 1)"#),
        ])
    }

    @Test("Collations go where SQLite looks for them")
    func collations() throws {
        try expect([
            (name.collating(.nocase) == "a", #""name" = ? COLLATE NOCASE ["a"]"#),
            ((name == "a").collating(.nocase), #""name" = ? COLLATE NOCASE ["a"]"#),
            (["a", "b"].contains(name.collating(.nocase)), #"("name" COLLATE NOCASE) IN (?, ?) ["a", "b"]"#),
            (("a"..."b").contains(name.collating(.nocase)), #""name" BETWEEN ? AND ? COLLATE NOCASE ["a", "b"]"#),
        ])
        try withRecords { db throws in
            try db.execute(sql: "INSERT INTO player VALUES (1, 'ARTHUR', 1)")
            #expect(try Player.filter(name.collating(.nocase) == "arthur").fetchCount(db) == 1)
        }
    }

    @Test("Functions stand as in SQLite's documentation")
    func functions() throws {
        try expect([
            (length(name), #"LENGTH("name")"#), (abs(score), #"ABS("score")"#),
            (count(distinct: score), #"COUNT(DISTINCT "score")"#),
            (max(score), #"MAX("score")"#), (max(score, id), #"MAX("score", "id")"#),
            (min(score, 1, 2), #"MIN("score", ?, ?) [1, 2]"#),
            (average(score, filter: id > 1), #"AVG("score") FILTER (WHERE "id" > ?) [1]"#),
            (total(score), #"TOTAL("score")"#),
            (coalesce([score, id]), #"COALESCE("score", "id")"#), (cast(score, as: .text), #"CAST("score" AS TEXT)"#),
            (name.lowercased, #"swiftLowercaseString("name")"#),
            (name.like("a\\%%", escape: "\\"), #""name" LIKE ? ESCAPE ? ["a\\%%", "\\"]"#),
            (
                dateTime(name, .day(-1), .startOfMonth, .utc),
                #"DATETIME("name", ?, ?, ?) ["-1 days", "start of month", "utc"]"#
            ),
            (julianDay(name, .second(1.5)), #"JULIANDAY("name", ?) ["1.5 seconds"]"#),
        ])
    }

    @Test("Aggregates take their values in an order", .enabled(if: Database.sqliteLibVersionNumber >= 3_044_000))
    func orderedAggregates() throws {
        try expect([(sum(score, orderBy: id.desc), #"SUM("score" ORDER BY "id" DESC)"#)])
    }

    @Test("JSON columns are looked into")
    func json() throws {
        let column = JSONColumn("name")
        try expect([
            (column["$.a"], #""name" ->> ? ["$.a"]"#), (column.jsonRepresentation(atPath: "a"), #""name" -> ? ["a"]"#),
            (column.jsonExtract(atPath: "$.a"), #"JSON_EXTRACT("name", ?) ["$.a"]"#),
            (name.asJSON["a"] == 1, #"("name" ->> ?) = ? ["a", 1]"#),
        ])
    }

    @Test("Literals are expressions of their own, in parentheses")
    func literals() throws {
        try expect([
            (SQL("score + \(1)"), "score + ? [1]"), (SQL("score + \(1)").sqlExpression == 3, "(score + ?) = ? [1, 3]"),
            (!SQL("score"), "NOT (score)"),
        ])
    }
}
