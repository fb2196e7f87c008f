/// Which columns of a statement a row shows, under which names, and which rows hang on it by name.
///
/// Row adapters make layouts out of layouts.
public struct RowLayout: Sendable {
    /// The row's columns, each with its position in the statement.
    var columns: [(index: Int, name: String)]

    /// Further rows on the same statement, by name.
    var scopes: [String: RowLayout] = [:]

    /// All columns of a statement.
    init(names: [String]) {
        columns = names.enumerated().map { ($0, $1) }
    }

    init(columns: [(index: Int, name: String)], scopes: [String: RowLayout] = [:]) {
        self.columns = columns
        self.scopes = scopes
    }
}

/// Presents the rows of a request otherwise than the statement gives them.
public protocol RowAdapter: Sendable {
    /// The layout that the adapter makes of `base`; throws when `base` lacks a column the adapter wants.
    func layout(of base: RowLayout) throws -> RowLayout
}
