/// The statements that a connection keeps.
struct StatementCaches {
    /// The statements of convenience calls.
    var own = StatementCache()

    /// The statements of ``Database/cachedStatement(sql:)``, which programs hold.
    var exposed = StatementCache()

    mutating func removeAll() {
        own.removeAll()
        exposed.removeAll()
    }
}

/// A cache of prepared statements by their SQL, so that SQL is parsed once.
///
/// Beyond its limit, it removes the statements that were not used for the longest time.
struct StatementCache {
    /// The maximum number of statements.
    static let limit = 128

    /// Where a statement is, for callers that run it again and again: a place needs no comparison of SQL. It is that of
    /// one statement in one cache.
    struct Place: Equatable {
        fileprivate let position: Int
        fileprivate let number: Int

        private static let latestNumber = Mutex(0)

        fileprivate static func newNumber() -> Int {
            latestNumber.withLock { number in
                number += 1
                return number
            }
        }
    }

    private struct Entry {
        let sql: String
        var statement: Statement
        var lastUse: Int

        /// The number of the place, which no other entry has, not even of another cache.
        let number = Place.newNumber()
    }

    /// SQL by its bytes: Swift takes two texts for equal that differ in the normalization of Unicode, SQLite does not.
    private struct Key: Hashable {
        let sql: String

        init(_ sql: String) { self.sql = sql }

        static func == (key: Key, other: Key) -> Bool {
            key.sql.isSame(as: other.sql) || key.sql.hasBytes(of: other.sql)
        }

        func hash(into hasher: inout Hasher) {
            var sql = sql
            sql.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    private var entries: [Entry] = []
    private var positions: [Key: Int] = [:]
    private var uses = 0

    /// The latest entry. Many programs run one statement many times, and a comparison is cheaper than a hash.
    private var latest = 0

    /// Returns the statement for the SQL. Nil if there is none.
    mutating func statement(_ sql: String) -> Statement? {
        find(sql).map { entries[$0].statement }
    }

    /// Returns the statement for the SQL if it is not in use elsewhere. Nil if there is none.
    mutating func idleStatement(_ sql: String) -> Statement? {
        guard let position = find(sql), isKnownUniquelyReferenced(&entries[position].statement) else { return nil }
        return entries[position].statement
    }

    /// Returns the place of the statement for the SQL. Nil if there is none.
    mutating func place(_ sql: String) -> Place? {
        find(sql).map { Place(position: $0, number: entries[$0].number) }
    }

    /// Returns the statement at a place if it is still there, and not in use elsewhere.
    mutating func idleStatement(at place: Place) -> Statement? {
        let position = place.position
        guard position < entries.count, entries[position].number == place.number,
            isKnownUniquelyReferenced(&entries[position].statement)
        else { return nil }
        if position != latest { use(position) }
        return entries[position].statement
    }

    mutating func insert(_ statement: Statement, for sql: String) {
        uses += 1
        let entry = Entry(sql: sql, statement: statement, lastUse: uses)
        if let position = positions[Key(sql)] {
            entries[position] = entry
            return
        }
        if entries.count >= Self.limit { removeOlderHalf() }
        positions[Key(sql)] = entries.count
        latest = entries.count
        entries.append(entry)
    }

    mutating func removeAll() {
        entries = []
        positions = [:]
    }

    private mutating func find(_ sql: String) -> Int? {
        if latest < entries.count {
            // Most programs pass the same literal again, which is compared without counting a reference.
            if entries[latest].sql.isSame(as: sql) || entries[latest].sql.hasBytes(of: sql) { return latest }
        }
        guard let position = positions[Key(sql)] else { return nil }
        use(position)
        return position
    }

    private mutating func use(_ position: Int) {
        uses += 1
        entries[position].lastUse = uses
        latest = position
    }

    private mutating func removeOlderHalf() {
        entries.sort { $0.lastUse > $1.lastUse }
        entries.removeLast(entries.count / 2)
        positions = [:]
        for (position, entry) in entries.enumerated() { positions[Key(entry.sql)] = position }
    }
}
