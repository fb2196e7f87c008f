/// A row adapter that shows some columns under other names.
///
/// ```swift
/// [id:1 name:"Arthur"]
/// let adapter = ColumnMapping(["id": "playerId", "name": "playerName"])
/// try Row.fetchOne(db, sql: "SELECT 1 AS playerId, 'Arthur' AS playerName, 1000 AS score", adapter: adapter)
/// ```
///
/// The columns keep the order of the statement. Names of the statement are matched regardless of case, and the leftmost
/// of equal names is used. Fetching throws `SQLITE_MISUSE` if the statement doesn't have a mapped column.
public struct ColumnMapping: RowAdapter {
    private let mapping: [String: String]

    /// Creates an adapter.
    ///
    /// - parameter mapping: the names in the statement, by the names in the row.
    public init(_ mapping: [String: String]) {
        self.mapping = mapping
    }

    /// Returns the layout of the adapted rows.
    public func layout(of base: RowLayout) throws -> RowLayout {
        let columns = try mapping.map { name, baseName in
            guard let index = base.columns.index(of: baseName)
            else { throw Self.missing(baseName, in: base.columns.names) }
            return (index: index, name: name)
        }
        return base.selecting(columns.sorted { ($0.index, $0.name) < ($1.index, $1.name) })
    }

    private static func missing(_ name: String, in names: [String]) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_MISUSE,
            message: "Mapping references missing column \(name). "
                + "Valid column names are: \(names.joined(separator: ", ")).")
    }
}
