/// The columns of a record with their values, in memory that the next record of the same type uses again.
///
/// Containers share it as arrays share their elements: it is only changed while one container alone refers to it, which
/// makes it sendable.
@usableFromInline
final class SavedColumns: @unchecked Sendable {
    // Unchecked exclusivity: see <doc:Layers>.

    /// Room for names and values. The first ``known`` ones are there, of which ``count`` belong to this record. The
    /// others are the names that are expected next, those of the former record, with its values.
    @exclusivity(unchecked) private var names: UnsafeMutablePointer<String>
    @exclusivity(unchecked) private var values: UnsafeMutablePointer<DatabaseValue>
    @exclusivity(unchecked) private var capacity: Int
    @exclusivity(unchecked) private var known = 0

    /// The number of columns that the record has set.
    @exclusivity(unchecked) private(set) var count = 0

    /// The list that the first names are, once a generated record has set them.
    @exclusivity(unchecked) private var places: RecordColumns?

    /// The names as an array, once it was asked for.
    @exclusivity(unchecked) private var list: [String]?

    /// The statement of the latest insertion of exactly these names in this order. A record of another type may have
    /// these columns, if a program passes them on.
    @exclusivity(unchecked) var insertion: StatementCache.Place?

    /// The table's column that is another name of the rowid. Nil if there is none, and before an insertion.
    @exclusivity(unchecked) var rowIDColumn: String?

    /// The encoder of a former record of the same type, while a record is encoded.
    @exclusivity(unchecked) var encoder: RecordEncoder?

    init() {
        capacity = 8
        names = .allocate(capacity: capacity)
        values = .allocate(capacity: capacity)
    }

    /// Creates memory without columns, which expects those of a former record.
    init(expectingColumnsOf former: SavedColumns) {
        capacity = former.capacity
        known = former.known
        names = .allocate(capacity: capacity)
        names.initialize(from: former.names, count: known)
        values = .allocate(capacity: capacity)
        values.initialize(repeating: .null, count: known)
        places = former.places
        list = former.list
        insertion = former.insertion
        rowIDColumn = former.rowIDColumn
    }

    /// Creates a copy, without the encoder.
    init(_ original: SavedColumns) {
        capacity = original.capacity
        known = original.known
        count = original.count
        names = .allocate(capacity: capacity)
        names.initialize(from: original.names, count: known)
        values = .allocate(capacity: capacity)
        values.initialize(from: original.values, count: known)
        places = original.places
        list = original.list
        insertion = original.insertion
        rowIDColumn = original.rowIDColumn
    }

    deinit {
        encoder?.forgetContainer()
        names.deinitialize(count: known)
        names.deallocate()
        values.deinitialize(count: known)
        values.deallocate()
    }

    /// The values of the columns.
    var bound: UnsafeBufferPointer<DatabaseValue> { UnsafeBufferPointer(start: values, count: count) }

    /// True if the record has set each expected column and no other one, in their order.
    var isComplete: Bool { count == known }

    func name(at index: Int) -> String { names[index] }
    func value(at index: Int) -> DatabaseValue { values[index] }

    /// The names of the columns; complete after ``forgetUnusedNames()``.
    var columns: [String] {
        if isComplete, let list { return list }
        let made = Array(UnsafeBufferPointer(start: names, count: count))
        if isComplete { list = made }
        return made
    }

    // MARK: - Places

    /// The memory of the values for a generated record, all NULL, if its columns are expected, and none is set.
    func memory(for columns: RecordColumns) -> UnsafeMutablePointer<DatabaseValue>? {
        guard count == 0, places === columns else { return nil }
        for place in 0..<columns.names.count { values[place].replace(by: .null) }
        return values
    }

    /// Sets the first columns to the values that are in the memory.
    func setFirst(_ count: Int) { self.count = count }

    /// Expects the columns of a generated record, which are all that are set, by their places.
    func expect(_ columns: RecordColumns) {
        if count == columns.names.count { places = columns }
    }

    // MARK: - Changes

    /// Expects the same columns for another record.
    func reset() { count = 0 }

    /// Sets the value of the column that is expected next. Returns false if that is another column.
    @inline(__always)
    func setNext(_ value: DatabaseValue, for column: String) -> Bool {
        let next = count
        guard next < known, names[next].isSame(as: column) else { return false }
        values[next] = value
        count = next + 1
        return true
    }

    /// Sets an integer in the column that is expected next. Returns false if that is another column.
    @inline(__always)
    func setNext(integer: Int64, for column: String) -> Bool {
        let next = count
        guard next < known, names[next].isSame(as: column) else { return false }
        values[next].replace(by: DatabaseValue(storage: .int64(integer)))
        count = next + 1
        return true
    }

    /// Sets the value of any column.
    func set(_ value: DatabaseValue, for column: String) {
        if count < known, names[count].hasBytes(of: column) {
            // Compares the next record's name by its address. Strings at different addresses are compared by bytes.
            names[count] = column
            values[count] = value
            count += 1
        } else if let index = index(of: column) {
            values[index] = value
        } else {
            forgetUnusedNames()
            append(value, for: column)
        }
    }

    /// Forgets the columns that were expected and not set.
    func forgetUnusedNames() {
        guard known > count else { return }
        (names + count).deinitialize(count: known - count)
        (values + count).deinitialize(count: known - count)
        known = count
        if let places, places.names.count > known { self.places = nil }
        namesHaveChanged()
    }

    private func append(_ value: DatabaseValue, for column: String) {
        if known == capacity { grow() }
        (names + known).initialize(to: column)
        (values + known).initialize(to: value)
        known += 1
        count += 1
        namesHaveChanged()
    }

    private func grow() {
        let (formerNames, formerValues) = (names, values)
        capacity *= 2
        names = .allocate(capacity: capacity)
        names.moveInitialize(from: formerNames, count: known)
        values = .allocate(capacity: capacity)
        values.moveInitialize(from: formerValues, count: known)
        formerNames.deallocate()
        formerValues.deallocate()
    }

    private func namesHaveChanged() {
        insertion = nil
        list = nil
    }

    func index(of column: String) -> Int? {
        for index in 0..<count where names[index].hasBytes(of: column) { return index }
        let folded = column.foldedSQLName
        return (0..<count).first { names[$0].foldedSQLName == folded }
    }
}

extension DatabaseValue {
    /// Replaces the value. Numbers and NULL, which are most frequent, need no release, whose check would take as long
    /// as all else.
    @inlinable @inline(__always)
    mutating func replace(by value: DatabaseValue) {
        switch storage {
        case .null, .int64, .double: withUnsafeMutablePointer(to: &self) { $0.initialize(to: value) }
        case .string, .blob: self = value
        }
    }
}
