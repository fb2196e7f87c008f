// Standard collections that are filled from cursors. The rows of a cursor are one object: copy them before they are
// added to a collection, or use `Row.fetchAll`.

extension RangeReplaceableCollection {
    /// Creates an array of the remaining elements of the cursor.
    @inlinable
    public init(_ cursor: some Cursor<Element>) throws {
        self.init()
        try append(contentsOf: cursor)
    }

    /// Creates an array of the remaining elements of the cursor, with a minimum capacity.
    @inlinable
    public init(_ cursor: some Cursor<Element>, minimumCapacity: Int) throws {
        self.init()
        reserveCapacity(minimumCapacity)
        try append(contentsOf: cursor)
    }

    /// Appends the remaining elements of the cursor. After an error, the elements before it are appended.
    @inlinable
    public mutating func append(contentsOf newElements: some Cursor<Element>) throws {
        try newElements.forEach { append($0) }
    }
}

extension Array {
    /// Creates an array of the remaining elements of the cursor.
    @inlinable
    public init(_ cursor: some Cursor<Element>) throws {
        self.init()
        try append(contentsOf: cursor)
    }

    /// Creates an array of the remaining elements of the cursor, with a minimum capacity.
    @inlinable
    public init(_ cursor: some Cursor<Element>, minimumCapacity: Int) throws {
        self.init()
        reserveCapacity(minimumCapacity)
        try append(contentsOf: cursor)
    }

    /// Appends the remaining elements of the cursor. After an error, the elements before it are appended.
    @inlinable
    public mutating func append(contentsOf newElements: some Cursor<Element>) throws {
        try newElements.forEach { appendGrowing($0) }
    }

    /// Appends an element. From 256 kB to 64 MB, a full array grows eightfold instead of twofold: memory that was never
    /// written is only addresses, but each copy of the elements writes to as much new memory, which costs more than the
    /// rows.
    @inlinable
    mutating func appendGrowing(_ element: consuming Element) {
        if count == capacity {
            let stride = MemoryLayout<Element>.stride
            if capacity >= (256 << 10) / stride { reserveCapacity(Swift.min(capacity * 8, (64 << 20) / stride)) }
        }
        append(element)
    }
}

extension Set {
    /// Creates a set of the remaining elements of the cursor.
    @inlinable
    public init(_ cursor: some Cursor<Element>) throws {
        self.init()
        try formUnion(cursor)
    }

    /// Creates a set of the remaining elements of the cursor, with a minimum capacity.
    @inlinable
    public init(_ cursor: some Cursor<Element>, minimumCapacity: Int) throws {
        self.init(minimumCapacity: minimumCapacity)
        try formUnion(cursor)
    }

    /// Inserts the remaining elements of the cursor.
    @inlinable
    public mutating func formUnion(_ cursor: some Cursor<Element>) throws {
        try cursor.forEach { insert($0) }
    }

    /// Returns the union of the set and the remaining elements of the cursor.
    @inlinable
    public func union(_ cursor: some Cursor<Element>) throws -> Set<Element> {
        var union = self
        try union.formUnion(cursor)
        return union
    }

    /// Removes the elements that are not among the remaining ones of the cursor.
    @inlinable
    public mutating func formIntersection(_ cursor: some Cursor<Element>) throws {
        self = try intersection(cursor)
    }

    /// Returns the elements of the set that are among the remaining ones of the cursor.
    @inlinable
    public func intersection(_ cursor: some Cursor<Element>) throws -> Set<Element> {
        var common: Set<Element> = []
        try cursor.forEach { if contains($0) { common.insert($0) } }
        return common
    }
}

extension Dictionary {
    /// Creates a dictionary that groups the elements of the cursor by their keys, in their order.
    @inlinable
    public init<C: Cursor>(
        grouping cursor: C, by keyForValue: (C.Element) throws -> Key
    ) throws where Value == [C.Element] {
        try self.init(minimumCapacity: 0, grouping: cursor, by: keyForValue)
    }

    /// Creates a dictionary that groups the elements of the cursor by their keys, with a minimum capacity.
    @inlinable
    public init<C: Cursor>(minimumCapacity: Int, grouping cursor: C, by keyForValue: (C.Element) throws -> Key) throws
    where Value == [C.Element] {
        self.init(minimumCapacity: minimumCapacity)
        try cursor.forEach { self[try keyForValue($0), default: []].append($0) }
    }

    /// Creates a dictionary of the pairs of the cursor.
    ///
    /// - precondition: the keys are unique.
    @inlinable
    public init(uniqueKeysWithValues keysAndValues: some Cursor<(Key, Value)>) throws {
        try self.init(minimumCapacity: 0, uniqueKeysWithValues: keysAndValues)
    }

    /// Creates a dictionary of the pairs of the cursor, with a minimum capacity.
    ///
    /// - precondition: the keys are unique.
    @inlinable
    public init(minimumCapacity: Int, uniqueKeysWithValues keysAndValues: some Cursor<(Key, Value)>) throws {
        self.init(minimumCapacity: minimumCapacity)
        try keysAndValues.forEach { key, value in
            precondition(
                updateValue(value, forKey: key) == nil,
                """
                the keys of the cursor are not unique. \
                Group the elements with Dictionary(grouping:by:), or make the keys unique.
                """)
        }
    }
}
