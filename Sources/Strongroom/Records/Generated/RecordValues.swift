import Foundation

/// The values of a record's columns, in the order of its ``RecordColumns``, as a record sets them. A column that it
/// doesn't set is NULL. Use it only in the function that got it.
public struct RecordValues {
    @usableFromInline let memory: UnsafeMutablePointer<DatabaseValue>
    @usableFromInline let count: Int

    @inlinable
    init(_ memory: UnsafeMutablePointer<DatabaseValue>, count: Int) {
        self.memory = memory
        self.count = count
    }

    /// Sets the value of a column. Nil sets NULL.
    ///
    /// - parameters:
    ///   - value: the value.
    ///   - place: the place of the column in the list of ``RecordColumns``.
    @inlinable @inline(__always)
    public func set(_ value: some DatabaseValueConvertible, at place: Int) {
        precondition(place >= 0 && place < count, "the record's RecordColumns have no such place")
        memory[place].replace(by: value.databaseValue)
    }

    /// Sets a column to a date, as a strategy stores it. Nil sets NULL.
    public func set(_ date: Date?, at place: Int, _ strategy: DatabaseDateEncodingStrategy) {
        set(date.map { strategy.databaseValue($0) } ?? .null, at: place)
    }

    /// Sets a column to the JSON of a value. Nil sets NULL.
    public func setJSON<Value: Encodable>(_ value: Value?, at place: Int, _ encoder: JSONEncoder) throws {
        guard let value else { return set(DatabaseValue.null, at: place) }
        set(String(decoding: try encoder.encode(value), as: UTF8.self), at: place)
    }

    /// Sets the columns of a part of the record, which begin at a place. Nil sets all of them to NULL.
    public func set<Part: GeneratedRecord>(part: Part?, from place: Int) throws {
        let count = Part.databaseColumns.names.count
        precondition(place >= 0 && place + count <= self.count, "the part ends behind the record's RecordColumns")
        let values = RecordValues(memory + place, count: count)
        if let part { return try part.encode(to: values) }
        for place in 0..<count { values.set(DatabaseValue.null, at: place) }
    }
}

extension PersistenceContainer {
    /// Sets the columns of a generated record.
    @inlinable
    public mutating func set<Record: GeneratedRecord>(_ record: Record) throws {
        let columns = Record.databaseColumns
        guard let memory = memory(for: columns) else { return try setByName(record, columns) }
        let count = columns.names.count
        try record.encode(to: RecordValues(memory, count: count))
        setFirst(count)
    }

    @usableFromInline
    mutating func setByName(_ record: some GeneratedRecord, _ columns: RecordColumns) throws {
        let names = columns.names, isEmpty = saved.count == 0
        try withUnsafeTemporaryAllocation(of: DatabaseValue.self, capacity: names.count) { memory in
            memory.initialize(repeating: .null)
            defer { memory.deinitialize() }
            // Only a list without columns has no address.
            guard let first = memory.baseAddress else { return }
            try record.encode(to: RecordValues(first, count: names.count))
            for (name, value) in zip(names, memory) { set(value, for: name) }
        }
        if isEmpty { expect(columns) }
    }
}
