extension Database {
    /// The resolution of a constraint violation. <https://www.sqlite.org/lang_conflict.html>
    public enum ConflictResolution: String, Sendable {
        case rollback = "ROLLBACK"
        case abort = "ABORT"
        case fail = "FAIL"
        case ignore = "IGNORE"
        case replace = "REPLACE"
    }

    /// A storage class, for casts. <https://www.sqlite.org/datatype3.html>
    public struct StorageClass: RawRepresentable, Hashable, Sendable {
        /// The name in SQL.
        public let rawValue: String

        /// Creates it from its name in SQL.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Integers: `INTEGER`.
        public static let integer = StorageClass(rawValue: "INTEGER")
        /// Floating-point numbers: `REAL`.
        public static let real = StorageClass(rawValue: "REAL")
        /// Text: `TEXT`.
        public static let text = StorageClass(rawValue: "TEXT")
        /// Bytes: `BLOB`.
        public static let blob = StorageClass(rawValue: "BLOB")
    }

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
}

extension Database.ConflictResolution? {
    /// `OR REPLACE `, or nothing for SQLite's default.
    var sqlClause: String {
        switch self {
        case nil, .abort: ""
        case .some(let resolution): "OR \(resolution.rawValue) "
        }
    }
}
