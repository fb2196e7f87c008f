/// Shows no column: the base of rows that have nothing but scopes.
public struct EmptyRowAdapter: RowAdapter {
    public init() {}

    public func layout(of base: RowLayout) -> RowLayout {
        base.selecting(0..<0)
    }
}

/// Shows a range of the columns.
///
/// ```swift
/// [b:2 c:3]
/// try Row.fetchOne(db, sql: "SELECT 1 AS a, 2 AS b, 3 AS c, 4 AS d", adapter: RangeRowAdapter(1..<3))
/// ```
///
/// Columns beyond those of the statement are left out.
public struct RangeRowAdapter: RowAdapter {
    private let range: CountableRange<Int>

    /// - precondition: the range has no negative positions.
    public init(_ range: CountableRange<Int>) {
        precondition(range.lowerBound >= 0, "a row has no column at a negative index: \(range)")
        self.range = range
    }

    /// - precondition: the range has no negative positions.
    public init(_ range: CountableClosedRange<Int>) {
        self.init(range.lowerBound..<(range.upperBound + 1))
    }

    public func layout(of base: RowLayout) -> RowLayout {
        base.selecting(range.clamped(to: 0..<base.positions.count))
    }
}

/// Shows the columns from one on.
///
/// ```swift
/// [b:2 c:3]
/// try Row.fetchOne(db, sql: "SELECT 1 AS a, 2 AS b, 3 AS c", adapter: SuffixRowAdapter(fromIndex: 1))
/// ```
///
/// There are none where the statement has no more than `index` columns.
public struct SuffixRowAdapter: RowAdapter {
    private let index: Int

    /// - precondition: the index is not negative.
    public init(fromIndex index: Int) {
        precondition(index >= 0, "a row has no column at a negative index: \(index)")
        self.index = index
    }

    public func layout(of base: RowLayout) -> RowLayout {
        base.selecting(min(index, base.positions.count)..<base.positions.count)
    }
}
