import Foundation
import Strongroom
import TestSupport

/// The rows of a database in each of its commits, and the pages of those of the last commit.
struct SalvageLedger {
    /// A row of the last commit.
    struct Entry {
        var table: String
        var hash: Int
        var rowID: Int64?
        var pages: [Int]
    }

    /// A page, as SQLite's own table of pages shows it.
    struct Page {
        var number: Int
        var path: String
        var kind: String
        var cellCount: Int
    }

    private(set) var entries: [Entry] = []
    /// The rows after each commit, by table.
    private(set) var states: [[String: Set<Int>]] = []
    /// The rows of all tables in any commit.
    private(set) var once: Set<Int> = []
    private(set) var pages: [String: [Page]] = [:]

    /// Records a commit.
    mutating func record(_ db: Database) throws {
        var state: [String: Set<Int>] = [:]
        for table in try Self.tables(db) {
            var rows: Set<Int> = []
            try Self.forEachRow(db, table) { rows.insert($1) }
            state[table] = rows
            once.formUnion(rows)
        }
        states.append(state)
    }

    static func tables(_ db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite_%'
                ORDER BY rowid
                """)
    }

    // MARK: - Rows

    /// Calls `body` with each row of a table in the order of keys, as its record stores it: its rowid, and a number
    /// that stands for rowid and values.
    static func forEachRow(_ db: Database, _ table: String, _ body: (Int64?, Int) throws -> Void) throws {
        let quoted = "\"\(table)\""
        let columns = try Row.fetchAll(db, sql: "PRAGMA table_info(\(quoted))")
        let keys = columns.filter { ($0["pk"] as Int) > 0 }
        let hasRowID = try Self.hasRowID(db, table)
        let names = columns.map { column -> String in
            let isAlias =
                hasRowID && keys.count == 1 && (column["pk"] as Int) == 1
                && (column["type"] as String).uppercased() == "INTEGER"
            return isAlias ? "NULL" : "\"\(column["name"] as String)\""
        }
        let rowID = hasRowID ? "rowid" : "NULL", order = hasRowID ? "ORDER BY rowid" : ""
        let selection = names.joined(separator: ", ")
        let rows = try Row.fetchCursor(db, sql: "SELECT \(rowID), \(selection) FROM \(quoted) \(order)")
        while let row = try rows.next() {
            let values = Array(row.databaseValues)
            try body(Int64.fromDatabaseValue(values[0]), hash(values))
        }
    }

    private static func hasRowID(_ db: Database, _ table: String) throws -> Bool {
        try Row.fetchOne(db, sql: "PRAGMA table_list(\"\(table)\")")?["wr"] != 1
    }

    /// Calls `body` with the number of each row in the table of lost rows.
    static func forEachLostRow(_ db: Database, _ table: String, _ body: (Int64?, Int) throws -> Void) throws {
        let rows = try Row.fetchCursor(db, sql: "SELECT nfield, * FROM \(table)")
        while let row = try rows.next() {
            let values = Array(row.databaseValues), count = Int.fromDatabaseValue(values[0])!
            try body(Int64.fromDatabaseValue(values[5]), hash(Array(values[5..<6 + count])))
        }
    }

    private static func hash(_ values: [DatabaseValue]) -> Int {
        var hasher = Hasher()
        for value in values {
            switch value.storage {
            case .null: hasher.combine(0)
            case .int64(let integer): hasher.combine(integer)
            // A column of real numbers stores an integer where it can.
            case .double(let real):
                if let integer = Int64(exactly: real) { hasher.combine(integer) } else { hasher.combine(real) }
            case .string(let text): hasher.combine(text)
            case .blob(let data): data.withUnsafeBytes { hasher.combine(bytes: $0) }
            }
        }
        return hasher.finalize()
    }

    // MARK: - Pages

    /// Records on which pages the rows are.
    mutating func locate(_ db: Database, _ shell: StockShell) throws {
        let lines = try shell.lines("SELECT name, path, pageno, ncell, pagetype FROM dbstat ORDER BY path;")
        for line in lines {
            let parts = line.split(separator: "|").map(String.init)
            guard parts.count == 5, let number = Int(parts[2]), let count = Int(parts[3]) else {
                throw Finding("the stock shell answers \(line)")
            }
            pages[parts[0], default: []].append(
                Page(number: number, path: parts[1], kind: parts[4], cellCount: count))
        }
        for table in try Self.tables(db) {
            let places = try Self.places(pages[table] ?? [], hasInnerRows: !Self.hasRowID(db, table))
            var index = 0
            try Self.forEachRow(db, table) { rowID, hash in
                guard index < places.count else { throw Finding("more rows than cells in \(table)") }
                entries.append(Entry(table: table, hash: hash, rowID: rowID, pages: places[index]))
                index += 1
            }
            guard index == places.count else { throw Finding("fewer rows than cells in \(table)") }
        }
    }

    /// Returns the pages of each row in the order of keys. Without rowids, cells of interior pages are rows, too.
    private static func places(_ pages: [Page], hasInnerRows: Bool) -> [[Int]] {
        var chains: [String: [Int]] = [:], nodes: [String: Page] = [:], places: [[Int]] = []
        for page in pages {
            if page.kind == "overflow" {
                chains[String(page.path.prefix { $0 != "+" }), default: []].append(page.number)
            } else {
                nodes[page.path] = page
            }
        }
        func name(_ index: Int) -> String {
            let digits = String(index, radix: 16)
            return String(repeating: "0", count: max(0, 3 - digits.count)) + digits
        }
        func visit(_ path: String) {
            guard let page = nodes[path] else { return }
            for index in 0..<page.cellCount {
                if page.kind == "internal" { visit(path + name(index) + "/") }
                if page.kind == "leaf" || hasInnerRows {
                    places.append([page.number] + (chains[path + name(index)] ?? []))
                }
            }
            if page.kind == "internal" { visit(path + name(page.cellCount) + "/") }
        }
        visit("/")
        return places
    }

    /// Returns the numbers of the pages that are chosen by table and page.
    func numbers(_ isChosen: (String, Page) -> Bool) -> [Int] {
        pages.flatMap { table, pages in pages.filter { isChosen(table, $0) }.map(\.number) }.sorted()
    }
}
