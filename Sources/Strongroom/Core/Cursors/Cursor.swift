/// Elements that come one by one, each from the database when it is asked for.
///
/// A cursor is used inside the database access that made it. It can be iterated once.
public protocol Cursor<Element>: AnyObject {
    associatedtype Element

    /// The next element; nil at the end, and from then on.
    func next() throws -> Element?

    /// Calls `body` with each element that is left; its error, or the cursor's, stops the iteration.
    func forEach(_ body: (Element) throws -> Void) throws
}

extension Cursor {
    @inlinable
    public func forEach(_ body: (Element) throws -> Void) throws {
        while let element = try next() { try body(element) }
    }
}

// MARK: - Cursors made of cursors

// They do nothing until they are asked for their next element, and share the elements of their base: use one of both.

extension Cursor {
    /// The elements with their number, from zero.
    @inlinable
    public func enumerated() -> EnumeratedCursor<Self> {
        EnumeratedCursor(self)
    }

    /// The elements that `isIncluded` accepts.
    @inlinable
    public func filter(_ isIncluded: @escaping (Element) throws -> Bool) -> FilterCursor<Self> {
        FilterCursor(self, isIncluded)
    }

    /// Returns a cursor on what `transform` makes of each element.
    @inlinable
    public func map<T>(_ transform: @escaping (Element) throws -> T) -> MapCursor<Self, T> {
        MapCursor(self, transform)
    }

    /// Returns a cursor on what `transform` makes of each element, without the nils.
    @inlinable
    public func compactMap<ElementOfResult>(
        _ transform: @escaping (Element) throws -> ElementOfResult?)
        -> MapCursor<FilterCursor<MapCursor<Self, ElementOfResult?>>, ElementOfResult>
    {
        map(transform).filter { $0 != nil }.map { $0.unsafelyUnwrapped }
    }

    /// The elements of the sequences that `transform` makes, one sequence after the other.
    @inlinable
    public func flatMap<SegmentOfResult: Sequence>(
        _ transform: @escaping (Element) throws -> SegmentOfResult)
        -> FlattenCursor<MapCursor<Self, AnyCursor<SegmentOfResult.Element>>>
    {
        FlattenCursor(map { try AnyCursor(transform($0)) })
    }

    /// The elements of the cursors that `transform` makes, one cursor after the other.
    @inlinable
    public func flatMap<SegmentOfResult: Cursor>(
        _ transform: @escaping (Element) throws -> SegmentOfResult)
        -> FlattenCursor<MapCursor<Self, SegmentOfResult>>
    {
        FlattenCursor(map(transform))
    }

    /// All elements but the first.
    @inlinable
    public func dropFirst() -> DropFirstCursor<Self> {
        dropFirst(1)
    }

    /// All elements but the first `n`.
    ///
    /// - precondition: `n` is not negative.
    @inlinable
    public func dropFirst(_ n: Int) -> DropFirstCursor<Self> {
        DropFirstCursor(self, count: n)
    }

    /// The elements from the first one on that `predicate` refuses.
    @inlinable
    public func drop(while predicate: @escaping (Element) throws -> Bool) -> DropWhileCursor<Self> {
        DropWhileCursor(self, predicate)
    }

    /// The first `maxLength` elements, or fewer where there are not so many.
    ///
    /// - precondition: `maxLength` is not negative.
    @inlinable
    public func prefix(_ maxLength: Int) -> PrefixCursor<Self> {
        PrefixCursor(self, count: maxLength)
    }

    /// The elements before the first one that `predicate` refuses.
    @inlinable
    public func prefix(while predicate: @escaping (Element) throws -> Bool) -> PrefixWhileCursor<Self> {
        PrefixWhileCursor(self, predicate)
    }
}

extension Sequence {
    /// The elements of the cursors that `transform` makes, one cursor after the other, each made when its turn comes.
    @inlinable
    public func flatMap<SegmentOfResult: Cursor>(
        _ transform: @escaping (Iterator.Element) throws -> SegmentOfResult)
        -> FlattenCursor<MapCursor<AnyCursor<Iterator.Element>, SegmentOfResult>>
    {
        AnyCursor(self).flatMap(transform)
    }
}

extension Cursor where Element: Sequence {
    /// The elements of the sequences, one sequence after the other.
    @inlinable
    public func joined() -> FlattenCursor<MapCursor<Self, AnyCursor<Element.Element>>> {
        flatMap { $0 }
    }
}

extension Cursor where Element: Cursor {
    /// The elements of the cursors, one cursor after the other.
    @inlinable
    public func joined() -> FlattenCursor<Self> {
        FlattenCursor(self)
    }
}
