// Enumerations and wrappers are stored as their raw values. A declared conformance is enough. Inlined, a conversion
// knows its types: at run time, the library would look up their metadata for each value.

extension SQLExpressible where Self: RawRepresentable, Self.RawValue: SQLExpressible {
    /// The value as an SQL expression.
    public var sqlExpression: SQLExpression { rawValue.sqlExpression }
}

extension StatementBinding where Self: RawRepresentable, Self.RawValue: StatementBinding {
    /// Binds the value to a parameter. Returns SQLite's result code.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        rawValue.bind(to: sqliteStatement, at: index)
    }
}

extension DatabaseValueConvertible where Self: RawRepresentable, Self.RawValue: DatabaseValueConvertible {
    /// The value as a database value.
    @inlinable
    public var databaseValue: DatabaseValue { rawValue.databaseValue }

    /// Returns the value of a database value. Nil if it can't be converted.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        guard let value = RawValue.fromDatabaseValue(dbValue) else { return nil }
        return Self(rawValue: value)
    }

    /// The value as an SQL expression.
    public var sqlExpression: SQLExpression { rawValue.sqlExpression }

    /// Binds the value to a parameter. Returns SQLite's result code.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        rawValue.bind(to: sqliteStatement, at: index)
    }
}

// The raw value has precedence over the encoding of Codable types.

extension DatabaseValueConvertible where Self: Encodable & RawRepresentable, Self.RawValue: DatabaseValueConvertible {
    /// The value as a database value.
    @inlinable
    public var databaseValue: DatabaseValue { rawValue.databaseValue }
}

extension DatabaseValueConvertible where Self: Decodable & RawRepresentable, Self.RawValue: DatabaseValueConvertible {
    /// Returns the value of a database value. Nil if it can't be converted.
    @inlinable
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        guard let value = RawValue.fromDatabaseValue(dbValue) else { return nil }
        return Self(rawValue: value)
    }
}

extension StatementColumnConvertible where Self: RawRepresentable, Self.RawValue: StatementColumnConvertible {
    /// Returns the value of a column in the statement's current row. Nil if it is NULL or can't be converted.
    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Self? {
        guard let value = RawValue.fromStatement(sqliteStatement, atUncheckedIndex: index) else { return nil }
        return Self(rawValue: value)
    }
}
