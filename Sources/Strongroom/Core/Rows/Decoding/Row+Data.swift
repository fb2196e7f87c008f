import Foundation

// Blobs, without copying.

extension Row {
    /// Calls `body` with the bytes at `index`, without a copy if the row is a cursor's. Nil for NULL.
    ///
    /// The data is only valid inside of `body`. To keep it, copy it: `Data(Array(data))`.
    ///
    /// - throws: ``RowDecodingError`` if the value is a number; the errors of `body`.
    public func withUnsafeData<T>(atIndex index: Int, _ body: (Data?) throws -> T) throws -> T {
        checkIndex(index)
        if let bytes = statementBytes(at: index) {
            // An empty blob has no address in SQLite.
            guard let address = bytes.baseAddress else { return try body(Data()) }
            return try body(
                Data(
                    bytesNoCopy: UnsafeMutableRawPointer(mutating: address), count: bytes.count, deallocator: .none))
        }
        // By the database value: SQLite would convert a number to text.
        guard let data = Data?.fromDatabaseValue(databaseValue(at: index))
        else { throw conversionError(Data?.self, at: index) }
        return try body(data)
    }

    /// Calls `body` with the bytes of a column, without a copy if the row is a cursor's. Nil for NULL, and if there is
    /// no such column.
    ///
    /// - throws: ``RowDecodingError`` if the value is a number; the errors of `body`.
    public func withUnsafeData<T>(named columnName: String, _ body: (Data?) throws -> T) throws -> T {
        guard let index = index(of: columnName) else { return try body(nil) }
        return try withUnsafeData(atIndex: index, body)
    }

    /// Calls `body` with the bytes of a column, without a copy if the row is a cursor's. Nil for NULL, and if there is
    /// no such column.
    ///
    /// - throws: ``RowDecodingError`` if the value is a number; the errors of `body`.
    public func withUnsafeData<T>(at column: some ColumnExpression, _ body: (Data?) throws -> T) throws -> T {
        try withUnsafeData(named: column.name, body)
    }
}

// MARK: - Older spellings

extension Row {
    /// Returns the data at `index`. Nil for NULL.
    @available(*, deprecated, message: "Use withUnsafeData(atIndex:_:): this one copies.")
    public func dataNoCopy(atIndex index: Int) -> Data? { self[index] }

    /// Returns the data of a column. Nil for NULL, and if there is no such column.
    @available(*, deprecated, message: "Use withUnsafeData(named:_:): this one copies.")
    public func dataNoCopy(named columnName: String) -> Data? { self[columnName] }

    /// Returns the data of a column. Nil for NULL, and if there is no such column.
    @available(*, deprecated, message: "Use withUnsafeData(at:_:): this one copies.")
    public func dataNoCopy(_ column: some ColumnExpression) -> Data? { self[column.name] }
}
