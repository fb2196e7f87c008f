extension Database {
    /// The reaction to a change that would violate a constraint. <https://www.sqlite.org/lang_conflict.html>
    public enum ConflictResolution: String, Sendable {
        case rollback = "ROLLBACK"
        case abort = "ABORT"
        case fail = "FAIL"
        case ignore = "IGNORE"
        case replace = "REPLACE"
    }

    /// A storage class to cast to. <https://www.sqlite.org/datatype3.html>
    public struct StorageClass: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public static let integer = StorageClass(rawValue: "INTEGER")
        public static let real = StorageClass(rawValue: "REAL")
        public static let text = StorageClass(rawValue: "TEXT")
        public static let blob = StorageClass(rawValue: "BLOB")
    }
}

extension Database.ConflictResolution? {
    /// `OR REPLACE `, or nothing for what SQLite does anyway.
    var sqlClause: String {
        switch self {
        case nil, .abort: ""
        case .some(let resolution): "OR \(resolution.rawValue) "
        }
    }
}

extension String {
    /// The name as SQLite compares it: the case of ASCII letters does not count, that of others does.
    var foldedSQLName: String {
        guard utf8.contains(where: { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) else { return self }
        return String(
            decoding: utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
    }
}
