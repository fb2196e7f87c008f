/// A type that reads elements one by one, each from the database when it is requested.
///
/// A cursor is used inside of the access that created it. It can be iterated once.
public protocol Cursor<Element>: AnyObject {
    associatedtype Element

    /// Returns the next element. Nil at the end, and from then on.
    func next() throws -> Element?

    /// Calls `body` with each remaining element. An error of `body` or of the cursor stops the iteration.
    func forEach(_ body: (Element) throws -> Void) throws
}

extension Cursor {
    /// Calls `body` with each remaining element.
    @inlinable
    public func forEach(_ body: (Element) throws -> Void) throws {
        while let element = try next() { try body(element) }
    }
}

// MARK: - Cursors made of cursors

// They read an element when one is requested, and share the elements of their base: use only one of both.

extension Cursor {
    /// Returns a cursor over the elements with their numbers, from zero.
    @inlinable
    public func enumerated() -> EnumeratedCursor<Self> {
        EnumeratedCursor(self)
    }

    /// Returns a cursor over the elements that `isIncluded` accepts.
    @inlinable
    public func filter(_ isIncluded: @escaping (Element) throws -> Bool) -> FilterCursor<Self> {
        FilterCursor(self, isIncluded)
    }

    /// Returns a cursor over the results of `transform`.
    @inlinable
    public func map<T>(_ transform: @escaping (Element) throws -> T) -> MapCursor<Self, T> {
        MapCursor(self, transform)
    }

    /// Returns a cursor over the results of `transform` that are not nil.
    @inlinable
    public func compactMap<ElementOfResult>(_ transform: @escaping (Element) throws -> ElementOfResult?)
        -> MapCursor<FilterCursor<MapCursor<Self, ElementOfResult?>>, ElementOfResult>
    {
        map(transform).filter { $0 != nil }.map { $0.unsafelyUnwrapped }
    }

    /// Returns a cursor over the elements of the sequences that `transform` returns, one sequence after the other.
    @inlinable
    public func flatMap<SegmentOfResult: Sequence>(_ transform: @escaping (Element) throws -> SegmentOfResult)
        -> FlattenCursor<MapCursor<Self, AnyCursor<SegmentOfResult.Element>>>
    {
        FlattenCursor(map { try AnyCursor(transform($0)) })
    }

    /// Returns a cursor over the elements of the cursors that `transform` returns, one cursor after the other.
    @inlinable
    public func flatMap<SegmentOfResult: Cursor>(_ transform: @escaping (Element) throws -> SegmentOfResult)
        -> FlattenCursor<MapCursor<Self, SegmentOfResult>>
    {
        FlattenCursor(map(transform))
    }

    /// Returns a cursor over all elements except the first.
    @inlinable
    public func dropFirst() -> DropFirstCursor<Self> {
        dropFirst(1)
    }

    /// Returns a cursor over all elements except the first `n`.
    ///
    /// - precondition: `n` is not negative.
    @inlinable
    public func dropFirst(_ n: Int) -> DropFirstCursor<Self> {
        DropFirstCursor(self, count: n)
    }

    /// Returns a cursor over the elements from the first one on that `predicate` rejects.
    @inlinable
    public func drop(while predicate: @escaping (Element) throws -> Bool) -> DropWhileCursor<Self> {
        DropWhileCursor(self, predicate)
    }

    /// Returns a cursor over the first `maxLength` elements, or all if there are fewer.
    ///
    /// - precondition: `maxLength` is not negative.
    @inlinable
    public func prefix(_ maxLength: Int) -> PrefixCursor<Self> {
        PrefixCursor(self, count: maxLength)
    }

    /// Returns a cursor over the elements before the first one that `predicate` rejects.
    @inlinable
    public func prefix(while predicate: @escaping (Element) throws -> Bool) -> PrefixWhileCursor<Self> {
        PrefixWhileCursor(self, predicate)
    }
}

extension Sequence {
    /// Returns a cursor over the elements of the cursors that `transform` returns, one cursor after the other. Each is
    /// created when it is reached.
    @inlinable
    public func flatMap<SegmentOfResult: Cursor>(_ transform: @escaping (Iterator.Element) throws -> SegmentOfResult)
        -> FlattenCursor<MapCursor<AnyCursor<Iterator.Element>, SegmentOfResult>>
    {
        AnyCursor(self).flatMap(transform)
    }
}

extension Cursor where Element: Sequence {
    /// Returns a cursor over the elements of the sequences, one sequence after the other.
    @inlinable
    public func joined() -> FlattenCursor<MapCursor<Self, AnyCursor<Element.Element>>> {
        flatMap { $0 }
    }
}

extension Cursor where Element: Cursor {
    /// Returns a cursor over the elements of the cursors, one cursor after the other.
    @inlinable
    public func joined() -> FlattenCursor<Self> {
        FlattenCursor(self)
    }
}
