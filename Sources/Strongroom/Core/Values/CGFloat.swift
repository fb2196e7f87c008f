import Foundation

extension CGFloat: DatabaseValueConvertible, StatementColumnConvertible {
    /// The number as a double.
    public var databaseValue: DatabaseValue { Double(self).databaseValue }

    /// Returns any number.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> CGFloat? {
        Double.fromDatabaseValue(dbValue).map { CGFloat($0) }
    }

    /// Binds the value to a parameter. Returns SQLite's result code.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        Double(self).bind(to: sqliteStatement, at: index)
    }

    /// Creates the value of a column in the statement's current row.
    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        self.init(Double(sqliteStatement: sqliteStatement, index: index))
    }
}
