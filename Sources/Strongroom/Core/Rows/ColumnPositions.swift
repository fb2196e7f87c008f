/// The columns of a record type, in the order in which the record reads and sets them.
///
/// It is compared by its identity: keep one for each type, in a static constant.
public final class RecordColumns: Sendable {
    /// The names of the columns.
    public let names: [String]

    /// Creates a list of columns.
    public init(_ names: [String]) {
        self.names = names
    }
}

/// The positions of a record's columns in the rows of a cursor. They are looked up once, and serve all rows.
@usableFromInline
final class ColumnPositions {
    @usableFromInline let columns: RecordColumns

    /// The index of each column in the row; -1 for a column that the row doesn't have.
    @usableFromInline let memory: UnsafeMutablePointer<Int32>

    init(_ columns: RecordColumns, in row: Row) {
        self.columns = columns
        memory = .allocate(capacity: max(columns.names.count, 1))
        for (place, name) in columns.names.enumerated() {
            (memory + place).initialize(to: Int32(row.index(of: name) ?? -1))
        }
    }

    deinit {
        memory.deallocate()
    }
}

extension Row {
    /// Returns the row for a record that reads it by the positions of its columns.
    @inlinable
    public func reading(_ columns: RecordColumns) -> RecordRow {
        requireAccess()
        if let positions, positions.columns === columns {
            return RecordRow(self, positions.memory, columns.names.count)
        }
        return findPositions(columns)
    }

    @usableFromInline
    func findPositions(_ columns: RecordColumns) -> RecordRow {
        let found = ColumnPositions(columns, in: self)
        positions = found
        return RecordRow(self, found.memory, columns.names.count)
    }
}

/// A row, as a record reads it: by the positions of the record's columns. Use it only in the initializer that got it.
public struct RecordRow {
    // Not counted: the caller of the initializer keeps the row, which keeps the positions.
    @usableFromInline unowned(unsafe) let row: Row
    @usableFromInline let positions: UnsafePointer<Int32>
    @usableFromInline let count: Int

    /// The statement whose columns have the indexes of the row. Nil for copies, and with adapters.
    @usableFromInline let statement: SQLiteStatement?

    @inlinable
    init(_ row: Row, _ positions: UnsafePointer<Int32>, _ count: Int) {
        self.row = row
        self.positions = positions
        self.count = count
        statement = row.mapping == nil ? row.sqliteStatement : nil
    }

    /// Returns the value of a column. Throws ``RowDecodingError`` if it can't be converted, or if the row doesn't have
    /// it and the type is no optional.
    ///
    /// - parameter place: the place of the column in the list of ``RecordColumns``.
    @inlinable @inline(__always)
    public func value<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ place: Int) throws -> Value {
        precondition(place >= 0 && place < count, "the record's RecordColumns have no such place")
        let index = positions[place]
        if index >= 0, let statement, let value = Value.fromStatement(statement, atUncheckedIndex: index) {
            return value
        }
        return try uncommon(place)
    }

    /// Returns the value of a column. Throws ``RowDecodingError`` if it can't be converted, or if the row doesn't have
    /// it and the type is no optional.
    ///
    /// - parameter place: the place of the column in the list of ``RecordColumns``.
    @inlinable
    public func value<Value: DatabaseValueConvertible>(_ place: Int) throws -> Value {
        guard let index = index(place) else { return try missing(place) }
        return try row.decode(Value.self, atIndex: index)
    }

    /// Returns a Boolean value that indicates whether the row has a column.
    ///
    /// - parameter place: the place of the column in the list of ``RecordColumns``.
    public func has(_ place: Int) -> Bool { index(place) != nil }

    /// Returns the row for a record whose columns are a part of this one's, from a place on.
    public func part(from place: Int, count: Int) -> RecordRow {
        precondition(place >= 0 && place + count <= self.count, "the part ends behind the record's RecordColumns")
        return RecordRow(row, positions + place, count)
    }

    /// Returns a Boolean value that indicates whether a column of the list has a value other than NULL.
    public var containsNonNullValue: Bool {
        (0..<count).contains { index($0).map { !row.hasNull(atIndex: $0) } ?? false }
    }

    /// Returns the value of a column as SQLite stores it. Nil if the row doesn't have it.
    func databaseValue(_ place: Int) -> DatabaseValue? {
        index(place).map { row.databaseValue(at: $0) }
    }

    @inlinable
    func index(_ place: Int) -> Int? {
        precondition(place >= 0 && place < count, "the record's RecordColumns have no such place")
        return positions[place] < 0 ? nil : Int(positions[place])
    }

    @usableFromInline
    func uncommon<Value: DatabaseValueConvertible & StatementColumnConvertible>(_ place: Int) throws -> Value {
        guard let index = index(place) else { return try missing(place) }
        return try row.valueInAccess(at: index)
    }

    @usableFromInline
    func missing<Value: DatabaseValueConvertible>(_ place: Int) throws -> Value {
        guard let value = Value.fromMissingColumn() else { throw missingColumn(place) }
        return value
    }

    func missingColumn(_ place: Int) -> RowDecodingError {
        RowDecodingError(missing: "column not found: \(name(place).debugDescription)", in: row)
    }

    /// The name of a column, for errors.
    func name(_ place: Int) -> String {
        guard let known = row.positions else { return "" }
        return known.columns.names[(positions - UnsafePointer(known.memory)) + place]
    }
}
