/// A part of a database: all of it, or some columns and rows of some tables.
///
/// Regions tell which changes matter: a query's region is modified by each change that may change the query's result,
/// and by some that don't.
///
/// Table names are compared as SQLite compares them, without regard to case.
public struct DatabaseRegion: Sendable {
    /// The part of one table.
    private struct Part: Equatable, Sendable {
        /// The name to show.
        let table: String

        /// Columns by their lowercase names, with the names to show; nil for all columns.
        var columns: [String: String]?

        /// Rows; nil for all rows.
        var rowIDs: Set<Int64>?

        static func == (lhs: Part, rhs: Part) -> Bool {
            lhs.columns.map { Set($0.keys) } == rhs.columns.map { Set($0.keys) } && lhs.rowIDs == rhs.rowIDs
        }

        mutating func formUnion(_ other: Part) {
            if let others = other.columns { columns?.merge(others) { old, _ in old } } else { columns = nil }
            if let others = other.rowIDs { rowIDs?.formUnion(others) } else { rowIDs = nil }
        }
    }

    /// Parts by the lowercase name of their table; nil for the full database.
    private var parts: [String: Part]?

    /// The region of nothing.
    public init() {
        parts = [:]
    }

    private init(parts: [String: Part]?) {
        self.parts = parts
    }

    /// The region of all columns and rows of a table.
    init(table: String) {
        parts = [table.lowercased(): Part(table: table)]
    }

    /// The region of some columns and rows of a table; nil means all of them.
    init(table: String, columns: Set<String>?, rowIDs: Set<Int64>? = nil) {
        let columns = columns.map { Dictionary($0.map { ($0.lowercased(), $0) }, uniquingKeysWith: { old, _ in old }) }
        parts = [table.lowercased(): Part(table: table, columns: columns, rowIDs: rowIDs)]
    }

    /// The region of all tables, those that will be created included.
    public static let fullDatabase = DatabaseRegion(parts: nil)

    /// A Boolean value that indicates whether no change can modify the region.
    public var isEmpty: Bool { parts?.isEmpty ?? false }

    /// A Boolean value that indicates whether the region covers everything.
    public var isFullDatabase: Bool { parts == nil }

    // MARK: - Combining

    /// The region of what is in either.
    public func union(_ other: DatabaseRegion) -> DatabaseRegion {
        var union = self
        union.formUnion(other)
        return union
    }

    /// Adds what is in `other`.
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

    /// The same region, with no other rows of `table` than these; a region that knows nothing of the table stays as it
    /// is.
    func restricted(toRowIDs rowIDs: Set<Int64>, of table: String) -> DatabaseRegion {
        guard var parts, var part = parts[table.lowercased()] else { return self }
        part.rowIDs = part.rowIDs?.intersection(rowIDs) ?? rowIDs
        parts[table.lowercased()] = part.rowIDs == [] ? nil : part
        return DatabaseRegion(parts: parts)
    }

    /// The same region without the tables for which `isIgnored` is true.
    func ignoringTables(where isIgnored: (String) throws -> Bool) rethrows -> DatabaseRegion {
        guard let parts else { return self }
        return try DatabaseRegion(parts: parts.filter { try !isIgnored($0.value.table) })
    }

    /// The names of the region's tables; nil for the full database.
    var tableNames: [String]? { parts?.values.map(\.table).sorted() }

    /// The names of the region's columns in a table; nil for all of them.
    func columnNames(of table: String) -> Set<String>? {
        parts?[table.lowercased()]?.columns.map { Set($0.values) }
    }

    // MARK: - Changes

    /// Returns true if changes of that kind can modify the region: the rows are not known yet.
    public func isModified(byEventsOfKind eventKind: DatabaseEventKind) -> Bool {
        guard parts != nil else { return true }
        guard let part = part(of: eventKind.tableName) else { return false }
        guard case .update(_, let changed) = eventKind, let columns = part.columns else { return true }
        // SQLite's name for the rowid where the statement does not call it by its column.
        return changed.contains { columns[$0] != nil || columns[$0.lowercased()] != nil || $0 == "ROWID" }
    }

    /// Returns true if a change of a row modifies the region. The columns are not looked at: see
    /// ``isModified(byEventsOfKind:)``.
    public func isModified(by event: DatabaseEvent) -> Bool {
        guard parts != nil else { return true }
        guard let part = part(of: event.tableName) else { return false }
        return part.rowIDs?.contains(event.rowID) ?? true
    }

    /// Called for every changed row: most names are in lowercase already, and found at the first try.
    private func part(of table: String) -> Part? {
        guard let parts else { return nil }
        if let part = parts[table] { return part }
        return table.utf8.allSatisfy { !(0x41...0x5A).contains($0) && $0 < 0x80 } ? nil : parts[table.lowercased()]
    }
}

extension DatabaseRegion: Equatable {
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

extension DatabaseRegion: DatabaseRegionConvertible {
    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { self }
}

/// A type whose values depend on a part of the database that they know.
public protocol DatabaseRegionConvertible: Sendable {
    /// The region, which may depend on the schema.
    func databaseRegion(_ db: Database) throws -> DatabaseRegion
}

extension DatabaseRegionConvertible where Self == DatabaseRegion {
    /// The region of all tables, those that will be created included.
    public static var fullDatabase: DatabaseRegion { .fullDatabase }
}

/// Some region, whatever its type.
public struct AnyDatabaseRegionConvertible: DatabaseRegionConvertible {
    private let region: @Sendable (Database) throws -> DatabaseRegion

    /// A region that is computed when it is needed.
    public init(_ region: @escaping @Sendable (Database) throws -> DatabaseRegion) {
        self.region = region
    }

    public init(_ region: some DatabaseRegionConvertible) {
        self.region = { try region.databaseRegion($0) }
    }

    public func databaseRegion(_ db: Database) throws -> DatabaseRegion { try region(db) }
}
