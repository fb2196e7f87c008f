/// Which columns of a statement a row shows, under which names, and which further rows hang on it by name.
///
/// Row adapters make layouts out of layouts, once per run of a statement; the rows of the run share them.
///
/// Sendable: nothing changes after `init`.
public final class RowLayout: @unchecked Sendable {
    /// The names that the row shows.
    let columns: RowColumns

    /// The position of each column in the statement.
    let positions: [Int]

    /// The positions where rows find them without counting references.
    let storage: UnsafeMutablePointer<Int>

    /// Further rows on the same statement, by name.
    let scopes: [String: RowLayout]

    /// The path to each scope, however deep: the shortest one, the first in alphabetical order of equally short ones.
    let paths: [String: [String]]

    /// All columns of the statement.
    let unadapted: RowColumns

    /// All columns of a statement.
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

    /// The same statement with these columns of the layout, each under a name, and no scope.
    func selecting(_ columns: [(index: Int, name: String)]) -> RowLayout {
        RowLayout(
            RowColumns(names: columns.map(\.name)),
            positions: columns.map { positions[$0.index] },
            scopes: [:],
            unadapted: unadapted)
    }

    /// The same columns under their names, a range of them, and no scope.
    func selecting(_ range: Range<Int>) -> RowLayout {
        selecting(range.map { ($0, columns.names[$0]) })
    }

    /// The same columns with these scopes.
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
