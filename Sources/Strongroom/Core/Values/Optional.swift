// NULL and missing columns are read as nil. Other values have to be convertible.

extension Optional: StatementBinding where Wrapped: StatementBinding {
    /// Binds the value to a parameter. Returns SQLite's result code.
    @inlinable
    public func bind(to sqliteStatement: SQLiteStatement, at index: CInt) -> CInt {
        switch self {
        case .none: StatementParameter(sqliteStatement, index).bindNull()
        case .some(let value): value.bind(to: sqliteStatement, at: index)
        }
    }
}

extension Optional: SQLExpressible where Wrapped: SQLExpressible {
    /// The value as an SQL expression.
    public var sqlExpression: SQLExpression {
        self?.sqlExpression ?? .value(.null)
    }
}

extension Optional: DatabaseValueConvertible where Wrapped: DatabaseValueConvertible {
    /// The value as a database value.
    public var databaseValue: DatabaseValue {
        self?.databaseValue ?? .null
    }

    /// Returns the value of a database value. Nil if it can't be converted.
    public static func fromDatabaseValue(_ dbValue: DatabaseValue) -> Self? {
        if let value = Wrapped.fromDatabaseValue(dbValue) { return .some(value) }
        return dbValue.isNull ? .some(nil) : nil
    }

    /// Returns the value of a column in the statement's current row, nil for NULL, or throws `error` if it can't be
    /// converted.
    public static func _value(
        _ sqliteStatement: SQLiteStatement, at index: CInt, orThrow error: () -> any Error
    ) throws -> Self {
        do {
            return try Wrapped._value(sqliteStatement, at: index) { NotConvertible() }
        } catch is NotConvertible {
            if StatementColumn(sqliteStatement, index).isNull { return nil }
            throw error()
        }
    }

    /// Returns a nil value: a missing column is not an error.
    public static func fromMissingColumn() -> Self? { .some(nil) }
}

private struct NotConvertible: Error {}

extension Optional: StatementColumnConvertible where Wrapped: StatementColumnConvertible {
    /// Returns the value of a column in the statement's current row. Nil if it is NULL or can't be converted.
    @inlinable
    public static func fromStatement(_ sqliteStatement: SQLiteStatement, atUncheckedIndex index: CInt) -> Self? {
        if let value = Wrapped.fromStatement(sqliteStatement, atUncheckedIndex: index) { return .some(value) }
        return StatementColumn(sqliteStatement, index).isNull ? .some(nil) : nil
    }

    /// Creates the value of a column in the statement's current row. Nil if it can't be converted.
    @inlinable
    public init?(sqliteStatement: SQLiteStatement, index: CInt) {
        guard let value = Wrapped(sqliteStatement: sqliteStatement, index: index) else { return nil }
        self = value
    }
}
