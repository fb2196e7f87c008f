/// The open savepoints, and their changes, of which no observer has been notified yet.
struct SavepointLog {
    struct Entry {
        let event: DatabaseEvent
        let observers: StatementObservers
    }

    private struct Savepoint {
        let name: String
        let firstEntry: Int
    }

    private var savepoints: [Savepoint] = []
    private var entries: [Entry] = []

    /// True if no savepoint is open.
    var isEmpty: Bool { savepoints.isEmpty }

    mutating func append(_ entry: Entry) {
        entries.append(entry)
    }

    mutating func begin(_ name: String) {
        savepoints.append(Savepoint(name: name.foldedSQLName, firstEntry: entries.count))
    }

    /// Ends the savepoint and those inside of it.
    mutating func release(_ name: String) {
        guard let index = index(of: name) else { return }
        savepoints.removeSubrange(index...)
    }

    /// Discards the changes since the beginning of the savepoint, which stays open.
    mutating func rollBack(to name: String) {
        guard let index = index(of: name) else { return }
        entries.removeSubrange(savepoints[index].firstEntry...)
        savepoints.removeSubrange((index + 1)...)
    }

    /// Removes the changes, and returns them.
    mutating func takeEntries() -> [Entry] {
        defer { entries = [] }
        return entries
    }

    mutating func removeAll() {
        if savepoints.isEmpty, entries.isEmpty { return }
        savepoints = []
        entries = []
    }

    private func index(of name: String) -> Int? {
        let name = name.foldedSQLName
        return savepoints.lastIndex { $0.name == name }
    }
}
