extension Database {
    /// The declared type of a column, which determines how SQLite converts values before it stores them.
    ///
    /// Source: <https://www.sqlite.org/datatype3.html#type_affinity>.
    public struct ColumnType: RawRepresentable, Hashable, Sendable {
        /// The name of the type in SQL.
        public let rawValue: String

        /// Creates a type from its name in SQL.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// Text: `TEXT`.
        public static let text = ColumnType(rawValue: "TEXT")
        /// Integers: `INTEGER`.
        public static let integer = ColumnType(rawValue: "INTEGER")
        /// Floating-point numbers: `DOUBLE`.
        public static let double = ColumnType(rawValue: "DOUBLE")
        /// Floating-point numbers: `REAL`.
        public static let real = ColumnType(rawValue: "REAL")
        /// Numbers, or text that is not a number: `NUMERIC`.
        public static let numeric = ColumnType(rawValue: "NUMERIC")
        /// Booleans, with the affinity of numbers: `BOOLEAN`.
        public static let boolean = ColumnType(rawValue: "BOOLEAN")
        /// Bytes: `BLOB`.
        public static let blob = ColumnType(rawValue: "BLOB")
        /// Dates, with the affinity of numbers: `DATE`.
        public static let date = ColumnType(rawValue: "DATE")
        /// Dates with time, with the affinity of numbers: `DATETIME`.
        public static let datetime = ColumnType(rawValue: "DATETIME")

        /// JSON as text. <https://www.sqlite.org/json1.html>
        public static let jsonText = ColumnType(rawValue: "TEXT")

        /// JSON in SQLite's binary format. <https://www.sqlite.org/jsonb.html>
        public static let jsonb = ColumnType(rawValue: "BLOB")

        /// Values of any type, unconverted, in a strict table too. <https://www.sqlite.org/stricttables.html>
        public static let any = ColumnType(rawValue: "ANY")
    }

    /// The action on a row when the row that it refers to is deleted or changes its key.
    ///
    /// Source: <https://www.sqlite.org/foreignkeys.html#fk_actions>.
    public enum ForeignKeyAction: String, Sendable {
        case cascade = "CASCADE"
        case restrict = "RESTRICT"
        case setNull = "SET NULL"
        case setDefault = "SET DEFAULT"
    }
}
