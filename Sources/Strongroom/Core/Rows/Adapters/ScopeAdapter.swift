/// Hangs further rows on a row, by name: see ``Row/scopes``.
///
/// ```swift
/// let adapter = ScopeAdapter(base: RangeRowAdapter(0..<2), scopes: ["team": SuffixRowAdapter(fromIndex: 2)])
/// let row = try Row.fetchOne(db, sql: "SELECT player.id, player.name, team.id, team.name FROM …", adapter: adapter)!
/// row                // [id:1 name:"Arthur"]
/// row.scopes["team"] // [id:7 name:"Reds"]
/// ```
///
/// The adapters of the scopes see the columns that the base adapter sees, not those that it leaves.
public struct ScopeAdapter: RowAdapter {
    private let base: (any RowAdapter)?
    private let scopes: [String: any RowAdapter]

    /// The row with all its columns, and the scopes.
    public init(_ scopes: [String: any RowAdapter]) {
        self.base = nil
        self.scopes = scopes
    }

    /// The row as `base` shows it, with its scopes and these. Of equal names, these count.
    public init(base: some RowAdapter, scopes: [String: any RowAdapter]) {
        self.base = base
        self.scopes = scopes
    }

    public func layout(of base: RowLayout) throws -> RowLayout {
        let row = try self.base?.layout(of: base) ?? base
        let added = try scopes.mapValues { try $0.layout(of: base) }
        return row.replacingScopes(row.scopes.merging(added) { $1 })
    }
}
