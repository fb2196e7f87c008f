/// Elements that come one by one, each from the database when it is asked for.
///
/// A cursor is used inside the database access that made it.
public protocol Cursor<Element>: AnyObject {
    associatedtype Element

    /// The next element, or nil at the end. After an error the cursor is at its end.
    func next() throws -> Element?

    /// Calls `body` with each element that is left.
    func forEach(_ body: (Element) throws -> Void) throws
}

extension Cursor {
    @inlinable
    public func forEach(_ body: (Element) throws -> Void) throws {
        while let element = try next() { try body(element) }
    }
}

extension Array {
    /// All elements that are left in the cursor.
    @inlinable
    public init(_ cursor: some Cursor<Element>) throws {
        self.init()
        try append(contentsOf: cursor)
    }

    /// All elements that are left in the cursor, with room for `minimumCapacity` of them.
    @inlinable
    public init(_ cursor: some Cursor<Element>, minimumCapacity: Int) throws {
        self.init()
        reserveCapacity(minimumCapacity)
        try append(contentsOf: cursor)
    }
}

extension RangeReplaceableCollection {
    /// Appends all elements that are left in the cursor.
    @inlinable
    public mutating func append(contentsOf newElements: some Cursor<Element>) throws {
        while let element = try newElements.next() { append(element) }
    }
}

extension Set {
    /// All elements that are left in the cursor.
    @inlinable
    public init(_ cursor: some Cursor<Element>) throws {
        self.init()
        while let element = try cursor.next() { insert(element) }
    }
}

/// A cursor on the rows of a statement.
public protocol DatabaseCursor<Element>: Cursor {
    var run: StatementRun { get }
}

extension DatabaseCursor {
    /// The SQL of the statement.
    public var sql: String { run.statement.sql }

    public var arguments: StatementArguments { run.statement.arguments }

    public var columnNames: [String] { run.statement.columnNames }

    public var columnCount: Int { run.statement.columnCount }
}
