import Foundation

// Blobs without a copy.

extension Row {
    /// Calls `body` with the bytes at `index`, not copied where the row is a cursor's; nil for NULL.
    ///
    /// The data is valid inside `body` only: keep a copy, `Data(Array(data))`.
    ///
    /// - throws: ``RowDecodingError`` when the value is a number; the errors of `body`.
    public func withUnsafeData<T>(atIndex index: Int, _ body: (Data?) throws -> T) throws -> T {
        checkIndex(index)
        if let bytes = statementBytes(at: index) {
            // SQLite gives no address for an empty blob.
            guard let address = bytes.baseAddress else { return try body(Data()) }
            return try body(Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: address), count: bytes.count, deallocator: .none))
        }
        // Through the database value: SQLite would turn a number into text.
        guard let data = Data?.fromDatabaseValue(databaseValue(at: index))
        else { throw conversionError(Data?.self, at: index) }
        return try body(data)
    }

    /// Calls `body` with the bytes of a column, not copied where the row is a cursor's; nil for NULL, and when there
    /// is no such column.
    ///
    /// - throws: ``RowDecodingError`` when the value is a number; the errors of `body`.
    public func withUnsafeData<T>(named columnName: String, _ body: (Data?) throws -> T) throws -> T {
        guard let index = index(of: columnName) else { return try body(nil) }
        return try withUnsafeData(atIndex: index, body)
    }

    /// Calls `body` with the bytes of a column, not copied where the row is a cursor's; nil for NULL, and when there
    /// is no such column.
    ///
    /// - throws: ``RowDecodingError`` when the value is a number; the errors of `body`.
    public func withUnsafeData<T>(at column: some ColumnExpression, _ body: (Data?) throws -> T) throws -> T {
        try withUnsafeData(named: column.name, body)
    }
}

// MARK: - Older spellings

extension Row {
    /// The data at `index`, nil for NULL.
    @available(*, deprecated, message: "Use withUnsafeData(atIndex:_:): this one copies.")
    public func dataNoCopy(atIndex index: Int) -> Data? { self[index] }

    /// The data of a column, nil for NULL, and when there is no such column.
    @available(*, deprecated, message: "Use withUnsafeData(named:_:): this one copies.")
    public func dataNoCopy(named columnName: String) -> Data? { self[columnName] }

    /// The data of a column, nil for NULL, and when there is no such column.
    @available(*, deprecated, message: "Use withUnsafeData(at:_:): this one copies.")
    public func dataNoCopy(_ column: some ColumnExpression) -> Data? { self[column.name] }
}
