/// A page that a tree refers to, with what the pages above it say about its rows.
struct TreePlace {
    var number: Int
    /// The greatest rowid that stands before the page. Nil if there is no bound, or in an index.
    var lower: Int64?
    /// The greatest rowid that the page can contain. Nil if there is no bound, or in an index.
    var upper: Int64?
    /// The times at which all pages above were what they are.
    var times = PageTimes.always
    /// True if a page beside this one is a leaf.
    var isLeaf = false
    var depth = 0

    func contains(_ rowID: Int64) -> Bool {
        if let lower, rowID <= lower { return false }
        if let upper, rowID > upper { return false }
        return true
    }
}

/// A leaf that a walk has come to.
struct TreeLeaf {
    var place: TreePlace
    var version: PageVersion
    /// False if the page above may refer to another version of this one.
    var isProven = true
}

/// A walk through the pages of a b-tree, from its root to its leaves, in the order of keys.
///
/// An interior page counts only in its newest version: an older one may refer to pages that have become those of
/// another tree.
struct TreeWalk {
    let pages: DamagedPages
    let isTable: Bool
    /// The mark of the pages that a walk of this kind has come to: no page belongs to two trees.
    let mark: DamagedPages.Mark
    let leaf: (TreeLeaf) throws -> Void
    /// Called with each cell of an interior page of an index: it is an entry itself.
    var innerCell: (BTreePage, Int, PageVersion) throws -> Void = { _, _, _ in }
    /// Called with each page that can't be read, or not as a whole: with true if a part of it can, or if an older
    /// version of a leaf takes its place.
    var hole: (TreePlace, Bool) throws -> Void = { _, _ in }

    private static let deepest = 40

    func run(_ place: TreePlace) throws {
        let versions = pages.known(place.number)
        guard let newest = versions.first, !pages.has(mark, place.number), place.depth < TreeWalk.deepest else {
            return try hole(place, false)
        }
        if let kind = kind(place.number, newest), kind.isTable == isTable, newest.isNewest {
            if kind.isLeaf {
                if !isWhole(place, newest) { try hole(place, true) }
                return try come(to: place, newest, newest.times.intersection(place.times) != nil)
            }
            guard let times = newest.times.intersection(place.times),
                let page = pages.bTreePage(place.number, newest), page.kind == kind
            else { return try hole(place, false) }
            pages.set(mark, place.number)
            if !isWhole(place, newest) { try hole(place, true) }
            return try descend(page, newest, place, times)
        }
        // The newest version is damaged. An older leaf counts if the page above was the same then.
        let older = versions.filter { kind(place.number, $0) == (isTable ? .tableLeaf : .indexLeaf) && !$0.isNewest }
        if let version = older.first(where: { $0.times.intersection(place.times) != nil }) ?? older.first {
            try hole(place, true)
            return try come(to: place, version, version.times.intersection(place.times) != nil)
        }
        try hole(place, false)
    }

    /// Returns true if the page has all of its cells. An authentic page is what SQLite wrote.
    private func isWhole(_ place: TreePlace, _ version: PageVersion) -> Bool {
        guard !pages.isAuthenticated else { return true }
        guard let page = pages.bTreePage(place.number, version), page.isWhole else { return false }
        // No leaf below another page is empty.
        return place.depth == 0 || page.cellCount > 0 || !page.kind.isLeaf
    }

    private func kind(_ number: Int, _ version: PageVersion) -> BTreeKind? {
        if version.isNewest { return pages.state(number).kind }
        return pages.bTreePage(number, version)?.kind
    }

    private func come(to place: TreePlace, _ version: PageVersion, _ isProven: Bool) throws {
        pages.set(mark, place.number)
        try leaf(TreeLeaf(place: place, version: version, isProven: isProven))
    }

    private func descend(_ page: BTreePage, _ version: PageVersion, _ place: TreePlace, _ times: PageTimes) throws {
        let cells = (0..<page.cellCount).map { page.cell($0) }
        let children = cells.map { $0?.child } + [page.rightChild]
        let isLeaf = children.contains { $0.flatMap { pages.state($0).kind }?.isLeaf == true }
        var lower = place.lower
        for (index, child) in children.enumerated() {
            let key = isTable ? index < cells.count ? cells[index]?.rowID : place.upper : nil
            let below = TreePlace(
                number: child ?? 0, lower: lower, upper: key, times: times, isLeaf: isLeaf, depth: place.depth + 1)
            try run(below)
            if !isTable, index < cells.count { try innerCell(page, index, version) }
            if let key { lower = key }
        }
    }
}
