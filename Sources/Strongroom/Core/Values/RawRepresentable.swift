// Enumerations and wrappers are stored as their raw values. A declared conformance is enough.

extension SQLExpressible where Self: RawRepresentable, Self.RawValue: SQLExpressible {
    /// The value as an SQL expression.
    public var sqlExpression: SQLExpression { rawValue.sqlExpression }
}

extension StatementBinding where Self: RawRepresentable, Self.RawValue: StatementBinding {
    /// Binds the value to a parameter. Returns SQLite's result code.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        rawValue.bind(to: sqliteStatement, at: index)
    }
}

extension DatabaseValueConvertible where Self: RawRepresentable, Self.RawValue: DatabaseValueConvertible {
    /// The value as a database value.
    public var databaseValue: DatabaseValue { rawValue.databaseValue }

    /// Returns the value of a database value. Nil if it can't be converted.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        RawValue.fromDatabaseValue(dbValue).flatMap { Self(rawValue: $0) }
    }

    /// The value as an SQL expression.
    public var sqlExpression: SQLExpression { rawValue.sqlExpression }

    /// Binds the value to a parameter. Returns SQLite's result code.
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        rawValue.bind(to: sqliteStatement, at: index)
    }
}

// The raw value has precedence over the encoding of Codable types.

extension DatabaseValueConvertible where Self: Encodable & RawRepresentable, Self.RawValue: DatabaseValueConvertible {
    /// The value as a database value.
    public var databaseValue: DatabaseValue { rawValue.databaseValue }
}

extension DatabaseValueConvertible where Self: Decodable & RawRepresentable, Self.RawValue: DatabaseValueConvertible {
    /// Returns the value of a database value. Nil if it can't be converted.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        RawValue.fromDatabaseValue(dbValue).flatMap { Self(rawValue: $0) }
    }
}

extension StatementColumnConvertible where Self: RawRepresentable, Self.RawValue: StatementColumnConvertible {
    /// Returns the value of a column in the statement's current row. Nil if it is NULL or can't be converted.
    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Self? {
        RawValue.fromStatement(sqliteStatement, atUncheckedIndex: index).flatMap { Self(rawValue: $0) }
    }
}
