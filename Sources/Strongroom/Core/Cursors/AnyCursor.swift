/// A cursor on the elements of another cursor, of a sequence, or of a function, whose type it hides.
public final class AnyCursor<Element>: Cursor {
    @usableFromInline let element: () throws -> Element?

    /// The elements that `next` gives, until it gives nil.
    @inlinable
    public init(_ next: @escaping () throws -> Element?) {
        element = next
    }

    /// The elements of another cursor.
    @inlinable
    public init<C: Cursor>(_ base: C) where C.Element == Element {
        element = base.next
    }

    /// The elements of an iterator.
    @inlinable
    public convenience init(iterator: some IteratorProtocol<Element>) {
        var iterator = iterator
        self.init { iterator.next() }
    }

    /// The elements of a sequence.
    @inlinable
    public convenience init(_ sequence: some Sequence<Element>) {
        self.init(iterator: sequence.makeIterator())
    }

    @inlinable
    public func next() throws -> Element? {
        try element()
    }
}
