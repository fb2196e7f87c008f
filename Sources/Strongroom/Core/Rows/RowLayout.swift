/// The columns of a statement that a row shows, their names, and the further rows of the row, by name.
///
/// Row adapters turn layouts into layouts, once per run of a statement. The rows of the run share them.
///
/// Sendable: nothing changes after `init`.
public final class RowLayout: @unchecked Sendable {
    /// The names that the row shows.
    let columns: RowColumns

    /// The position of each column in the statement.
    let positions: [Int]

    /// The positions in memory that rows can read without counting references.
    let storage: UnsafeMutablePointer<Int>

    /// The further rows, by name.
    let scopes: [String: RowLayout]

    /// The path to each scope, at any depth: the shortest one, and of several the first in alphabetical order.
    let paths: [String: [String]]

    /// All columns of the statement.
    let unadapted: RowColumns

    /// Creates the layout of all columns of a statement.
    convenience init(_ columns: RowColumns) {
        self.init(columns, positions: Array(0..<columns.names.count), scopes: [:], unadapted: columns)
    }

    private init(_ columns: RowColumns, positions: [Int], scopes: [String: RowLayout], unadapted: RowColumns) {
        self.columns = columns
        self.positions = positions
        self.storage = .allocate(capacity: max(positions.count, 1))
        self.storage.initialize(from: positions, count: positions.count)
        self.scopes = scopes
        self.paths = scopes.isEmpty ? [:] : Self.paths(to: scopes)
        self.unadapted = unadapted
    }

    deinit {
        storage.deallocate()
    }

    /// Returns a layout with some of the columns, under other names, without scopes.
    func selecting(_ columns: [(index: Int, name: String)]) -> RowLayout {
        RowLayout(
            RowColumns(names: columns.map(\.name)),
            positions: columns.map { positions[$0.index] },
            scopes: [:],
            unadapted: unadapted)
    }

    /// Returns a layout with a range of the columns, without scopes.
    func selecting(_ range: Range<Int>) -> RowLayout {
        selecting(range.map { ($0, columns.names[$0]) })
    }

    /// Returns the layout with other scopes.
    func replacingScopes(_ scopes: [String: RowLayout]) -> RowLayout {
        RowLayout(columns, positions: positions, scopes: scopes, unadapted: unadapted)
    }

    private static func paths(to scopes: [String: RowLayout]) -> [String: [String]] {
        var paths: [String: [String]] = [:]
        var level = scopes.sorted { $0.key < $1.key }.map { (path: [$0.key], layout: $0.value) }
        while !level.isEmpty {
            for (path, _) in level where paths[path.last!] == nil { paths[path.last!] = path }
            level = level.flatMap { path, layout in
                layout.scopes.sorted { $0.key < $1.key }.map { (path: path + [$0.key], layout: $0.value) }
            }
        }
        return paths
    }
}
