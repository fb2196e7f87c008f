extension Database {
    /// The declared type of a column, which decides how SQLite converts what is stored.
    ///
    /// Source: <https://www.sqlite.org/datatype3.html#type_affinity>.
    public struct ColumnType: RawRepresentable, Hashable, Sendable {
        public let rawValue: String

        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        public static let text = ColumnType(rawValue: "TEXT")
        public static let integer = ColumnType(rawValue: "INTEGER")
        public static let double = ColumnType(rawValue: "DOUBLE")
        public static let real = ColumnType(rawValue: "REAL")
        public static let numeric = ColumnType(rawValue: "NUMERIC")
        public static let boolean = ColumnType(rawValue: "BOOLEAN")
        public static let blob = ColumnType(rawValue: "BLOB")
        public static let date = ColumnType(rawValue: "DATE")
        public static let datetime = ColumnType(rawValue: "DATETIME")

        /// JSON in text. <https://www.sqlite.org/json1.html>
        public static let jsonText = ColumnType(rawValue: "TEXT")

        /// JSON in SQLite's own binary form. <https://www.sqlite.org/jsonb.html>
        public static let jsonb = ColumnType(rawValue: "BLOB")

        /// Values stay as they are, in a strict table too. <https://www.sqlite.org/stricttables.html>
        public static let any = ColumnType(rawValue: "ANY")
    }

    /// The action on a row when the row that it refers to is deleted, or changes its key.
    ///
    /// Source: <https://www.sqlite.org/foreignkeys.html#fk_actions>.
    public enum ForeignKeyAction: String, Sendable {
        case cascade = "CASCADE"
        case restrict = "RESTRICT"
        case setNull = "SET NULL"
        case setDefault = "SET DEFAULT"
    }
}
