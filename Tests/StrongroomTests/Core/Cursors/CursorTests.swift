import Strongroom
import Testing

@Suite("A cursor")
struct CursorTests {
    private struct Failure: Error {}

    /// 1, 2, 3 … `count`.
    private func numbers(_ count: Int) -> AnyCursor<Int> { AnyCursor(1..<(count + 1)) }

    /// 1, 2, then an error.
    private func failing() -> AnyCursor<Int> {
        numbers(3).map { number -> Int in if number < 3 { return number } else { throw Failure() } }.erased()
    }

    @Test("is made of a sequence, an iterator, a function, or another cursor")
    func sources() throws {
        #expect(try Array(AnyCursor([1, 2])) == [1, 2])
        #expect(try Array(AnyCursor(iterator: [1, 2].makeIterator())) == [1, 2])
        var count = 0
        #expect(
            try Array(
                AnyCursor {
                    count += 1
                    return count < 3 ? count : nil
                }) == [1, 2])
        #expect(try Array(AnyCursor(numbers(2).map { $0 * 2 })) == [2, 4])
    }

    @Test("calls a function with each element, until one throws")
    func forEach() throws {
        var seen: [Int] = []
        try numbers(3).forEach { seen.append($0) }
        #expect(seen == [1, 2, 3])
        let cursor = numbers(3)
        #expect(throws: Failure.self) { try cursor.forEach { if $0 == 2 { throw Failure() } } }
        #expect(try cursor.next() == 3)
        #expect(throws: Failure.self) { try failing().forEach { _ in } }
    }

    @Test("maps, filters and numbers its elements when they are requested")
    func transforming() throws {
        #expect(try Array(numbers(3).map { $0 * 2 }) == [2, 4, 6])
        #expect(try Array(numbers(5).filter { $0 % 2 == 1 }) == [1, 3, 5])
        #expect(try Array(numbers(4).compactMap { $0 > 2 ? "\($0)" : nil }) == ["3", "4"])
        let pairs = try Array(AnyCursor(["a", "b"]).enumerated())
        #expect(pairs.map(\.0) == [0, 1])
        #expect(pairs.map(\.1) == ["a", "b"])
        var asked = 0
        let lazy = numbers(3).map { number in
            asked += 1
            return number
        }
        #expect(asked == 0)
        _ = try lazy.next()
        #expect(asked == 1)
    }

    @Test("hands the elements of a made cursor to a function as well")
    func transformingForEach() throws {
        var seen: [Int] = []
        try numbers(3).map { $0 * 2 }.forEach { seen.append($0) }
        try numbers(4).filter { $0 > 3 }.forEach { seen.append($0) }
        try numbers(2).enumerated().forEach { seen.append($0 * 10 + $1) }
        #expect(seen == [2, 4, 6, 4, 1, 12])
    }

    @Test("that iterates in its own way does so for collections, and for cursors made of it")
    func ownForEach() throws {
        final class Squares: Cursor {
            func next() -> Int? { nil }
            func forEach(_ body: (Int) throws -> Void) throws {
                for number in 1...3 { try body(number * number) }
            }
        }
        #expect(try Array(Squares()) == [1, 4, 9])
        #expect(try Set(Squares()) == [1, 4, 9])
        #expect(try Dictionary(grouping: Squares(), by: { $0 % 2 }) == [1: [1, 9], 0: [4]])
        #expect(try Array(Squares().map { $0 + 1 }) == [2, 5, 10])
        #expect(try Array(Squares().filter { $0 > 1 }) == [4, 9])
        #expect(try Array(Squares().enumerated()).map { [$0, $1] } == [[0, 1], [1, 4], [2, 9]])
    }

    @Test("flattens sequences and cursors, empty ones included")
    func flattening() throws {
        #expect(try Array(numbers(3).flatMap { Array(repeating: $0, count: $0 - 1) }) == [2, 3, 3])
        #expect(try Array(numbers(2).flatMap { self.numbers($0) }) == [1, 1, 2])
        #expect(try Array(AnyCursor([[1], [], [2, 3]]).joined()) == [1, 2, 3])
        #expect(try Array(AnyCursor([numbers(1), numbers(0), numbers(2)]).joined()) == [1, 1, 2])
        #expect(try Array([1, 3].flatMap { self.numbers($0) }) == [1, 1, 2, 3])
        #expect(throws: Failure.self) { try Array(numbers(2).flatMap { _ in self.failing() }) }
    }

    @Test("drops its first elements")
    func dropping() throws {
        #expect(try Array(numbers(3).dropFirst()) == [2, 3])
        #expect(try Array(numbers(3).dropFirst(0)) == [1, 2, 3])
        #expect(try Array(numbers(3).dropFirst(2)) == [3])
        #expect(try Array(numbers(3).dropFirst(9)) == [])
        #expect(try Array(AnyCursor([1, 5, 1]).drop { $0 < 3 }) == [5, 1])
        #expect(try Array(numbers(3).drop { _ in true }) == [])
    }

    @Test("takes its first elements, and requests no more")
    func prefixes() throws {
        let cursor = numbers(4)
        #expect(try Array(cursor.prefix(2)) == [1, 2])
        #expect(try cursor.next() == 3)
        #expect(try Array(numbers(2).prefix(9)) == [1, 2])
        #expect(try Array(numbers(2).prefix(0)) == [])
        let prefix = AnyCursor([1, 5, 1]).prefix { $0 < 3 }
        #expect(try Array(prefix) == [1])
        #expect(try prefix.next() == nil)
    }

    @Test("gives its last elements, or all but those")
    func lastElements() throws {
        #expect(try numbers(5).suffix(2) == [4, 5])
        #expect(try numbers(5).suffix(3) == [3, 4, 5])
        #expect(try numbers(2).suffix(9) == [1, 2])
        let unread = numbers(2)
        #expect(try unread.suffix(0) == [])
        #expect(try unread.next() == 1)
        #expect(try numbers(3).dropLast() == [1, 2])
        #expect(try numbers(3).dropLast(2) == [1])
        #expect(try numbers(3).dropLast(0) == [1, 2, 3])
        #expect(try numbers(3).dropLast(9) == [])
    }

    @Test("answers questions on its elements")
    func questions() throws {
        #expect(try numbers(0).isEmpty)
        #expect(try !numbers(1).isEmpty)
        #expect(try numbers(3).contains(2))
        #expect(try !numbers(3).contains(9))
        #expect(try numbers(3).contains { $0 > 2 })
        #expect(try !numbers(3).contains { $0 > 3 })
        #expect(try numbers(5).first { $0 > 2 } == 3)
        #expect(try numbers(5).first { $0 > 9 } == nil)
    }

    @Test("stands behind the element that answered")
    func standing() throws {
        let cursor = numbers(5)
        #expect(try cursor.contains(2))
        #expect(try cursor.next() == 3)
    }

    @Test("finds the least and the greatest element")
    func extremes() throws {
        let numbers = [3, 1, 2]
        #expect(try AnyCursor(numbers).min() == 1)
        #expect(try AnyCursor(numbers).max() == 3)
        #expect(try AnyCursor(numbers).min(by: >) == 3)
        #expect(try AnyCursor(numbers).max(by: >) == 1)
        #expect(try self.numbers(0).min() == nil)
        #expect(try self.numbers(0).max() == nil)
        #expect(try AnyCursor(["b", "A", "a", "B"]).min { $0.lowercased() < $1.lowercased() } == "A")
    }

    @Test("reduces its elements to one value")
    func reducing() throws {
        #expect(try numbers(4).reduce(0, +) == 10)
        #expect(try numbers(3).reduce(into: []) { $0.append($1 * 2) } == [2, 4, 6])
        #expect(throws: Failure.self) { try failing().reduce(0, +) }
    }

    @Test("joins strings")
    func joiningStrings() throws {
        #expect(try AnyCursor(["a", "b", "c"]).joined(separator: ", ") == "a, b, c")
        #expect(try AnyCursor(["a", "b"]).joined() == "ab")
        let text = try AnyCursor(["a", "b"]).joined()
        #expect(text == "ab")
        #expect(try AnyCursor([Substring("a")]).joined(separator: ",") == "a")
        #expect(try AnyCursor([] as [String]).joined(separator: ",") == "")
    }

    @Test("fills arrays and other collections")
    func collections() throws {
        #expect(try ContiguousArray(numbers(3)) == [1, 2, 3])
        let roomy = try Array(numbers(3), minimumCapacity: 100)
        #expect(roomy == [1, 2, 3])
        #expect(roomy.capacity >= 100)
        var array = [0]
        try array.append(contentsOf: numbers(2))
        #expect(array == [0, 1, 2])
        #expect(throws: Failure.self) { try array.append(contentsOf: failing()) }
        #expect(array == [0, 1, 2, 1, 2])
    }

    @Test("fills a large array with few copies, and leaves a small one as it is")
    func largeArrays() throws {
        let large = try Array(numbers(100_000))
        #expect(large.elementsEqual(1...100_000))
        // Twofold from 256 kB on, it would be less than 200,000.
        #expect(large.capacity >= 262_144)
        #expect(try Array(numbers(20_000)).capacity < 60_000)
    }

    @Test("fills sets, and combines with them")
    func sets() throws {
        #expect(try Set(AnyCursor([1, 2, 1])) == [1, 2])
        #expect(try Set(numbers(2), minimumCapacity: 50).capacity >= 50)
        var set: Set = [2, 9]
        #expect(try set.union(numbers(2)) == [1, 2, 9])
        #expect(try set.intersection(numbers(5)) == [2])
        try set.formUnion(numbers(3))
        #expect(set == [1, 2, 3, 9])
        try set.formIntersection(numbers(2))
        #expect(set == [1, 2])
    }

    @Test("fills dictionaries of groups and of pairs")
    func dictionaries() throws {
        #expect(try Dictionary(grouping: numbers(4)) { $0 % 2 } == [0: [2, 4], 1: [1, 3]])
        #expect(try Dictionary(minimumCapacity: 40, grouping: numbers(4)) { $0 % 2 }.capacity >= 40)
        let pairs = AnyCursor([("a", 1), ("b", 2)])
        #expect(try Dictionary(uniqueKeysWithValues: pairs) == ["a": 1, "b": 2])
        #expect(try Dictionary(minimumCapacity: 40, uniqueKeysWithValues: AnyCursor([("a", 1)])).capacity >= 40)
    }

    @Test("stops the program where the keys of a dictionary are not unique")
    func duplicateKeys() async {
        await #expect(processExitsWith: .failure) {
            _ = try Dictionary(uniqueKeysWithValues: AnyCursor([("a", 1), ("a", 2)]))
        }
    }

    @Test("stops the program when a negative number of elements is requested")
    func negativeCounts() async {
        await #expect(processExitsWith: .failure) { _ = AnyCursor([1]).prefix(-1) }
        await #expect(processExitsWith: .failure) { _ = AnyCursor([1]).dropFirst(-1) }
        await #expect(processExitsWith: .failure) { _ = try AnyCursor([1]).suffix(-1) }
    }
}

extension Cursor {
    fileprivate func erased() -> AnyCursor<Element> { AnyCursor(self) }
}
