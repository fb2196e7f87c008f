import CStrongroom
import Foundation

/// A row of the database: values in the order of the statement's columns, found by position or by name.
///
/// Names are compared without regard to case; of equal names the leftmost counts.
///
/// The rows of a cursor are one and the same object, which shows the statement's current row: make a ``copy()`` of
/// what is to be kept. All other rows are copies.
public final class Row {
    /// The number of columns.
    public let count: Int

    @usableFromInline let columns: RowColumns

    /// The statement whose current row this is; nil for a copy.
    @usableFromInline let statement: Statement?

    /// Pointers to what `statement`, `columns` and `layout` keep alive: reading a value must not count references.
    @usableFromInline let sqliteStatement: SQLiteStatement?
    @usableFromInline let connection: UnsafeMutablePointer<strongroom_connection>?
    @usableFromInline @exclusivity(unchecked) var names: UnsafePointer<String>

    /// The position of each column in the statement or in `values`; nil when it is the same.
    @usableFromInline let mapping: UnsafePointer<Int>?

    /// The values of a copy: those of all columns of the statement.
    @usableFromInline let values: [DatabaseValue]

    /// Whatever adapters made of the statement; nil without adapter.
    let layout: RowLayout?

    // Unchecked exclusivity: see the article *Layers*.

    /// The names as the program spells them, of a statement's row that was asked for one. Equal strings at different
    /// addresses are compared byte by byte, and a literal with itself by its address, for each row.
    @exclusivity(unchecked) private var spellings: UnsafeMutablePointer<String>?

    /// The position where the next column is expected: columns are mostly asked for in their order.
    @usableFromInline @exclusivity(unchecked) var expectation: Int

    /// The scopes of a statement's row that were asked for. They show the statement's current row, as this one does.
    private var knownScopes: [String: Row] = [:]

    /// The decoder that the row was read by last, of a type that its owner knows. It serves all rows of a cursor.
    var decoder: AnyObject?

    /// Rows that further queries fetched for this one.
    private var prefetched: PrefetchedRowsView?

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
        self.mapping = layout.map { UnsafePointer($0.storage) }
        self.expectation = columns.areUnique ? 0 : Int.max
    }

    deinit {
        spellings?.deinitialize(count: count)
        spellings?.deallocate()
    }

    /// The current row of a statement, as the adapter shows it.
    @usableFromInline
    convenience init(statement: Statement, adapter: (any RowAdapter)? = nil) throws {
        guard let adapter else {
            self.init(columns: statement.columns, statement: statement)
            return
        }
        let layout = try statement.layout(adapter)
        self.init(columns: layout.columns, statement: statement, layout: layout)
    }

    /// An empty row.
    public convenience init() {
        self.init(columns: RowColumns(names: [], areOfStatement: false))
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
        self.init(columns: RowColumns(names: elements.map(\.0), areOfStatement: false), values: elements.map(\.1))
    }

    /// True if the row comes from the database, or is a copy of such a row.
    var isFetched: Bool { columns.areOfStatement }

    /// A row that stays as it is when the cursor moves on.
    public func copy() -> Row {
        guard let statement, let sqliteStatement else { return self }
        statement.requireAccess()
        let count = statement.columnCount
        let values = [DatabaseValue](unsafeUninitializedCapacity: count) { buffer, initialized in
            for index in 0..<count {
                buffer.initializeElement(
                    at: index,
                    to: DatabaseValue(sqliteStatement: sqliteStatement, index: CInt(truncatingIfNeeded: index)))
            }
            initialized = count
        }
        return Row(columns: columns, values: values, layout: layout)
    }

    /// The same row as another layout shows it.
    func row(_ columns: RowColumns, layout: RowLayout?) -> Row {
        Row(columns: columns, statement: statement, values: values, layout: layout)
    }

    // MARK: - Columns

    /// The leftmost column of that name.
    @inlinable @inline(__always)
    func index(of name: String) -> Int? {
        let expected = expectation
        if expected < count, names[expected].isSame(as: name) {
            expectation = expected + 1 == count ? 0 : expected + 1
            return expected
        }
        return search(for: name)
    }

    @usableFromInline
    func search(for name: String) -> Int? {
        let expected = expectation
        let isExpected = expected < count && names[expected] == name
        guard let index = isExpected ? expected : columns.index(of: name) else { return nil }
        if columns.areUnique { expectation = index + 1 == count ? 0 : index + 1 }
        if isExpected, statement != nil { adopt(name, at: index) }
        return index
    }

    private func adopt(_ spelling: String, at index: Int) {
        let spellings = self.spellings ?? {
            let copy = UnsafeMutablePointer<String>.allocate(capacity: count)
            copy.initialize(from: names, count: count)
            names = UnsafePointer(copy)
            return copy
        }()
        self.spellings = spellings
        spellings[index] = spelling
    }

    /// The position of a valid index in the statement or in `values`.
    @inlinable
    func position(of index: Int) -> Int {
        if let mapping { mapping[index] } else { index }
    }

    /// The value at a valid index.
    @usableFromInline
    func databaseValue(at index: Int) -> DatabaseValue {
        let position = position(of: index)
        guard let statement, let sqliteStatement else { return values[position] }
        statement.requireAccess()
        return DatabaseValue(sqliteStatement: sqliteStatement, index: CInt(position))
    }

    @usableFromInline
    func checkIndex(_ index: Int) {
        precondition(index >= 0 && index < count, "row index \(index) is out of range: the row has \(count) columns")
    }

    /// Returns true if the row has a column of that name.
    public func hasColumn(_ columnName: String) -> Bool {
        index(of: columnName) != nil
    }

    /// Returns true if the value at `index` is NULL.
    public func hasNull(atIndex index: Int) -> Bool {
        checkIndex(index)
        let position = position(of: index)
        guard let statement, let sqliteStatement else { return values[position].isNull }
        statement.requireAccess()
        return StatementColumn(sqliteStatement, CInt(position)).isNull
    }

    /// The statement's own bytes at a valid index, valid until the next step; nil in a copy, and where there is no
    /// blob or text.
    func statementBytes(at index: Int) -> UnsafeRawBufferPointer? {
        guard let statement, let sqliteStatement else { return nil }
        statement.requireAccess()
        return StatementColumn(sqliteStatement, CInt(position(of: index))).bytes
    }

    // MARK: - Other rows

    /// The scope of that name, one and the same object for all rows of a cursor.
    func scope(_ name: String) -> Row? {
        guard let layout = layout?.scopes[name] else { return nil }
        if let known = knownScopes[name] { return known }
        let scope = row(layout.columns, layout: layout)
        scope.prefetched = prefetched?.nested[name]
        if statement != nil { knownScopes[name] = scope }
        return scope
    }

    /// The rows that further queries fetched for this one, by the key of their association.
    public internal(set) var prefetchedRows: PrefetchedRowsView {
        get { prefetched ?? PrefetchedRowsView() }
        set { prefetched = newValue }
    }
}

extension Row: ExpressibleByDictionaryLiteral {
    /// Columns in the order of the literal; names may come twice.
    public convenience init(dictionaryLiteral elements: (String, (any DatabaseValueConvertible)?)...) {
        self.init(elements.map { ($0.0, $0.1?.databaseValue ?? .null) })
    }
}

extension Statement {
    /// The layout that an adapter makes of the statement's columns; its errors are the statement's.
    func layout(_ adapter: any RowAdapter) throws -> RowLayout {
        do {
            return try adapter.layout(of: RowLayout(columns))
        } catch let error as DatabaseError {
            throw self.error(error)
        }
    }

    /// Throws when an adapter does not fit, before any row shows it.
    func check(_ adapter: any RowAdapter) throws {
        do {
            _ = try layout(adapter)
        } catch {
            // The columns may be those of a former schema, until the first step: a new statement has the current ones.
            _ = try database.makeStatement(sql: sql).layout(adapter)
        }
    }
}

extension String {
    /// True if both are one string, not a copy; a string of up to 15 bytes is the same as all that equal it.
    @inlinable @inline(__always)
    func isSame(as other: String) -> Bool {
        typealias Bits = (UInt, UInt)
        guard MemoryLayout<String>.size == MemoryLayout<Bits>.size else { return self == other }
        let (bits, others) = (unsafeBitCast(self, to: Bits.self), unsafeBitCast(other, to: Bits.self))
        return bits == others
    }
}
