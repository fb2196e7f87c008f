// Cursors on the first elements of their base, or on what follows them.

/// A cursor on the elements that ``Cursor/dropFirst(_:)`` leaves.
public final class DropFirstCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline var toDrop: Int

    @inlinable
    init(_ base: Base, count: Int) {
        precondition(count >= 0, "can't drop \(count) elements of a cursor: give a number that is not negative")
        self.base = base
        self.toDrop = count
    }

    @inlinable
    public func next() throws -> Base.Element? {
        while toDrop > 0 {
            guard try base.next() != nil else {
                toDrop = 0
                return nil
            }
            toDrop -= 1
        }
        return try base.next()
    }
}

/// A cursor on the elements that ``Cursor/drop(while:)`` leaves.
public final class DropWhileCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline let predicate: (Base.Element) throws -> Bool
    @usableFromInline var isDropping = true

    @inlinable
    init(_ base: Base, _ predicate: @escaping (Base.Element) throws -> Bool) {
        self.base = base
        self.predicate = predicate
    }

    @inlinable
    public func next() throws -> Base.Element? {
        while isDropping, let element = try base.next() {
            if try !predicate(element) {
                isDropping = false
                return element
            }
        }
        // Either the predicate has spoken, or the base has ended and says so again.
        return try base.next()
    }
}

/// A cursor on the elements that ``Cursor/prefix(_:)`` leaves.
public final class PrefixCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline var remaining: Int

    @inlinable
    init(_ base: Base, count: Int) {
        precondition(count >= 0, "can't take \(count) elements of a cursor: give a number that is not negative")
        self.base = base
        self.remaining = count
    }

    @inlinable
    public func next() throws -> Base.Element? {
        guard remaining > 0 else { return nil }
        remaining -= 1
        return try base.next()
    }
}

/// A cursor on the elements that ``Cursor/prefix(while:)`` leaves.
public final class PrefixWhileCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline let predicate: (Base.Element) throws -> Bool
    @usableFromInline var isOver = false

    @inlinable
    init(_ base: Base, _ predicate: @escaping (Base.Element) throws -> Bool) {
        self.base = base
        self.predicate = predicate
    }

    @inlinable
    public func next() throws -> Base.Element? {
        guard !isOver else { return nil }
        if let element = try base.next(), try predicate(element) { return element }
        isOver = true
        return nil
    }
}
