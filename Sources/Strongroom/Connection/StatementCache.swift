/// Prepared statements by their SQL text, so that SQL is parsed once.
///
/// Bounded: past the limit, the statements unused for longest go.
struct StatementCache {
    /// How many statements are kept.
    static let limit = 128

    private struct Entry {
        let statement: Statement
        var lastUse: Int
    }

    private var entries: [String: Entry] = [:]
    private var uses = 0

    /// The latest statement and its text: many programs run one statement many times, and comparing is cheaper than hashing.
    private var latest: (sql: String, statement: Statement)?

    /// The statement of that SQL, when there is one.
    mutating func statement(_ sql: String) -> Statement? {
        if let latest, latest.sql == sql { return latest.statement }
        guard let index = entries.index(forKey: sql) else { return nil }
        uses += 1
        entries.values[index].lastUse = uses
        let statement = entries.values[index].statement
        latest = (sql, statement)
        return statement
    }

    mutating func insert(_ statement: Statement, for sql: String) {
        if entries.count >= Self.limit { removeOlderHalf() }
        uses += 1
        entries[sql] = Entry(statement: statement, lastUse: uses)
        latest = (sql, statement)
    }

    mutating func removeAll() {
        entries = [:]
        latest = nil
    }

    private mutating func removeOlderHalf() {
        let uses = entries.values.map(\.lastUse).sorted()
        let median = uses[uses.count / 2]
        entries = entries.filter { $0.value.lastUse >= median }
    }
}
