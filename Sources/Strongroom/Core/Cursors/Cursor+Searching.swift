// Searches and reductions of cursors.

extension Cursor {
    /// A Boolean value that indicates whether no elements remain. Reads the next element.
    @inlinable
    public var isEmpty: Bool {
        get throws { try next() == nil }
    }

    /// Returns the first element that `predicate` accepts. Nil if there is none. The cursor moves past it.
    @inlinable
    public func first(where predicate: (Element) throws -> Bool) throws -> Element? {
        while let element = try next() {
            if try predicate(element) { return element }
        }
        return nil
    }

    /// Returns true if `predicate` accepts an element. The cursor moves past it.
    @inlinable
    public func contains(where predicate: (Element) throws -> Bool) throws -> Bool {
        try first(where: predicate) != nil
    }

    /// Returns true if an element equals `element`. The cursor moves past it.
    @inlinable
    public func contains(_ element: Element) throws -> Bool where Element: Equatable {
        try contains { $0 == element }
    }

    /// Returns the combination of all elements. `nextPartialResult` gets the result so far, and the next element.
    @inlinable
    public func reduce<Result>(
        _ initialResult: Result,
        _ nextPartialResult: (Result, Element) throws -> Result
    ) throws -> Result {
        var result = initialResult
        while let element = try next() { result = try nextPartialResult(result, element) }
        return result
    }

    /// Returns the combination of all elements, which is updated in place.
    @inlinable
    public func reduce<Result>(
        into initialResult: Result,
        _ updateAccumulatingResult: (inout Result, Element) throws -> Void
    ) throws -> Result {
        var result = initialResult
        while let element = try next() { try updateAccumulatingResult(&result, element) }
        return result
    }

    /// Returns the least element, the first of equal ones. Nil if there is none.
    @inlinable
    public func min(by areInIncreasingOrder: (Element, Element) throws -> Bool) throws -> Element? {
        guard var least = try next() else { return nil }
        while let element = try next() {
            if try areInIncreasingOrder(element, least) { least = element }
        }
        return least
    }

    /// Returns the least element, the first of equal ones. Nil if there is none.
    @inlinable
    public func min() throws -> Element? where Element: Comparable {
        try min(by: <)
    }

    /// Returns the greatest element. Nil if there is none.
    @inlinable
    public func max(by areInIncreasingOrder: (Element, Element) throws -> Bool) throws -> Element? {
        guard var greatest = try next() else { return nil }
        while let element = try next() {
            if try areInIncreasingOrder(greatest, element) { greatest = element }
        }
        return greatest
    }

    /// Returns the greatest element. Nil if there is none.
    @inlinable
    public func max() throws -> Element? where Element: Comparable {
        try max(by: <)
    }

    /// Returns the last `maxLength` elements, or all if there are fewer.
    ///
    /// - precondition: `maxLength` is not negative.
    @inlinable
    public func suffix(_ maxLength: Int) throws -> [Element] {
        precondition(maxLength >= 0, "can't take \(maxLength) elements of a cursor: give a number that is not negative")
        var kept: [Element] = []
        guard maxLength > 0 else { return kept }
        // A ring buffer: the newest element replaces the oldest.
        var oldest = 0
        while let element = try next() {
            if kept.count < maxLength {
                kept.append(element)
            } else {
                kept[oldest] = element
                oldest = (oldest + 1) % maxLength
            }
        }
        return Array(kept[oldest...] + kept[..<oldest])
    }

    /// Returns all elements except the last.
    @inlinable
    public func dropLast() throws -> [Element] {
        try dropLast(1)
    }

    /// Returns all elements except the last `n`.
    ///
    /// - precondition: `n` is not negative.
    @inlinable
    public func dropLast(_ n: Int) throws -> [Element] {
        precondition(n >= 0, "can't drop \(n) elements of a cursor: give a number that is not negative")
        var elements = try Array(self)
        elements.removeLast(Swift.min(n, elements.count))
        return elements
    }
}

// In extensions of their own: next to functions with conditions of their own, `joined()` of strings would be a cursor
// of characters.

extension Cursor where Element: StringProtocol {
    /// Returns the concatenation of the strings, with `separator` between them.
    @inlinable
    public func joined(separator: String = "") throws -> String {
        guard let first = try next() else { return "" }
        var text = String(first)
        while let element = try next() {
            text += separator
            text.append(contentsOf: element)
        }
        return text
    }
}
