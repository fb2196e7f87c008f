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

extension String {
    /// The name as SQLite compares it: without regard to the case of ASCII letters.
    var foldedSQLName: String {
        guard utf8.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) else { return self }
        return String(
            decoding: utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
