// Standard collections, made from cursors and filled by them.
//
// The rows of a cursor are one object: copy them before they go into a collection, or use `Row.fetchAll`.

extension RangeReplaceableCollection {
    /// All elements that are left in the cursor.
    @inlinable
    public init(_ cursor: some Cursor<Element>) throws {
        self.init()
        try append(contentsOf: cursor)
    }

    /// All elements that are left in the cursor, with room for `minimumCapacity` of them made beforehand.
    @inlinable
    public init(_ cursor: some Cursor<Element>, minimumCapacity: Int) throws {
        self.init()
        reserveCapacity(minimumCapacity)
        try append(contentsOf: cursor)
    }

    /// Appends all elements that are left in the cursor; those that came before an error stay.
    @inlinable
    public mutating func append(contentsOf newElements: some Cursor<Element>) throws {
        try newElements.forEach { append($0) }
    }
}

extension Set {
    /// The distinct elements that are left in the cursor.
    @inlinable
    public init(_ cursor: some Cursor<Element>) throws {
        self.init()
        try formUnion(cursor)
    }

    /// The distinct elements that are left in the cursor, with room for `minimumCapacity` of them made beforehand.
    @inlinable
    public init(_ cursor: some Cursor<Element>, minimumCapacity: Int) throws {
        self.init(minimumCapacity: minimumCapacity)
        try formUnion(cursor)
    }

    /// Inserts the elements that are left in the cursor.
    @inlinable
    public mutating func formUnion(_ cursor: some Cursor<Element>) throws {
        try cursor.forEach { insert($0) }
    }

    /// The elements of the set and those that are left in the cursor.
    @inlinable
    public func union(_ cursor: some Cursor<Element>) throws -> Set<Element> {
        var union = self
        try union.formUnion(cursor)
        return union
    }

    /// Removes the elements that are not left in the cursor.
    @inlinable
    public mutating func formIntersection(_ cursor: some Cursor<Element>) throws {
        self = try intersection(cursor)
    }

    /// The elements of the set that are left in the cursor, too.
    @inlinable
    public func intersection(_ cursor: some Cursor<Element>) throws -> Set<Element> {
        var common: Set<Element> = []
        try cursor.forEach { if contains($0) { common.insert($0) } }
        return common
    }
}

extension Dictionary {
    /// The elements of the cursor by the key that `keyForValue` gives each, in their order.
    @inlinable
    public init<C: Cursor>(
        grouping cursor: C, by keyForValue: (C.Element) throws -> Key) throws where Value == [C.Element]
    {
        try self.init(minimumCapacity: 0, grouping: cursor, by: keyForValue)
    }

    /// The elements of the cursor by the key that `keyForValue` gives each, with room for `minimumCapacity` keys.
    @inlinable
    public init<C: Cursor>(
        minimumCapacity: Int,
        grouping cursor: C,
        by keyForValue: (C.Element) throws -> Key) throws
        where Value == [C.Element]
    {
        self.init(minimumCapacity: minimumCapacity)
        try cursor.forEach { self[try keyForValue($0), default: []].append($0) }
    }

    /// The pairs of the cursor.
    ///
    /// - precondition: no key comes twice.
    @inlinable
    public init(uniqueKeysWithValues keysAndValues: some Cursor<(Key, Value)>) throws {
        try self.init(minimumCapacity: 0, uniqueKeysWithValues: keysAndValues)
    }

    /// The pairs of the cursor, with room for `minimumCapacity` keys.
    ///
    /// - precondition: no key comes twice.
    @inlinable
    public init(minimumCapacity: Int, uniqueKeysWithValues keysAndValues: some Cursor<(Key, Value)>) throws {
        self.init(minimumCapacity: minimumCapacity)
        try keysAndValues.forEach { key, value in
            precondition(
                updateValue(value, forKey: key) == nil,
                "a key comes twice in the cursor. Group the elements with Dictionary(grouping:by:), or make the keys unique.")
        }
    }
}
