/// The pages of a spool as parts, and what they change.
struct Contents {
    let tree: PageTree
    let spool: Spool
    private(set) var parts: [Point.Part] = []
    private(set) var changes: [PageTree.Change] = []
    /// The number of pages that differ from the last point.
    private(set) var changedCount = 0
    /// The first bytes of page 1. Nil if it did not change.
    private(set) var salt: [UInt8]?
    private let hasher = Hasher()

    init(tree: PageTree, spool: Spool) {
        self.tree = tree
        self.spool = spool
    }

    /// Makes a part of pages, which follow those of the former part.
    mutating func part(_ pages: ArraySlice<UInt32>) throws -> [UInt8] {
        var found: [PageTree.Change] = []
        let bytes = try PagePart.make(pages, pageSize: spool.pageSize) { page, bytes in
            try spool.read(page, into: bytes)
            let leaf = PageTree.leaf(page, UnsafeRawBufferPointer(bytes), hasher)
            found.append(PageTree.Change(page: page, leaf: leaf))
            if page == 1 { salt = Array(bytes[..<16]) }
        }
        for change in found where try !isKnown(change) { changedCount += 1 }
        changes += found
        let digest = bytes.withUnsafeBytes { hasher.digest([$0]) }
        parts.append(Point.Part(digest: digest, size: UInt32(bytes.count), pageCount: UInt32(pages.count)))
        return bytes
    }

    private func isKnown(_ change: PageTree.Change) throws -> Bool {
        guard change.page <= tree.pageCount, tree.pageSize == UInt32(spool.pageSize) else { return false }
        return try tree.leaf(change.page) == change.leaf
    }
}
