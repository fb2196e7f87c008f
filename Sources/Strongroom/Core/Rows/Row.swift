import Foundation

/// A row of the database: values in the order of the statement's columns, accessed by position or by name.
///
/// Names are compared without regard to case. The leftmost of equal names is used.
///
/// The rows of a cursor are the same object, which shows the statement's current row: ``copy()`` those that are kept.
/// All other rows are copies.
public final class Row {
    /// The number of columns.
    public let count: Int

    @usableFromInline let columns: RowColumns

    /// The statement whose current row this is. Nil for a copy.
    @usableFromInline let statement: Statement?

    /// Pointers to memory that `statement`, `columns` and `layout` own: reading a value must not count references.
    @usableFromInline let sqliteStatement: SQLiteStatement?
    @usableFromInline let connection: ConnectionHandle?
    @usableFromInline @exclusivity(unchecked) var names: UnsafePointer<String>

    /// The position of each column in the statement or in `values`. Nil if all positions are the same.
    @usableFromInline let mapping: UnsafePointer<Int>?

    /// The values of a copy: those of all columns of the statement.
    @usableFromInline let values: [DatabaseValue]

    /// The layout that adapters have made of the statement. Nil without an adapter.
    let layout: RowLayout?

    // Unchecked exclusivity: see <doc:Layers>.

    /// The names, each replaced by the equal string that the program has passed. Nil for a copy, and at first.
    ///
    /// A literal equals itself by its address. Strings at different addresses are compared byte by byte, for each row.
    @exclusivity(unchecked) private var spellings: UnsafeMutablePointer<String>?

    /// The position where the next column is expected: columns are mostly read in their order.
    @usableFromInline @exclusivity(unchecked) var expectation: Int

    /// The scopes that were accessed. They show the statement's current row, as this one does.
    private var knownScopes: [String: Row] = [:]

    /// The most recent decoder of the row, whose type its owner knows. It is used for all rows of a cursor.
    var decoder: AnyObject?

    /// The positions of the columns of the most recent record that reads by position.
    @usableFromInline @exclusivity(unchecked) var positions: ColumnPositions?

    /// The rows that further queries fetched for this one.
    private var prefetched: PrefetchedRowsView?

    init(
        columns: RowColumns,
        statement: Statement? = nil,
        values: [DatabaseValue] = [],
        layout: RowLayout? = nil
    ) {
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

    /// Creates the current row of a statement, as the adapter shows it.
    @usableFromInline
    convenience init(statement: Statement, adapter: (any RowAdapter)? = nil) throws {
        guard let adapter else {
            self.init(columns: statement.columns, statement: statement)
            return
        }
        let layout = try statement.layout(adapter)
        self.init(columns: layout.columns, statement: statement, layout: layout)
    }

    /// Creates an empty row.
    public convenience init() {
        self.init(columns: RowColumns(names: [], areOfStatement: false))
    }

    /// Creates a row of columns. Nil is NULL.
    public convenience init(_ dictionary: [String: (any DatabaseValueConvertible)?]) {
        self.init(dictionary.map { ($0.key, $0.value?.databaseValue ?? .null) })
    }

    /// Creates a row of columns. Nil if a key is not a string, or a value can't be stored in a database.
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

    /// Returns a copy, which does not change when the cursor moves on.
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

    /// Returns the row with another layout.
    func row(_ columns: RowColumns, layout: RowLayout?) -> Row {
        Row(columns: columns, statement: statement, values: values, layout: layout)
    }

    // MARK: - Columns

    /// Returns the position of the leftmost column with a name.
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
        let isExpected = expected < count && names[expected].hasBytes(of: name)
        guard let index = isExpected ? expected : columns.index(of: name) else { return nil }
        if columns.areUnique { expectation = index + 1 == count ? 0 : index + 1 }
        if isExpected, statement != nil { adopt(name, at: index) }
        return index
    }

    private func adopt(_ spelling: String, at index: Int) {
        let spellings =
            self.spellings
            ?? {
                let copy = UnsafeMutablePointer<String>.allocate(capacity: count)
                copy.initialize(from: names, count: count)
                names = UnsafePointer(copy)
                return copy
            }()
        self.spellings = spellings
        spellings[index] = spelling
    }

    /// Returns the position of a valid index in the statement or in `values`.
    @inlinable
    func position(of index: Int) -> Int {
        if let mapping { mapping[index] } else { index }
    }

    /// Returns the value at a valid index.
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

    /// Returns true if the row has a column with a name.
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

    /// Returns the statement's own bytes at a valid index, which are valid until the next step. Nil in a copy, and for
    /// values other than blobs and text.
    func statementBytes(at index: Int) -> UnsafeRawBufferPointer? {
        guard let statement, let sqliteStatement else { return nil }
        statement.requireAccess()
        return StatementColumn(sqliteStatement, CInt(position(of: index))).bytes
    }

    // MARK: - Other rows

    /// Returns the scope with a name, which is the same object for all rows of a cursor.
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
    /// Creates a row with columns in the order of the literal. Names may occur several times.
    public convenience init(dictionaryLiteral elements: (String, (any DatabaseValueConvertible)?)...) {
        self.init(elements.map { ($0.0, $0.1?.databaseValue ?? .null) })
    }
}

extension Statement {
    /// Returns the layout that an adapter makes of the statement's columns. Its errors contain the statement.
    func layout(_ adapter: any RowAdapter) throws -> RowLayout {
        do {
            return try adapter.layout(of: RowLayout(columns))
        } catch let error as DatabaseError {
            throw self.error(error)
        }
    }

    /// Throws if an adapter does not fit, before it is used for a row.
    func check(_ adapter: any RowAdapter) throws {
        do {
            _ = try layout(adapter)
        } catch {
            // Until the first step, the columns may be those of a former schema. A new statement has the current ones.
            _ = try database.makeStatement(sql: sql).layout(adapter)
        }
    }
}

extension String {
    /// Returns true if both are the same string by its address, or equal strings of up to 15 bytes.
    @inlinable @inline(__always)
    func isSame(as other: String) -> Bool {
        typealias Bits = (UInt, UInt)
        guard MemoryLayout<String>.size == MemoryLayout<Bits>.size else { return self == other }
        let (bits, others) = (unsafeBitCast(self, to: Bits.self), unsafeBitCast(other, to: Bits.self))
        return bits == others
    }
}
