import Dispatch

/// A reading of all pages of a file in their order, which are authenticated and classified on all processors.
struct PageScan {
    private let format: PageFormat?
    private let pageSize: Int

    init(_ format: PageFormat?, pageSize: Int) {
        (self.format, self.pageSize) = (format, pageSize)
    }

    /// - parameters:
    ///   - isNeeded: returns false for pages to leave out.
    ///   - read: reads at an offset. Called on one thread at a time.
    ///   - found: called with each page that was read.
    func run(
        numbers: ClosedRange<Int>, isNeeded: (Int) -> Bool,
        read: (Int64, UnsafeMutableRawBufferPointer) -> Bool, found: (Int, DamagedPages.State) -> Void,
        progress: (Int) throws -> Void
    ) throws {
        let share = Share(format, pageSize: pageSize), next = Share(format, pageSize: pageSize)
        var current = share, following = next, at = numbers.lowerBound
        func fill(_ share: Share) {
            let end = min(numbers.upperBound + 1, at + share.capacity)
            share.fill((at..<max(at, end)).filter(isNeeded)) { read(Int64($0 - 1) * Int64(pageSize), $1) }
            at = max(at, end)
        }
        fill(current)
        while !current.isEmpty || at <= numbers.upperBound {
            for (number, state) in current.states(while: { fill(following) }) { found(number, state) }
            try progress(min(at - 1, numbers.upperBound))
            swap(&current, &following)
        }
    }

    /// Pages that are authenticated together.
    ///
    /// Unchecked Sendable: each thread writes the results of its own pages.
    private final class Share: @unchecked Sendable {
        let capacity: Int
        private let format: PageFormat?
        private let pageSize: Int
        private let bytes: UnsafeMutableRawBufferPointer
        private var numbers: [Int] = []
        private var isRead: [Bool] = []

        init(_ format: PageFormat?, pageSize: Int) {
            (self.format, self.pageSize) = (format, pageSize)
            capacity = max(16, (1 << 20) / pageSize)
            bytes = .allocate(byteCount: capacity * pageSize, alignment: 8)
        }

        deinit { bytes.deallocate() }

        var isEmpty: Bool { numbers.isEmpty }

        private subscript(place: Int) -> UnsafeMutableRawBufferPointer {
            .init(rebasing: bytes[place * pageSize..<(place + 1) * pageSize])
        }

        func fill(_ numbers: [Int], read: (Int, UnsafeMutableRawBufferPointer) -> Bool) {
            self.numbers = numbers
            isRead = numbers.enumerated().map { read($1, self[$0]) }
        }

        /// Returns the states of the pages. Calls `body` at the same time, on any thread.
        func states(while body: () -> Void) -> [(Int, DamagedPages.State)] {
            let part = 16, parts = (numbers.count + part - 1) / part
            let states = UnsafeMutableBufferPointer<DamagedPages.State>.allocate(capacity: numbers.count)
            states.initialize(repeating: .ruined)
            defer { states.deallocate() }
            withoutActuallyEscaping(body) { body in
                // Called once; each thread writes other elements.
                nonisolated(unsafe) let body = body
                nonisolated(unsafe) let states = states
                DispatchQueue.concurrentPerform(iterations: 1 + parts) { [self] index in
                    if index == 0 { return body() }
                    classify((index - 1) * part..<min(numbers.count, index * part), states)
                }
            }
            return zip(numbers, states).map { ($0, $1) }
        }

        private func classify(_ places: Range<Int>, _ states: UnsafeMutableBufferPointer<DamagedPages.State>) {
            let scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: pageSize, alignment: 8)
            defer { scratch.deallocate() }
            let pages = UnsafeRawBufferPointer(
                rebasing: bytes[places.lowerBound * pageSize..<places.upperBound * pageSize])
            let authentic = format?.areAuthentic(pages, numbers: numbers[places])
            for place in places where isRead[place] {
                let page = UnsafeRawBufferPointer(self[place])
                guard authentic?[place - places.lowerBound] ?? true || page.isZero else { continue }
                states[place] = page.isZero ? .blank : state(page, numbers[place], scratch)
            }
        }

        private func state(
            _ page: UnsafeRawBufferPointer, _ number: Int, _ scratch: UnsafeMutableRawBufferPointer
        ) -> DamagedPages.State {
            guard let format else { return DamagedPages.State(page, number: number) }
            guard format.decrypt(page, number: number, length: number == 1 ? 128 : 16, into: scratch) else {
                return .ruined
            }
            return DamagedPages.State(UnsafeRawBufferPointer(scratch), number: number)
        }
    }
}
