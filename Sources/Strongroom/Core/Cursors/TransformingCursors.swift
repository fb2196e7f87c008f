// Cursors that transform, filter or number the elements of their base.

/// A cursor over the elements of ``Cursor/map(_:)``.
public final class MapCursor<Base: Cursor, Element>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline let transform: (Base.Element) throws -> Element

    @inlinable
    init(_ base: Base, _ transform: @escaping (Base.Element) throws -> Element) {
        self.base = base
        self.transform = transform
    }

    /// Returns the next element. Nil at the end.
    @inlinable
    public func next() throws -> Element? {
        guard let element = try base.next() else { return nil }
        return try transform(element)
    }

    /// Calls `body` with each remaining element.
    @inlinable
    public func forEach(_ body: (Element) throws -> Void) throws {
        try base.forEach { try body(transform($0)) }
    }
}

/// A cursor over the elements of ``Cursor/filter(_:)``.
public final class FilterCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline let isIncluded: (Base.Element) throws -> Bool

    @inlinable
    init(_ base: Base, _ isIncluded: @escaping (Base.Element) throws -> Bool) {
        self.base = base
        self.isIncluded = isIncluded
    }

    /// Returns the next element. Nil at the end.
    @inlinable
    public func next() throws -> Base.Element? {
        while let element = try base.next() {
            if try isIncluded(element) { return element }
        }
        return nil
    }

    /// Calls `body` with each remaining element.
    @inlinable
    public func forEach(_ body: (Base.Element) throws -> Void) throws {
        try base.forEach { if try isIncluded($0) { try body($0) } }
    }
}

/// A cursor over the elements of ``Cursor/enumerated()``.
public final class EnumeratedCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline var number = 0

    @inlinable
    init(_ base: Base) {
        self.base = base
    }

    /// Returns the next element. Nil at the end.
    @inlinable
    public func next() throws -> (Int, Base.Element)? {
        guard let element = try base.next() else { return nil }
        defer { number += 1 }
        return (number, element)
    }

    /// Calls `body` with each remaining element.
    @inlinable
    public func forEach(_ body: ((Int, Base.Element)) throws -> Void) throws {
        try base.forEach { element in
            defer { number += 1 }
            try body((number, element))
        }
    }
}

/// A cursor over the elements of `joined()` and `flatMap(_:)`.
public final class FlattenCursor<Base: Cursor>: Cursor where Base.Element: Cursor {
    @usableFromInline let base: Base
    @usableFromInline var segment: Base.Element?

    @inlinable
    init(_ base: Base) {
        self.base = base
    }

    /// Returns the next element. Nil at the end.
    @inlinable
    public func next() throws -> Base.Element.Element? {
        while true {
            if let element = try segment?.next() { return element }
            // Released before the next one is created, which may use the same statement.
            segment = nil
            segment = try base.next()
            if segment == nil { return nil }
        }
    }
}
