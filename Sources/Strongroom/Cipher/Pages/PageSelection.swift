/// The pages that a check authenticates. Default: all.
package struct PageSelection: Sendable {
    /// The share of pages that are chosen, from 0 to 1, and the seed that chooses them. Nil for all pages.
    package var sample: (share: Double, seed: UInt64)?
    /// The marks of pages at an earlier check. Pages that still have them are left to the sample.
    package var former: PageMarks?
    /// True if the check returns the marks of all pages.
    package var marksPages = false

    package init() {}

    package static var all: PageSelection { PageSelection() }

    /// True if no page is left out.
    package var isWhole: Bool { sample == nil && former == nil }

    /// True if marks are to be read.
    var needsMarks: Bool { marksPages || former != nil }

    /// Returns true if the page is to be authenticated.
    ///
    /// - parameter mark: its mark, if marks are read.
    func contains(_ number: Int, mark: UInt64?) -> Bool {
        if isWhole || number == 1 { return true }
        if let former, former.mark(of: number) != mark { return true }
        guard let sample else { return false }
        return Double(Self.chance(number, sample.seed) >> 11) < sample.share * Double(1 << 53)
    }

    /// Returns a number that page and seed determine. <https://prng.di.unimi.it/splitmix64.c>
    private static func chance(_ number: Int, _ seed: UInt64) -> UInt64 {
        var z = seed &+ UInt64(number) &* 0x9e37_79b9_7f4a_7c15
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

/// Marks of the pages of a database: a part of each HMAC, which changes with each write of the page.
package struct PageMarks: Sendable, Equatable {
    package private(set) var values: [UInt64]

    package init(_ values: [UInt64] = []) { self.values = values }

    /// Returns the mark of a page. Nil if it was not authentic, or is not among the pages.
    func mark(of number: Int) -> UInt64? {
        guard values.indices.contains(number - 1), values[number - 1] != 0 else { return nil }
        return values[number - 1]
    }

    mutating func append(_ mark: UInt64) { values.append(mark) }

    /// Removes the mark of a page, so that the next check authenticates it.
    mutating func forget(_ number: Int) {
        if values.indices.contains(number - 1) { values[number - 1] = 0 }
    }
}

/// The outcome of an authentication of pages.
struct AuthenticatedPages {
    /// The numbers of the pages that are not authentic, in order.
    var bad: [Int] = []
    /// The number of pages that were authenticated.
    var count = 0
    /// The marks of all pages, if they were asked for.
    var marks = PageMarks()
}
