extension Row: RandomAccessCollection {
    public typealias Element = (String, DatabaseValue)

    /// The position of a column.
    public struct Index: Strideable, Comparable, Sendable {
        let position: Int

        public static func < (lhs: Index, rhs: Index) -> Bool { lhs.position < rhs.position }
        public func distance(to other: Index) -> Int { other.position - position }
        public func advanced(by n: Int) -> Index { Index(position: position + n) }
    }

    public var startIndex: Index { Index(position: 0) }
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

    /// Whether any value is not NULL.
    public var containsNonNullValue: Bool {
        (0..<count).contains { !hasNull(atIndex: $0) }
    }
}

extension Row: Hashable {
    /// Rows are equal when they have the same columns in the same order, with the same values.
    public static func == (lhs: Row, rhs: Row) -> Bool {
        lhs === rhs || lhs.elementsEqual(rhs) { $0.0 == $1.0 && $0.1 == $1.1 }
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(count)
        for (name, value) in self {
            hasher.combine(name)
            hasher.combine(value)
        }
    }
}

extension Row: CustomStringConvertible, CustomDebugStringConvertible {
    /// `[id:1 name:"Arthur"]`
    public var description: String {
        "[" + map { "\($0.0):\($0.1)" }.joined(separator: " ") + "]"
    }

    public var debugDescription: String { description }
}
