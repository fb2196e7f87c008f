/// Presents the rows of a statement otherwise than the statement gives them.
///
/// Hand an adapter to the functions that fetch, or to a request. The adapters:
///
/// - ``ColumnMapping`` renames columns and hides the others,
/// - ``RenameColumnAdapter`` renames all columns with a function,
/// - ``SuffixRowAdapter``, ``RangeRowAdapter`` and ``EmptyRowAdapter`` show some columns,
/// - ``ScopeAdapter`` hangs further rows on the row, by name.
///
/// ```swift
/// [c:3]
/// try Row.fetchOne(db, sql: "SELECT 1 AS a, 2 AS b, 3 AS c", adapter: SuffixRowAdapter(fromIndex: 2))
/// ```
public protocol RowAdapter: Sendable {
    /// The layout that the adapter makes of `base`; throws when `base` lacks a column that the adapter wants.
    func layout(of base: RowLayout) throws -> RowLayout
}

extension RowAdapter {
    /// The same adapter with further scopes, which take the place of those of the same name.
    public func addingScopes(_ scopes: [String: any RowAdapter]) -> any RowAdapter {
        scopes.isEmpty ? self : ScopeAdapter(base: self, scopes: scopes)
    }
}

/// Adapters that cut a row into slices: one of each count, from left to right, and one for the columns that are left.
///
/// ```swift
/// Columns 0 and 1; columns 2, 3 and 4; columns 5 and following
/// let adapters = splittingRowAdapters(columnCounts: [2, 3])
/// ```
public func splittingRowAdapters(columnCounts: [Int]) -> [any RowAdapter] {
    var adapters: [any RowAdapter] = []
    var start = 0
    for count in columnCounts {
        adapters.append(RangeRowAdapter(start..<(start + count)))
        start += count
    }
    return adapters + [SuffixRowAdapter(fromIndex: start)]
}

/// Two adapters, one on the rows of the other: what a request gets that is adapted twice.
struct ChainedAdapter: RowAdapter {
    let first: any RowAdapter
    let second: any RowAdapter

    func layout(of base: RowLayout) throws -> RowLayout {
        try second.layout(of: first.layout(of: base))
    }
}
