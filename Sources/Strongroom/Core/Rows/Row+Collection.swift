extension Row: RandomAccessCollection {
    /// The name and the value of a column.
    public typealias Element = (String, DatabaseValue)

    /// The position of a column.
    public struct Index: Strideable, Comparable, Sendable {
        let position: Int

        /// Returns true if one position is before another.
        public static func < (lhs: Index, rhs: Index) -> Bool { lhs.position < rhs.position }
        /// Returns the distance to another position.
        public func distance(to other: Index) -> Int { other.position - position }
        /// Returns the position at a distance.
        public func advanced(by n: Int) -> Index { Index(position: position + n) }
    }

    /// The position of the first column.
    public var startIndex: Index { Index(position: 0) }
    /// The position after the last column.
    public var endIndex: Index { Index(position: count) }

    /// The name and the value of a column.
    public subscript(position: Index) -> (String, DatabaseValue) {
        checkIndex(position.position)
        return (columns.names[position.position], databaseValue(at: position.position))
    }

    /// The names of the columns, from left to right.
    public var columnNames: LazyMapCollection<Row, String> { lazy.map { $0.0 } }

    /// The values, from left to right.
    public var databaseValues: LazyMapCollection<Row, DatabaseValue> { lazy.map { $0.1 } }

    /// A Boolean value that indicates whether any value is not NULL, in the row or in one of its scopes.
    public var containsNonNullValue: Bool {
        (0..<count).contains { !hasNull(atIndex: $0) } || scopes.contains { $0.row.containsNonNullValue }
    }
}

extension Row: Hashable {
    /// Returns true if the rows have the same columns in the same order, with the same values, scopes and prefetched
    /// rows.
    public static func == (lhs: Row, rhs: Row) -> Bool {
        if lhs === rhs { return true }
        return lhs.elementsEqual(rhs) { $0.0 == $1.0 && $0.1 == $1.1 }
            && lhs.scopes.count == rhs.scopes.count
            && lhs.scopes.allSatisfy { rhs.scopes[$0.name] == $0.row }
            && lhs.prefetchedRows == rhs.prefetchedRows
    }

    /// Hashes the columns and values.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for (name, value) in self {
            hasher.combine(name)
            hasher.combine(value)
        }
    }
}
