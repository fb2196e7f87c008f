/// A queue whose elements can leave from any place, without leaving a gap.
struct Line<Element> {
    private var elements: [Int: Element] = [:]
    private var head = 0
    private var end = 0

    var count: Int { elements.count }
    var isEmpty: Bool { elements.isEmpty }
    var capacity: Int { elements.capacity }
    var first: Element? { elements[head] }

    /// Adds an element, and returns its ticket.
    mutating func append(_ element: Element) -> Int {
        if isEmpty { head = end }
        elements[end] = element
        end += 1
        return end - 1
    }

    /// Adds an element before all others.
    mutating func prepend(_ element: Element) {
        if isEmpty {
            _ = append(element)
        } else {
            head -= 1
            elements[head] = element
        }
    }

    /// The tickets of all elements, in their order.
    var tickets: [Int] { elements.keys.sorted() }

    /// The tickets of the elements that fulfil a condition, in their order.
    func tickets(where condition: (Element) -> Bool) -> [Int] {
        tickets.filter { elements[$0].map(condition) == true }
    }

    /// Removes the first element that fulfils a condition.
    mutating func takeFirst(where condition: (Element) -> Bool) -> Element? {
        tickets(where: condition).first.flatMap { remove($0) }
    }

    mutating func takeFirst() -> Element? { remove(head) }

    mutating func remove(_ ticket: Int) -> Element? {
        guard let element = elements.removeValue(forKey: ticket) else { return nil }
        while head < end, elements.index(forKey: head) == nil { head += 1 }
        if elements.capacity > max(32, 4 * count) {
            elements = Dictionary(uniqueKeysWithValues: elements.map { ($0.key, $0.value) })
        }
        return element
    }
}
