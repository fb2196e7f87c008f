/// The names of a row's columns and their positions. Created once per statement, and shared by its rows and their
/// copies.
///
/// Sendable: nothing changes after `init`.
@usableFromInline
final class RowColumns: @unchecked Sendable {
    @usableFromInline let names: [String]

    /// The names in memory that rows can read without counting references.
    let storage: UnsafeMutablePointer<String>

    /// True if all names are different, regardless of case.
    @usableFromInline let areUnique: Bool

    private let positions: [String: Int]

    /// True if a name has letters beyond ASCII, whose case SQLite distinguishes.
    private let hasOtherLetters: Bool

    /// True if the columns are those of a statement, and false if the program made them.
    let areOfStatement: Bool

    init(names: [String], areOfStatement: Bool = true) {
        self.areOfStatement = areOfStatement
        self.names = names
        storage = .allocate(capacity: max(names.count, 1))
        storage.initialize(from: names, count: names.count)
        var positions: [String: Int] = [:]
        positions.reserveCapacity(names.count)
        // From the right, so that the leftmost of equal names is kept.
        for (index, name) in names.enumerated().reversed() { positions[name.lowercased()] = index }
        self.positions = positions
        hasOtherLetters = names.contains { $0.utf8.contains { $0 >= 0x80 } }
        self.areUnique = positions.count == names.count
    }

    deinit {
        storage.deinitialize(count: names.count)
        storage.deallocate()
    }

    /// Returns the position of the leftmost column with a name, regardless of case. A column whose name SQLite takes
    /// for this one precedes others.
    @usableFromInline
    func index(of name: String) -> Int? {
        if hasOtherLetters {
            let folded = name.foldedSQLName
            let same = names.firstIndex { $0.hasBytes(of: name) } ?? names.firstIndex { $0.foldedSQLName == folded }
            if let same { return same }
        }
        return positions[name] ?? positions[name.lowercased()]
    }
}
