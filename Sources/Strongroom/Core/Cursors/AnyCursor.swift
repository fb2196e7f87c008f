/// A type-erased cursor over the elements of another cursor, a sequence, or a function.
public final class AnyCursor<Element>: Cursor {
    @usableFromInline let element: () throws -> Element?

    /// Creates a cursor over the elements that `next` returns, until it returns nil.
    @inlinable
    public init(_ next: @escaping () throws -> Element?) {
        element = next
    }

    /// Creates a cursor over the elements of another cursor.
    @inlinable
    public init<C: Cursor>(_ base: C) where C.Element == Element {
        element = base.next
    }

    /// Creates a cursor over the elements of an iterator.
    @inlinable
    public convenience init(iterator: some IteratorProtocol<Element>) {
        var iterator = iterator
        self.init { iterator.next() }
    }

    /// Creates a cursor over the elements of a sequence.
    @inlinable
    public convenience init(_ sequence: some Sequence<Element>) {
        self.init(iterator: sequence.makeIterator())
    }

    /// Returns the next element. Nil at the end.
    @inlinable
    public func next() throws -> Element? {
        try element()
    }
}
