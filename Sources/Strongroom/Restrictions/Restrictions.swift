import Foundation

/// The limits of an access that runs SQL of others: reports, plug-ins, colleagues, language models.
///
/// ```swift
/// var restrictions = Restrictions(tables: ["product", .table("customer", columns: ["id", "city"])])
/// restrictions.maximumRowCount = 100
/// let rows = try pool.read(restrictedTo: restrictions) { db in
///     try Row.fetchAll(db, sql: untrustedSQL)
/// }
/// ```
///
/// A restricted access only reads. It reads the given tables, views and columns of the main database, calls SQLite's
/// harmless functions and those that are named, and stops at each limit. A listed view can read tables that are not
/// listed. <doc:RestrictedQueries> describes the rules.
///
/// Source: <https://www.sqlite.org/security.html>.
public struct Restrictions: Hashable, Sendable {
    /// The tables and views that statements may read. Nil, the default, for all of the main database except SQLite's
    /// own.
    public var tables: [Source]?

    /// The names of functions of the program that statements may call, in addition to SQLite's harmless ones. Default:
    /// none.
    public var functions: Set<String> = []

    /// The maximum number of rows of a statement. Default: 10,000.
    public var maximumRowCount = 10_000

    /// The maximum number of bytes of a text, a blob or a row. Default: 1,000,000.
    /// <https://www.sqlite.org/c3ref/c_limit_attached.html>
    public var maximumCellByteCount = 1_000_000

    /// The maximum duration of the access in seconds. Default: 5.
    ///
    /// Strongroom reads the clock about every thousand steps of SQLite's virtual machine.
    public var maximumDuration: TimeInterval = 5

    /// The maximum number of bytes that SQLite may allocate during the access. Default: 64 MiB.
    ///
    /// SQLite counts the memory of the process: memory that other connections allocate meanwhile counts, too. The limit
    /// is checked about every thousand steps of SQLite's virtual machine. Before a statement stops, it may exceed the
    /// limit by the size of one of its rows. <https://www.sqlite.org/c3ref/memory_highwater.html>
    public var maximumMemoryByteCount = 64 << 20

    /// The maximum depth of an expression, also of one in a view. Default: 50.
    /// <https://www.sqlite.org/c3ref/c_limit_attached.html>
    public var maximumExpressionDepth = 50

    /// The maximum number of terms of a compound query, such as `UNION`. Default: 20.
    public var maximumCompoundTermCount = 20

    /// The maximum number of bytes of a statement's text. Default: 100,000.
    public var maximumStatementByteCount = 100_000

    /// Creates restrictions with the default limits.
    ///
    /// - parameter tables: the tables and views that statements may read. Nil, the default, for all.
    public init(tables: [Source]? = nil) {
        self.tables = tables
    }

    /// A table or a view that statements may read.
    public struct Source: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The name of the table or view in the main database, regardless of case.
        public let name: String

        /// The names of the columns, regardless of case. Nil for all.
        public let columns: Set<String>?

        /// Creates a source with all of its columns.
        public init(stringLiteral name: String) {
            (self.name, columns) = (name, nil)
        }

        private init(_ name: String, _ columns: Set<String>?) {
            (self.name, self.columns) = (name, columns)
        }

        /// Returns a table or view.
        ///
        /// - parameters:
        ///   - name: the name.
        ///   - columns: the columns that statements may read. Nil, the default, for all. Those of a virtual table can't
        ///     be limited.
        public static func table(_ name: String, columns: Set<String>? = nil) -> Source { Source(name, columns) }
    }
}

extension Restrictions {
    /// Throws if a limit is zero or less: nothing could be read.
    func requireLimits() throws {
        let limits: [(name: String, value: Double)] = [
            ("maximumRowCount", Double(maximumRowCount)), ("maximumCellByteCount", Double(maximumCellByteCount)),
            ("maximumDuration", maximumDuration), ("maximumMemoryByteCount", Double(maximumMemoryByteCount)),
            ("maximumExpressionDepth", Double(maximumExpressionDepth)),
            ("maximumCompoundTermCount", Double(maximumCompoundTermCount)),
            ("maximumStatementByteCount", Double(maximumStatementByteCount)),
        ]
        for limit in limits where !(limit.value > 0) {
            throw DatabaseError.unfit(
                "Restrictions.\(limit.name) is \(Self.text(limit.value))", "Give a limit greater than zero")
        }
    }

    /// Returns a limit, without a fraction if it has none.
    static func text(_ limit: Double) -> String {
        limit == limit.rounded() && abs(limit) < 1e15 ? String(Int(limit)) : String(limit)
    }
}

extension DatabaseError {
    /// The error of restrictions that can't be applied.
    static func unfit(_ message: String, _ advice: String) -> DatabaseError {
        DatabaseError(refusing: message + "; nothing was read", advice: advice, reason: .unfitRestrictions)
    }
}
