/// A row adapter that renames all columns with a function.
///
/// ```swift
/// [ID:1 NAME:"Arthur"]
/// let adapter = RenameColumnAdapter { $0.uppercased() }
/// try Row.fetchOne(db, sql: "SELECT 1 AS id, 'Arthur' AS name", adapter: adapter)
/// ```
public struct RenameColumnAdapter: RowAdapter {
    private let transform: @Sendable (String) -> String

    /// Creates an adapter that calls `transform` with each name.
    public init(_ transform: @escaping @Sendable (String) -> String) {
        self.transform = transform
    }

    /// Returns the layout of the adapted rows.
    public func layout(of base: RowLayout) -> RowLayout {
        base.selecting(base.columns.names.enumerated().map { ($0, transform($1)) })
    }
}
