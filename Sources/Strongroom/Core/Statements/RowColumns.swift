/// The names of a row's columns and where they are. Made once per statement, shared by its rows and their copies.
///
/// Sendable: nothing changes after `init`.
@usableFromInline
final class RowColumns: @unchecked Sendable {
    @usableFromInline let names: [String]

    /// The names where rows find them without counting references.
    let storage: UnsafeMutablePointer<String>

    /// True if no two names are the same, but for their case.
    @usableFromInline let areUnique: Bool

    private let positions: [String: Int]

    /// True if a statement has these columns; otherwise the program made them up.
    let areOfStatement: Bool

    init(names: [String], areOfStatement: Bool = true) {
        self.areOfStatement = areOfStatement
        self.names = names
        storage = .allocate(capacity: max(names.count, 1))
        storage.initialize(from: names, count: names.count)
        var positions: [String: Int] = [:]
        positions.reserveCapacity(names.count)
        // From the right, so that the leftmost of equal names stays.
        for (index, name) in names.enumerated().reversed() { positions[name.lowercased()] = index }
        self.positions = positions
        self.areUnique = positions.count == names.count
    }

    deinit {
        storage.deinitialize(count: names.count)
        storage.deallocate()
    }

    /// The leftmost column of that name, whatever its case.
    @usableFromInline
    func index(of name: String) -> Int? {
        positions[name] ?? positions[name.lowercased()]
    }
}
