/// The columns of a record with their values, in the order in which the record sets them.
///
/// ```swift
/// func encode(to container: inout PersistenceContainer) {
///     container["id"] = id
///     container["name"] = name
/// }
/// ```
///
/// The names of columns are case-insensitive.
public struct PersistenceContainer: Sendable {
    private(set) var saved: SavedColumns

    /// Creates an empty container.
    init() {
        saved = SavedColumns()
    }

    /// Creates a container of these columns.
    @usableFromInline
    init(_ saved: SavedColumns) {
        self.saved = saved
    }

    /// Creates a container of the columns and values of a record.
    init(_ record: some EncodableRecord) throws {
        self.init()
        try record.encode(to: &self)
    }

    /// The names of the columns.
    var columns: [String] { saved.columns }

    @usableFromInline
    mutating func set(_ value: DatabaseValue, for column: String) {
        // Nearly always, for records that are saved one after the other.
        if isKnownUniquelyReferenced(&saved), saved.setNext(value, for: column) { return }
        insert(value, for: column)
    }

    @usableFromInline
    mutating func set(integer: Int64, for column: String) {
        if isKnownUniquelyReferenced(&saved), saved.setNext(integer: integer, for: column) { return }
        insert(DatabaseValue(storage: .int64(integer)), for: column)
    }

    /// Sets the value of a column. Integers, which are the most frequent values, are not wrapped.
    @inlinable @inline(__always)
    mutating func store(_ value: some DatabaseValueConvertible, for column: String) {
        let value = value.databaseValue
        if case .int64(let integer) = value.storage {
            set(integer: integer, for: column)
        } else {
            set(value, for: column)
        }
    }

    private mutating func insert(_ value: DatabaseValue, for column: String) {
        makeUnique()
        saved.set(value, for: column)
    }

    /// Ensures that no other container has the same columns.
    mutating func makeUnique() {
        if !isKnownUniquelyReferenced(&saved) { saved = SavedColumns(saved) }
    }

    /// The columns, which no other container has until the program gets this one. They are not counted: the container
    /// keeps them.
    mutating func uniqueColumns() -> Unmanaged<SavedColumns> {
        makeUnique()
        return .passUnretained(saved)
    }

    /// Returns the columns. The program can't change them through another container.
    consuming func takeColumns() -> SavedColumns {
        makeUnique()
        return saved
    }

    /// Returns the value of a column; nil when the column is not set.
    func value(of column: String) -> DatabaseValue? {
        saved.index(of: column).map { saved.value(at: $0) }
    }

    // MARK: - Generated records

    /// The memory of the values for a generated record, if its columns are expected, and none is set. They are set once
    /// ``setFirst(_:)`` is called.
    @usableFromInline
    mutating func memory(for columns: RecordColumns) -> UnsafeMutablePointer<DatabaseValue>? {
        isKnownUniquelyReferenced(&saved) ? saved.memory(for: columns) : nil
    }

    /// Sets the first columns to the values that are in the memory.
    @usableFromInline
    func setFirst(_ count: Int) { saved.setFirst(count) }

    /// Expects the columns of a generated record for the next one, if they are all that are set.
    mutating func expect(_ columns: RecordColumns) {
        if isKnownUniquelyReferenced(&saved) { saved.expect(columns) }
    }

    // MARK: - Encoders

    /// Returns the encoder of former records, and leaves none: the program may copy the container meanwhile, and encode
    /// into both copies at the same time.
    mutating func takeEncoder(for type: (some EncodableRecord).Type) -> RecordEncoder {
        guard isKnownUniquelyReferenced(&saved), let known = saved.encoder,
            ObjectIdentifier(known.record) == ObjectIdentifier(type)
        else { return RecordEncoder(type) }
        saved.encoder = nil
        known.keep()
        return known
    }

    /// Leaves an encoder for the next record.
    mutating func keep(_ encoder: RecordEncoder) {
        guard isKnownUniquelyReferenced(&saved) else { return encoder.forgetContainer() }
        saved.encoder?.forgetContainer()
        saved.encoder = encoder
    }

    // MARK: - Values

    /// The value of a column: nil when the column is not set, `DatabaseValue.null` when it is NULL. Nil sets NULL.
    @_disfavoredOverload
    public subscript(_ column: String) -> (any DatabaseValueConvertible)? {
        get {
            guard let value = value(of: column) else { return nil }
            return value.storage.value ?? DatabaseValue.null
        }
        @inlinable
        set {
            // Moved, and read in place: a copy of an existential costs more than all other steps.
            var value = consume newValue
            set(value?.databaseValueInPlace() ?? .null, for: column)
        }
    }

    /// The value of a column: nil when the column is not set, `DatabaseValue.null` when it is NULL. Nil sets NULL.
    @_disfavoredOverload
    public subscript(_ column: some ColumnExpression) -> (any DatabaseValueConvertible)? {
        get { self[column.name] }
        set { self[column.name] = newValue }
    }
}

// Swift prefers these where it knows the type of the value: to wrap a value as an existential and to open it again
// takes three times as long as to store it.
extension PersistenceContainer {
    /// The value of a column; a column that is not set is read as NULL. A conversion that fails is a fatal error.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ column: String) -> Value {
        get { typedValue(of: column) }
        set { store(newValue, for: column) }
    }

    /// The value of a column; a column that is not set is read as NULL. A conversion that fails is a fatal error.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ column: some ColumnExpression) -> Value {
        get { typedValue(of: column.name) }
        set { store(newValue, for: column.name) }
    }

    @usableFromInline
    func typedValue<Value: DatabaseValueConvertible>(of column: String) -> Value {
        let stored = value(of: column) ?? .null
        guard let value = Value.fromDatabaseValue(stored) else {
            fatalError(
                """
                The column \(column) of the container is no \(Value.self). Read it as (any DatabaseValueConvertible)?.
                """)
        }
        return value
    }
}

extension PersistenceContainer: RandomAccessCollection {
    /// The position of a column.
    public typealias Index = Int

    /// The position of the first column.
    public var startIndex: Int { 0 }
    /// The position after the last column.
    public var endIndex: Int { saved.count }

    /// A column and its value.
    public subscript(position: Int) -> (String, DatabaseValue) {
        precondition(position >= 0 && position < saved.count, "the container has \(saved.count) columns")
        return (saved.name(at: position), saved.value(at: position))
    }
}
