/// A type that changes the columns of a statement's rows.
///
/// Pass an adapter to the functions that fetch, or to a request. The adapters:
///
/// - ``ColumnMapping`` renames columns and hides the others,
/// - ``RenameColumnAdapter`` renames all columns with a function,
/// - ``SuffixRowAdapter``, ``RangeRowAdapter`` and ``EmptyRowAdapter`` show some columns,
/// - ``ScopeAdapter`` adds further rows to the row, by name.
///
/// ```swift
/// [c:3]
/// try Row.fetchOne(db, sql: "SELECT 1 AS a, 2 AS b, 3 AS c", adapter: SuffixRowAdapter(fromIndex: 2))
/// ```
public protocol RowAdapter: Sendable {
    /// Returns the layout of the adapted rows. Throws if `base` doesn't have a column that the adapter needs.
    func layout(of base: RowLayout) throws -> RowLayout
}

extension RowAdapter {
    /// Returns the adapter with further scopes, which replace scopes with the same names.
    public func addingScopes(_ scopes: [String: any RowAdapter]) -> any RowAdapter {
        scopes.isEmpty ? self : ScopeAdapter(base: self, scopes: scopes)
    }
}

/// Returns adapters that split a row: one for each count, from left to right, and one for the remaining columns.
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

/// Two adapters in sequence, for a request that is adapted twice.
struct ChainedAdapter: RowAdapter {
    let first: any RowAdapter
    let second: any RowAdapter

    func layout(of base: RowLayout) throws -> RowLayout {
        try second.layout(of: first.layout(of: base))
    }
}
