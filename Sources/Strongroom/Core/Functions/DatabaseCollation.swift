import CSQLCipher
import Foundation

/// A collation that is written in Swift.
///
/// Indexes are sorted by their collations, so a collation must always return the same order. After a change, use
/// ``Database/reindex(collation:)-(DatabaseCollation)``.
///
/// Source: <https://www.sqlite.org/datatype3.html#collation>.
public final class DatabaseCollation: Identifiable, Sendable {
    /// The name, regardless of case.
    public struct ID: Hashable, Sendable {
        let lowercaseName: String
    }

    /// The name in SQL.
    public let name: String

    /// The identity: the name, regardless of case.
    public var id: ID { ID(lowercaseName: name.lowercased()) }

    private let function: @Sendable (String, String) -> ComparisonResult

    private init(name: String, compare: @escaping @Sendable (String, String) -> ComparisonResult) {
        self.name = name
        self.function = compare
    }

    /// Creates a collation from a comparison.
    public convenience init(_ name: String, function: @escaping @Sendable (String, String) -> ComparisonResult) {
        self.init(name: name, compare: function)
    }

    func install(on connection: SQLiteConnection) -> CInt {
        let context = Unmanaged.passRetained(self).toOpaque()
        let code = sqlite3_create_collation_v2(connection, name, SQLITE_UTF8, context, compareText, releaseCollation)
        // SQLite does not release a refused collation, unlike a function.
        if code != SQLITE_OK { releaseCollation(context) }
        return code
    }

    fileprivate func uninstall(from connection: SQLiteConnection) -> CInt {
        sqlite3_create_collation_v2(connection, name, SQLITE_UTF8, nil, nil, nil)
    }

    fileprivate func compare(_ left: String, _ right: String) -> CInt {
        switch function(left, right) {
        case .orderedAscending: -1
        case .orderedSame: 0
        case .orderedDescending: 1
        }
    }
}

extension Database {
    /// The name of a collation.
    public struct CollationName: RawRepresentable, Hashable, Sendable {
        /// The name in SQL.
        public let rawValue: String

        /// Creates a name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Compares byte by byte: the default.
        public static let binary = CollationName(rawValue: "BINARY")

        /// Ignores the case of ASCII letters.
        public static let nocase = CollationName(rawValue: "NOCASE")

        /// Ignores trailing spaces.
        public static let rtrim = CollationName(rawValue: "RTRIM")
    }

    /// Adds a collation, or replaces the collation with that name.
    ///
    /// It is a fatal error while a statement runs.
    public func add(collation: DatabaseCollation) {
        register("The collation \(collation.name) can't be added") { collation.install(on: $0) }
    }

    /// Removes a collation.
    ///
    /// It is a fatal error while a statement runs.
    public func remove(collation: DatabaseCollation) {
        register("The collation \(collation.name) can't be removed") { collation.uninstall(from: $0) }
    }

    /// Rebuilds all indexes that use the collation. <https://www.sqlite.org/lang_reindex.html>
    public func reindex(collation: CollationName) throws {
        try execute(sql: "REINDEX \(collation.rawValue.collationName)")
    }

    /// Rebuilds all indexes that use the collation. <https://www.sqlite.org/lang_reindex.html>
    public func reindex(collation: DatabaseCollation) throws {
        try reindex(collation: CollationName(rawValue: collation.name))
    }
}

// MARK: - Called by SQLite

private func compareText(
    _ context: UnsafeMutableRawPointer?,
    _ leftLength: CInt, _ left: UnsafeRawPointer?,
    _ rightLength: CInt, _ right: UnsafeRawPointer?) -> CInt
{
    let collation = Unmanaged<DatabaseCollation>.fromOpaque(context!).takeUnretainedValue()
    return collation.compare(text(left, leftLength), text(right, rightLength))
}

private func text(_ bytes: UnsafeRawPointer?, _ length: CInt) -> String {
    String(decoding: UnsafeRawBufferPointer(start: bytes, count: Int(length)), as: UTF8.self)
}

private func releaseCollation(_ context: UnsafeMutableRawPointer?) {
    Unmanaged<DatabaseCollation>.fromOpaque(context!).releaseLater()
}
