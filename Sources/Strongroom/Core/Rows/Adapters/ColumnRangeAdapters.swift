/// A row adapter that shows no columns, for rows that only have scopes.
public struct EmptyRowAdapter: RowAdapter {
    /// Creates an adapter.
    public init() {}

    /// Returns the layout of the adapted rows.
    public func layout(of base: RowLayout) -> RowLayout {
        base.selecting(0..<0)
    }
}

/// A row adapter that shows a range of the columns.
///
/// ```swift
/// [b:2 c:3]
/// try Row.fetchOne(db, sql: "SELECT 1 AS a, 2 AS b, 3 AS c, 4 AS d", adapter: RangeRowAdapter(1..<3))
/// ```
///
/// Columns beyond those of the statement are omitted.
public struct RangeRowAdapter: RowAdapter {
    private let range: CountableRange<Int>

    /// Creates an adapter.
    ///
    /// - precondition: the range has no negative positions.
    public init(_ range: CountableRange<Int>) {
        precondition(range.lowerBound >= 0, "a row has no column at a negative index: \(range)")
        self.range = range
    }

    /// Creates an adapter.
    ///
    /// - precondition: the range has no negative positions.
    public init(_ range: CountableClosedRange<Int>) {
        self.init(range.lowerBound..<(range.upperBound + 1))
    }

    /// Returns the layout of the adapted rows.
    public func layout(of base: RowLayout) -> RowLayout {
        base.selecting(range.clamped(to: 0..<base.positions.count))
    }
}

/// A row adapter that shows the columns from a position on.
///
/// ```swift
/// [b:2 c:3]
/// try Row.fetchOne(db, sql: "SELECT 1 AS a, 2 AS b, 3 AS c", adapter: SuffixRowAdapter(fromIndex: 1))
/// ```
///
/// It shows none if the statement has `index` columns or fewer.
public struct SuffixRowAdapter: RowAdapter {
    private let index: Int

    /// Creates an adapter.
    ///
    /// - precondition: the index is not negative.
    public init(fromIndex index: Int) {
        precondition(index >= 0, "a row has no column at a negative index: \(index)")
        self.index = index
    }

    /// Returns the layout of the adapted rows.
    public func layout(of base: RowLayout) -> RowLayout {
        base.selecting(min(index, base.positions.count)..<base.positions.count)
    }
}
