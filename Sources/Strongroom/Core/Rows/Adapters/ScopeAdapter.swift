/// A row adapter that adds further rows to a row, by name: see ``Row/scopes``.
///
/// ```swift
/// let adapter = ScopeAdapter(base: RangeRowAdapter(0..<2), scopes: ["team": SuffixRowAdapter(fromIndex: 2)])
/// let row = try Row.fetchOne(db, sql: "SELECT player.id, player.name, team.id, team.name FROM …", adapter: adapter)!
/// row                // [id:1 name:"Arthur"]
/// row.scopes["team"] // [id:7 name:"Reds"]
/// ```
///
/// The adapters of the scopes have the same columns available as the base adapter.
public struct ScopeAdapter: RowAdapter {
    private let base: (any RowAdapter)?
    private let scopes: [String: any RowAdapter]

    /// Creates an adapter that shows all columns, and the scopes.
    public init(_ scopes: [String: any RowAdapter]) {
        self.base = nil
        self.scopes = scopes
    }

    /// Creates an adapter that shows a row as `base` does, with its scopes and these. These replace scopes with the
    /// same names.
    public init(base: some RowAdapter, scopes: [String: any RowAdapter]) {
        self.base = base
        self.scopes = scopes
    }

    /// Returns the layout of the adapted rows.
    public func layout(of base: RowLayout) throws -> RowLayout {
        let row = try self.base?.layout(of: base) ?? base
        let added = try scopes.mapValues { try $0.layout(of: base) }
        return row.replacingScopes(row.scopes.merging(added) { $1 })
    }
}
