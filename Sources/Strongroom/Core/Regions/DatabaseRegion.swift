/// A part of a database: all of it, or some columns and rows of some tables.
///
/// A region determines which changes are relevant: each change that may change the result of a query modifies its
/// region. Other changes may modify it, too.
///
/// Table names are compared as SQLite compares them, without regard to case.
public struct DatabaseRegion: Sendable {
    /// The part of one table.
    private struct Part: Equatable, Sendable {
        /// The name to show.
        let table: String

        /// The columns by their folded names, with the names to show. Nil for all columns.
        var columns: [String: String]?

        /// The rows. Nil for all rows.
        var rowIDs: Set<Int64>?

        static func == (lhs: Part, rhs: Part) -> Bool {
            lhs.columns.map { Set($0.keys) } == rhs.columns.map { Set($0.keys) } && lhs.rowIDs == rhs.rowIDs
        }

        mutating func formUnion(_ other: Part) {
            if let others = other.columns { columns?.merge(others) { old, _ in old } } else { columns = nil }
            if let others = other.rowIDs { rowIDs?.formUnion(others) } else { rowIDs = nil }
        }
    }

    /// The parts by the folded name of their table. Nil for the full database.
    private var parts: [String: Part]?

    /// Creates the empty region.
    public init() {
        parts = [:]
    }

    private init(parts: [String: Part]?) {
        self.parts = parts
    }

    /// Creates the region of all columns and rows of a table.
    init(table: String) {
        parts = [table.foldedSQLName: Part(table: table)]
    }

    /// Creates the region of some columns and rows of a table. Nil means all of them.
    init(table: String, columns: Set<String>?, rowIDs: Set<Int64>? = nil) {
        let columns = columns.map { Dictionary($0.map { ($0.foldedSQLName, $0) }, uniquingKeysWith: { old, _ in old }) }
        parts = [table.foldedSQLName: Part(table: table, columns: columns, rowIDs: rowIDs)]
    }

    /// The region of all tables, including those that will be created.
    public static let fullDatabase = DatabaseRegion(parts: nil)

    /// A Boolean value that indicates whether the region is empty: no change modifies it.
    public var isEmpty: Bool { parts?.isEmpty ?? false }

    /// A Boolean value that indicates whether the region is the full database.
    public var isFullDatabase: Bool { parts == nil }

    // MARK: - Combining

    /// Returns the union of two regions.
    public func union(_ other: DatabaseRegion) -> DatabaseRegion {
        var union = self
        union.formUnion(other)
        return union
    }

    /// Adds another region.
    public mutating func formUnion(_ other: DatabaseRegion) {
        guard let others = other.parts else { return parts = nil }
        for (name, part) in others {
            if let index = parts?.index(forKey: name) {
                parts?.values[index].formUnion(part)
            } else {
                parts?[name] = part
            }
        }
    }

    /// Returns the region with only these rows of `table`. A region without the table stays the same.
    func restricted(toRowIDs rowIDs: Set<Int64>, of table: String) -> DatabaseRegion {
        guard var parts, var part = parts[table.foldedSQLName] else { return self }
        part.rowIDs = part.rowIDs?.intersection(rowIDs) ?? rowIDs
        parts[table.foldedSQLName] = part.rowIDs == [] ? nil : part
        return DatabaseRegion(parts: parts)
    }

    /// Returns the region without the tables for which `isIgnored` returns true.
    func ignoringTables(where isIgnored: (String) throws -> Bool) rethrows -> DatabaseRegion {
        guard let parts else { return self }
        return try DatabaseRegion(parts: parts.filter { try !isIgnored($0.value.table) })
    }

    /// The names of the region's tables. Nil for the full database.
    var tableNames: [String]? { parts?.values.map(\.table).sorted() }

    /// Returns the names of the region's columns in a table. Nil for all of them.
    func columnNames(of table: String) -> Set<String>? {
        parts?[table.foldedSQLName]?.columns.map { Set($0.values) }
    }

    // MARK: - Changes

    /// Returns true if changes of this kind can modify the region, before their rows are known.
    public func isModified(byEventsOfKind eventKind: DatabaseEventKind) -> Bool {
        guard parts != nil else { return true }
        guard let part = part(of: eventKind.tableName) else { return false }
        guard case .update(_, let changed) = eventKind, let columns = part.columns else { return true }
        // SQLite's name for the rowid if the statement does not use its column's name.
        return changed.contains { columns[$0] != nil || columns[$0.foldedSQLName] != nil || $0 == "ROWID" }
    }

    /// Returns true if the change of a row modifies the region, regardless of its columns: see
    /// ``isModified(byEventsOfKind:)``.
    public func isModified(by event: DatabaseEvent) -> Bool {
        guard parts != nil else { return true }
        guard let part = part(of: event.tableName) else { return false }
        return part.rowIDs?.contains(event.rowID) ?? true
    }

    /// Called for each changed row. Most names are already in lowercase, and found at the first try.
    private func part(of table: String) -> Part? {
        guard let parts else { return nil }
        if let part = parts[table] { return part }
        return table.utf8.allSatisfy { !(0x41...0x5A).contains($0) && $0 < 0x80 } ? nil : parts[table.foldedSQLName]
    }
}

extension DatabaseRegion: Equatable {
    /// Returns true if the regions consist of the same tables, columns and rows.
    public static func == (lhs: DatabaseRegion, rhs: DatabaseRegion) -> Bool {
        lhs.parts == rhs.parts
    }
}

extension DatabaseRegion: CustomStringConvertible {
    /// `full database`, `empty`, or tables such as `player(id,name)[1,2],team(*)`.
    public var description: String {
        guard let parts else { return "full database" }
        if parts.isEmpty { return "empty" }
        return parts.values.sorted { $0.table < $1.table }.map { part in
            let columns = part.columns.map { $0.values.sorted().joined(separator: ",") } ?? "*"
            let rows = part.rowIDs.map { "[" + $0.sorted().map(\.description).joined(separator: ",") + "]" } ?? ""
            return "\(part.table)(\(columns))\(rows)"
        }.joined(separator: ",")
    }
}
