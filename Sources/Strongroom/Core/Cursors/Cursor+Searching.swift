// Questions that run through a cursor, to its end or to their answer.

extension Cursor {
    /// A Boolean value that indicates whether there is no element left. Takes the next element off the cursor.
    @inlinable
    public var isEmpty: Bool {
        get throws { try next() == nil }
    }

    /// The first element that `predicate` accepts, or nil. The cursor stands behind it.
    @inlinable
    public func first(where predicate: (Element) throws -> Bool) throws -> Element? {
        while let element = try next() {
            if try predicate(element) { return element }
        }
        return nil
    }

    /// Returns true if `predicate` accepts an element. The cursor stands behind it.
    @inlinable
    public func contains(where predicate: (Element) throws -> Bool) throws -> Bool {
        try first(where: predicate) != nil
    }

    /// Returns true if an element is `element`. The cursor stands behind it.
    @inlinable
    public func contains(_ element: Element) throws -> Bool where Element: Equatable {
        try contains { $0 == element }
    }

    /// Combines all elements: `nextPartialResult` gets what it made so far, and the next element.
    @inlinable
    public func reduce<Result>(
        _ initialResult: Result,
        _ nextPartialResult: (Result, Element) throws -> Result) throws -> Result
    {
        var result = initialResult
        while let element = try next() { result = try nextPartialResult(result, element) }
        return result
    }

    /// Combines all elements in place.
    @inlinable
    public func reduce<Result>(
        into initialResult: Result,
        _ updateAccumulatingResult: (inout Result, Element) throws -> Void) throws -> Result
    {
        var result = initialResult
        while let element = try next() { try updateAccumulatingResult(&result, element) }
        return result
    }

    /// The least element, the first of equals; nil when there is none.
    @inlinable
    public func min(by areInIncreasingOrder: (Element, Element) throws -> Bool) throws -> Element? {
        guard var least = try next() else { return nil }
        while let element = try next() {
            if try areInIncreasingOrder(element, least) { least = element }
        }
        return least
    }

    /// The least element, the first of equals; nil when there is none.
    @inlinable
    public func min() throws -> Element? where Element: Comparable {
        try min(by: <)
    }

    /// The greatest element; nil when there is none.
    @inlinable
    public func max(by areInIncreasingOrder: (Element, Element) throws -> Bool) throws -> Element? {
        guard var greatest = try next() else { return nil }
        while let element = try next() {
            if try areInIncreasingOrder(greatest, element) { greatest = element }
        }
        return greatest
    }

    /// The greatest element; nil when there is none.
    @inlinable
    public func max() throws -> Element? where Element: Comparable {
        try max(by: <)
    }

    /// The last `maxLength` elements, or all of them where there are not so many.
    ///
    /// - precondition: `maxLength` is not negative.
    @inlinable
    public func suffix(_ maxLength: Int) throws -> [Element] {
        precondition(maxLength >= 0, "can't take \(maxLength) elements of a cursor: give a number that is not negative")
        var kept: [Element] = []
        guard maxLength > 0 else { return kept }
        // A ring: the oldest element makes room for the newest.
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

    /// All elements but the last.
    @inlinable
    public func dropLast() throws -> [Element] {
        try dropLast(1)
    }

    /// All elements but the last `n`.
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

// In extensions of their own: among functions with conditions of their own, `joined()` of strings is a cursor of
// characters.

extension Cursor where Element: StringProtocol {
    /// The strings one after the other, with `separator` between them.
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
