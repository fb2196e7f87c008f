/// The names of a row's columns and where they are. Made once per statement, shared by its rows and their copies.
@usableFromInline
final class RowColumns: Sendable {
    @usableFromInline let names: [String]

    /// Whether no two names are the same, but for their case.
    @usableFromInline let areUnique: Bool

    private let positions: [String: Int]

    init(names: [String]) {
        self.names = names
        var positions: [String: Int] = [:]
        positions.reserveCapacity(names.count)
        // From the right, so that the leftmost of equal names stays.
        for (index, name) in names.enumerated().reversed() { positions[name.lowercased()] = index }
        self.positions = positions
        self.areUnique = positions.count == names.count
    }

    /// The leftmost column of that name, whatever its case.
    @usableFromInline
    func index(of name: String) -> Int? {
        positions[name] ?? positions[name.lowercased()]
    }
}
