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
    public var id: ID { ID(lowercaseName: name.foldedSQLName) }

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
        let code = RawConnection(connection).addCollation(
            name, context, compare: compareText, release: releaseCollation)
        // SQLite does not release a refused collation, unlike a function.
        if code != SQLITE_OK { releaseCollation(context) }
        return code
    }

    func uninstall(from connection: SQLiteConnection) -> CInt {
        RawConnection(connection).removeCollation(name)
    }

    fileprivate func compare(_ left: String, _ right: String) -> CInt {
        switch function(left, right) {
        case .orderedAscending: -1
        case .orderedSame: 0
        case .orderedDescending: 1
        }
    }
}

// MARK: - Called by SQLite

private func compareText(
    _ context: UnsafeMutableRawPointer?,
    _ leftLength: CInt, _ left: UnsafeRawPointer?,
    _ rightLength: CInt, _ right: UnsafeRawPointer?
) -> CInt {
    let collation = Unmanaged<DatabaseCollation>.fromOpaque(context!).takeUnretainedValue()
    return collation.compare(text(left, leftLength), text(right, rightLength))
}

private func text(_ bytes: UnsafeRawPointer?, _ length: CInt) -> String {
    String(decoding: UnsafeRawBufferPointer(start: bytes, count: Int(length)), as: UTF8.self)
}

private func releaseCollation(_ context: UnsafeMutableRawPointer?) {
    Unmanaged<DatabaseCollation>.fromOpaque(context!).releaseLater()
}
