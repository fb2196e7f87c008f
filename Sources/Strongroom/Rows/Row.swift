import CSQLCipher
import CStrongroom
import Foundation

/// A row of the database: values in the order of the statement's columns, found by position or by name.
///
/// Names are compared without regard to case; of equal names the leftmost counts.
///
/// The rows of a cursor are one and the same object, which shows the statement's current row: make a ``copy()`` of what
/// is to be kept. All other rows are copies.
public final class Row {
    /// The number of columns.
    public let count: Int

    @usableFromInline let columns: RowColumns

    /// The statement whose current row this is; nil for a copy.
    @usableFromInline let statement: Statement?

    /// Pointers to what `statement` and `columns` keep alive: reading a value must not count references.
    @usableFromInline let sqliteStatement: SQLiteStatement?
    @usableFromInline let connection: UnsafeMutablePointer<strongroom_connection>?
    @usableFromInline let names: UnsafePointer<String>

    /// The position of each column in the statement or in `values`; nil when it is the same.
    @usableFromInline let mapping: [Int]?

    /// The values of a copy.
    @usableFromInline let values: [DatabaseValue]

    /// Whatever adapters made of the statement; nil without adapter.
    let layout: RowLayout?

    /// Where the next column is expected: columns are mostly asked for in their order. Behind a pointer, because Swift
    /// would check exclusive access to a class property.
    @usableFromInline let expectation: UnsafeMutablePointer<Int>

    init(
        columns: RowColumns,
        statement: Statement? = nil,
        values: [DatabaseValue] = [],
        layout: RowLayout? = nil)
    {
        self.columns = columns
        self.count = columns.names.count
        self.statement = statement
        self.sqliteStatement = statement?.sqliteStatement
        self.connection = statement?.connection
        self.names = UnsafePointer(columns.storage)
        self.values = values
        self.layout = layout
        self.mapping = layout.map { $0.columns.map(\.index) }
        self.expectation = .allocate(capacity: 1)
        self.expectation.initialize(to: columns.areUnique ? 0 : Int.max)
    }

    deinit {
        expectation.deallocate()
    }

    /// The current row of a statement, as the adapter shows it.
    convenience init(statement: Statement, adapter: (any RowAdapter)? = nil) throws {
        guard let adapter else {
            self.init(columns: statement.columns, statement: statement)
            return
        }
        let layout = try adapter.layout(of: RowLayout(names: statement.columns.names))
        self.init(columns: RowColumns(names: layout.columns.map(\.name)), statement: statement, layout: layout)
    }

    /// An empty row.
    public convenience init() {
        self.init(columns: RowColumns(names: []))
    }

    /// A row of these columns; nil is NULL.
    public convenience init(_ dictionary: [String: (any DatabaseValueConvertible)?]) {
        self.init(dictionary.map { ($0.key, $0.value?.databaseValue ?? .null) })
    }

    /// A row of these columns; nil when a key is not a string, or when a value can't be stored in a database.
    public convenience init?(_ dictionary: [AnyHashable: Any]) {
        var columns: [(String, DatabaseValue)] = []
        for (key, element) in dictionary {
            guard let name = key as? String, let value = DatabaseValue(value: element) else { return nil }
            columns.append((name, value))
        }
        self.init(columns)
    }

    convenience init(_ elements: [(String, DatabaseValue)]) {
        self.init(columns: RowColumns(names: elements.map(\.0)), values: elements.map(\.1))
    }

    /// A row that stays as it is when the cursor moves on.
    public func copy() -> Row {
        guard let statement, let sqliteStatement else { return self }
        statement.requireAccess()
        let values = (0..<sqlite3_column_count(sqliteStatement)).map {
            DatabaseValue(sqliteStatement: sqliteStatement, index: $0)
        }
        return Row(columns: columns, values: values, layout: layout)
    }

    // MARK: - Columns

    /// The leftmost column of that name.
    @inlinable
    func index(of name: String) -> Int? {
        let expected = expectation.pointee
        if expected < count, names[expected] == name {
            expectation.pointee = expected + 1
            return expected
        }
        return search(for: name)
    }

    @usableFromInline
    func search(for name: String) -> Int? {
        guard let index = columns.index(of: name) else { return nil }
        if columns.areUnique { expectation.pointee = index + 1 }
        return index
    }

    /// The value at a valid index.
    func databaseValue(at index: Int) -> DatabaseValue {
        let position = mapping?[index] ?? index
        guard let statement, let sqliteStatement else { return values[position] }
        statement.requireAccess()
        return DatabaseValue(sqliteStatement: sqliteStatement, index: CInt(position))
    }

    @usableFromInline
    func checkIndex(_ index: Int) {
        precondition(index >= 0 && index < count, "row index \(index) is out of range: the row has \(count) columns")
    }

    /// Whether the row has a column of that name.
    public func hasColumn(_ columnName: String) -> Bool {
        index(of: columnName) != nil
    }

    /// Whether the value at `index` is NULL.
    public func hasNull(atIndex index: Int) -> Bool {
        checkIndex(index)
        let position = mapping?[index] ?? index
        guard let statement, let sqliteStatement else { return values[position].isNull }
        statement.requireAccess()
        return sqlite3_column_type(sqliteStatement, CInt(position)) == SQLITE_NULL
    }
}

extension Row: ExpressibleByDictionaryLiteral {
    /// Columns in the order of the literal; names may come twice.
    public convenience init(dictionaryLiteral elements: (String, (any DatabaseValueConvertible)?)...) {
        self.init(elements.map { ($0.0, $0.1?.databaseValue ?? .null) })
    }
}
