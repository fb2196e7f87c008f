import Foundation

extension CGFloat: DatabaseValueConvertible, StatementColumnConvertible {
    /// A double.
    public var databaseValue: DatabaseValue { Double(self).databaseValue }

    /// Any number.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> CGFloat? {
        Double.fromDatabaseValue(dbValue).map { CGFloat($0) }
    }

    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        Double(self).bind(to: sqliteStatement, at: index)
    }

    public init(sqliteStatement: SQLiteStatement, index: CInt) {
        self.init(Double(sqliteStatement: sqliteStatement, index: index))
    }
}
