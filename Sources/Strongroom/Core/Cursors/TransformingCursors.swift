// Cursors that change, choose or number the elements of their base.

/// A cursor on the elements that ``Cursor/map(_:)`` makes.
public final class MapCursor<Base: Cursor, Element>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline let transform: (Base.Element) throws -> Element

    @inlinable
    init(_ base: Base, _ transform: @escaping (Base.Element) throws -> Element) {
        self.base = base
        self.transform = transform
    }

    @inlinable
    public func next() throws -> Element? {
        guard let element = try base.next() else { return nil }
        return try transform(element)
    }

    @inlinable
    public func forEach(_ body: (Element) throws -> Void) throws {
        try base.forEach { try body(transform($0)) }
    }
}

/// A cursor on the elements that ``Cursor/filter(_:)`` leaves.
public final class FilterCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline let isIncluded: (Base.Element) throws -> Bool

    @inlinable
    init(_ base: Base, _ isIncluded: @escaping (Base.Element) throws -> Bool) {
        self.base = base
        self.isIncluded = isIncluded
    }

    @inlinable
    public func next() throws -> Base.Element? {
        while let element = try base.next() {
            if try isIncluded(element) { return element }
        }
        return nil
    }

    @inlinable
    public func forEach(_ body: (Base.Element) throws -> Void) throws {
        try base.forEach { if try isIncluded($0) { try body($0) } }
    }
}

/// The elements of a cursor with their number: what ``Cursor/enumerated()`` makes.
public final class EnumeratedCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline var number = 0

    @inlinable
    init(_ base: Base) {
        self.base = base
    }

    @inlinable
    public func next() throws -> (Int, Base.Element)? {
        guard let element = try base.next() else { return nil }
        defer { number += 1 }
        return (number, element)
    }

    @inlinable
    public func forEach(_ body: ((Int, Base.Element)) throws -> Void) throws {
        try base.forEach { element in
            defer { number += 1 }
            try body((number, element))
        }
    }
}

/// The elements of the cursors of a cursor: what `joined()` and `flatMap(_:)` make.
public final class FlattenCursor<Base: Cursor>: Cursor where Base.Element: Cursor {
    @usableFromInline let base: Base
    @usableFromInline var segment: Base.Element?

    @inlinable
    init(_ base: Base) {
        self.base = base
    }

    @inlinable
    public func next() throws -> Base.Element.Element? {
        while true {
            if let element = try segment?.next() { return element }
            // Gone before the next one comes, which may want the same statement.
            segment = nil
            segment = try base.next()
            if segment == nil { return nil }
        }
    }
}
