// Values of rows. Each function exists twice: for types that are read directly from a statement's column, and for all
// others. Subscripts are a fatal error where `decode` throws.

extension Row {
    // MARK: - decode

    /// Returns the value at `index`. Throws ``RowDecodingError`` if it can't be converted.
    @inlinable
    public func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, atIndex index: Int
    ) throws -> Value {
        checkIndex(index)
        guard let value = Value.fromDatabaseValue(databaseValue(at: index)) else {
            throw decodingError(Value.self, at: index)
        }
        return value
    }

    /// Returns the value at `index`. Throws ``RowDecodingError`` if it can't be converted.
    @inlinable
    public func decode<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type = Value.self, atIndex index: Int
    ) throws -> Value {
        checkIndex(index)
        return try value(at: index)
    }

    /// Returns the value of a column. Throws ``RowDecodingError`` if there is no such column, or it can't be converted.
    @inlinable
    public func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, forColumn columnName: String
    ) throws -> Value {
        guard let index = index(of: columnName) else { return try missing(columnName) }
        return try decode(type, atIndex: index)
    }

    /// Returns the value of a column. Throws ``RowDecodingError`` if there is no such column, or it can't be converted.
    @inlinable
    public func decode<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type = Value.self, forColumn columnName: String
    ) throws -> Value {
        guard let index = index(of: columnName) else { return try missing(columnName) }
        return try value(at: index)
    }

    /// Returns the value of a column. Throws ``RowDecodingError`` if there is no such column, or it can't be converted.
    @inlinable
    public func decode<Value: DatabaseValueConvertible>(
        _ type: Value.Type = Value.self, forColumn column: some ColumnExpression
    ) throws -> Value {
        try decode(type, forColumn: column.name)
    }

    /// Returns the value of a column. Throws ``RowDecodingError`` if there is no such column, or it can't be converted.
    @inlinable
    public func decode<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ type: Value.Type = Value.self, forColumn column: some ColumnExpression
    ) throws -> Value {
        try decode(type, forColumn: column.name)
    }

    // MARK: - Subscripts

    /// The value at `index`, as SQLite stores it. Nil for NULL.
    public subscript(_ index: Int) -> (any DatabaseValueConvertible)? {
        checkIndex(index)
        return databaseValue(at: index).storage.value
    }

    /// The value at `index`. It is a fatal error if it can't be converted.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ index: Int) -> Value {
        orFatalError { try decode(Value.self, atIndex: index) }
    }

    /// The value at `index`. It is a fatal error if it can't be converted.
    @inlinable
    public subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ index: Int) -> Value {
        orFatalError { try decode(Value.self, atIndex: index) }
    }

    /// The value of a column, as SQLite stores it. Nil for NULL, and if there is no such column.
    public subscript(_ columnName: String) -> (any DatabaseValueConvertible)? {
        index(of: columnName).flatMap { databaseValue(at: $0).storage.value }
    }

    /// The value of a column. It is a fatal error if it can't be converted, or if there is no such column and `Value`
    /// is not an optional.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ columnName: String) -> Value {
        orFatalError { try decode(Value.self, forColumn: columnName) }
    }

    /// The value of a column. It is a fatal error if it can't be converted, or if there is no such column and `Value`
    /// is not an optional.
    @inlinable
    public subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ columnName: String) -> Value {
        orFatalError { try decode(Value.self, forColumn: columnName) }
    }

    /// The value of a column, as SQLite stores it. Nil for NULL, and if there is no such column.
    public subscript(_ column: some ColumnExpression) -> (any DatabaseValueConvertible)? {
        self[column.name]
    }

    /// The value of a column. It is a fatal error if it can't be converted, or if there is no such column and `Value`
    /// is not an optional.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ column: some ColumnExpression) -> Value {
        orFatalError { try decode(Value.self, forColumn: column.name) }
    }

    /// The value of a column. It is a fatal error if it can't be converted, or if there is no such column and `Value`
    /// is not an optional.
    @inlinable
    public subscript<Value: DatabaseValueConvertible & StatementColumnConvertible>(
        _ column: some ColumnExpression
    ) -> Value {
        orFatalError { try decode(Value.self, forColumn: column.name) }
    }

    // MARK: - First of several

    /// Returns the value of the first of these columns that is not NULL. Nil if there is none. Columns that the row
    /// doesn't have are skipped.
    ///
    /// It is a fatal error if the value can't be converted.
    public func coalesce<T: DatabaseValueConvertible>(_ columns: some Collection<String>) -> T? {
        for column in columns {
            if let value = self[column] as T? { return value }
        }
        return nil
    }

    /// Returns the value of the first of these columns that is not NULL. Nil if there is none. Columns that the row
    /// doesn't have are skipped.
    ///
    /// It is a fatal error if the value can't be converted.
    public func coalesce<T: DatabaseValueConvertible>(_ columns: some Collection<any ColumnExpression>) -> T? {
        coalesce(columns.lazy.map(\.name))
    }

    // MARK: - Implementation

    /// Returns the value at a valid index.
    @inlinable @inline(__always)
    func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(at index: Int) throws -> Value {
        requireAccess()
        return try valueInAccess(at: index)
    }

    /// Stops a program that uses the row of a statement outside of its database access.
    @inlinable
    func requireAccess() {
        if let connection, !connection.hasAccess { noAccess() }
    }

    /// Returns the value at a valid index, for callers that have checked the access.
    @inlinable @inline(__always)
    func valueInAccess<Value: DatabaseValueConvertible & StatementColumnConvertible>(at index: Int) throws -> Value {
        let position = position(of: index)
        let value: Value?
        if let sqliteStatement {
            value = Value.fromStatement(sqliteStatement, atUncheckedIndex: CInt(truncatingIfNeeded: position))
        } else {
            value = Value.fromDatabaseValue(values[position])
        }
        guard let value else { throw conversionError(Value.self, at: index) }
        return value
    }

    @usableFromInline
    func noAccess() -> Never {
        statement!.database.noAccess("A row")
    }

    @usableFromInline
    func missing<Value: DatabaseValueConvertible>(_ columnName: String) throws -> Value {
        guard let value = Value.fromMissingColumn() else {
            throw RowDecodingError(missing: "column not found: \(columnName.debugDescription)", in: self)
        }
        return value
    }

    @usableFromInline
    func decodingError(_ type: Any.Type, at index: Int) -> RowDecodingError {
        RowDecodingError(
            "could not decode \(type) from database value \(showable(databaseValue(at: index)))", shownAt: index,
            of: self)
    }

    @usableFromInline
    func conversionError(_ type: Any.Type, at index: Int) -> RowDecodingError {
        RowDecodingError(
            "could not decode \(type) from database value \(showable(databaseValue(at: index)))", at: index, of: self)
    }

    @inlinable
    func orFatalError<Value>(_ decode: () throws -> Value) -> Value {
        do {
            return try decode()
        } catch {
            stop(error)
        }
    }

    @usableFromInline
    func stop(_ error: any Error) -> Never {
        fatalError("\(error). Use an optional type for NULL, or decode(_:forColumn:), which throws.")
    }
}
