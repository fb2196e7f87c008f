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
    /// The names that are expected, those of the former record of the same type. The first ones, as many as there are
    /// values, are the columns: so that a program that saves many records neither hashes nor copies a name.
    @usableFromInline private(set) var names: [String]

    @usableFromInline private(set) var values: [DatabaseValue] = []

    /// The encoder of former records of the same type, while a record is encoded.
    private(set) var idleEncoder: IdleEncoder?

    /// Creates an empty container that expects these columns.
    init(expecting names: [String] = []) {
        self.names = names
        values.reserveCapacity(names.count)
    }

    /// Creates a container of the columns and values of a record.
    init(_ record: some EncodableRecord, expecting names: [String] = [], _ idleEncoder: IdleEncoder? = nil) throws {
        self.init(expecting: names)
        self.idleEncoder = idleEncoder
        try record.encode(to: &self)
        self.idleEncoder = nil
        forgetUnusedNames()
    }

    /// The names of the columns; complete after ``forgetUnusedNames()``.
    var columns: [String] { names }

    private mutating func forgetUnusedNames() {
        if names.count > values.count { names.removeLast(names.count - values.count) }
    }

    @inlinable
    mutating func set(_ value: consuming DatabaseValue, for column: String) {
        let next = values.count
        if next < names.count, names[next] == column {
            values.append(value)
        } else {
            insert(value, for: column)
        }
    }

    @usableFromInline
    mutating func insert(_ value: DatabaseValue, for column: String) {
        if let index = index(of: column) {
            values[index] = value
        } else {
            forgetUnusedNames()
            names.append(column)
            values.append(value)
        }
    }

    func index(of column: String) -> Int? {
        for index in values.indices where names[index] == column { return index }
        let folded = column.foldedSQLName
        return values.indices.first { names[$0].foldedSQLName == folded }
    }

    /// Returns the value of a column; nil when the column is not set.
    func value(of column: String) -> DatabaseValue? {
        index(of: column).map { values[$0] }
    }

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
        set { set(newValue.databaseValue, for: column) }
    }

    /// The value of a column; a column that is not set is read as NULL. A conversion that fails is a fatal error.
    @inlinable
    public subscript<Value: DatabaseValueConvertible>(_ column: some ColumnExpression) -> Value {
        get { typedValue(of: column.name) }
        set { set(newValue.databaseValue, for: column.name) }
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
    public var endIndex: Int { values.count }

    /// A column and its value.
    public subscript(position: Int) -> (String, DatabaseValue) { (names[position], values[position]) }
}
