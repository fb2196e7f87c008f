// Cursors over a part of their base's elements.

/// A cursor over the elements after ``Cursor/dropFirst(_:)``.
public final class DropFirstCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline var toDrop: Int

    @inlinable
    init(_ base: Base, count: Int) {
        precondition(count >= 0, "can't drop \(count) elements of a cursor: give a number that is not negative")
        self.base = base
        self.toDrop = count
    }

    /// Returns the next element. Nil at the end.
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

/// A cursor over the elements after ``Cursor/drop(while:)``.
public final class DropWhileCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline let predicate: (Base.Element) throws -> Bool
    @usableFromInline var isDropping = true

    @inlinable
    init(_ base: Base, _ predicate: @escaping (Base.Element) throws -> Bool) {
        self.base = base
        self.predicate = predicate
    }

    /// Returns the next element. Nil at the end.
    @inlinable
    public func next() throws -> Base.Element? {
        while isDropping, let element = try base.next() {
            if try !predicate(element) {
                isDropping = false
                return element
            }
        }
        // The elements to drop have ended, or the base has. If it has, it returns nil again.
        return try base.next()
    }
}

/// A cursor over the elements of ``Cursor/prefix(_:)``.
public final class PrefixCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline var remaining: Int

    @inlinable
    init(_ base: Base, count: Int) {
        precondition(count >= 0, "can't take \(count) elements of a cursor: give a number that is not negative")
        self.base = base
        self.remaining = count
    }

    /// Returns the next element. Nil at the end.
    @inlinable
    public func next() throws -> Base.Element? {
        guard remaining > 0 else { return nil }
        remaining -= 1
        return try base.next()
    }
}

/// A cursor over the elements of ``Cursor/prefix(while:)``.
public final class PrefixWhileCursor<Base: Cursor>: Cursor {
    @usableFromInline let base: Base
    @usableFromInline let predicate: (Base.Element) throws -> Bool
    @usableFromInline var isOver = false

    @inlinable
    init(_ base: Base, _ predicate: @escaping (Base.Element) throws -> Bool) {
        self.base = base
        self.predicate = predicate
    }

    /// Returns the next element. Nil at the end.
    @inlinable
    public func next() throws -> Base.Element? {
        guard !isOver else { return nil }
        if let element = try base.next(), try predicate(element) { return element }
        isOver = true
        return nil
    }
}
