/// The pages of b-trees to which no known page refers. A page above them is damaged, or they are unused.
struct LostTrees {
    private let plan: SalvagePlan
    private let pages: DamagedPages
    private let hasLostTables: Bool
    private let hasLostIndexes: Bool

    init(_ plan: SalvagePlan) {
        self.plan = plan
        pages = plan.pages
        hasLostTables = LostTrees.candidates(of: plan, isTable: true).contains(where: \.hasDeepHole)
        hasLostIndexes = LostTrees.candidates(of: plan, isTable: false).contains(where: \.hasDeepHole)
    }

    func run(_ reader: SalvageReader) throws {
        let trees = plan.tables + plan.indexes
        // If every page of the trees is there, the others are unused.
        guard !plan.isSchemaComplete || trees.contains(where: \.hasDeepHole) else { return }
        for number in 1...max(1, pages.count) {
            guard let page = page(number), !page.kind.isLeaf else { continue }
            for child in children(of: page) where child != number && !plan.isKnown(child) {
                pages.set(.hasParent, child)
            }
        }
        for number in 1...max(1, pages.count) where !pages.has(.hasParent, number) {
            guard let page = page(number) else { continue }
            try read(page, reader)
        }
        // Pages that refer to each other in a circle.
        for number in 1...max(1, pages.count) {
            guard let page = page(number), !pages.has(.emitted, number) else { continue }
            try save(page, in: nil, root: number, reader)
        }
    }

    /// Returns the newest version of a page that may be of a lost tree.
    private func page(_ number: Int) -> BTreePage? {
        guard let kind = pages.state(number).kind, !plan.isKnown(number), number != pages.lockBytePage,
            canBeLost(kind), let version = pages.known(number).first, version.isNewest,
            let page = pages.bTreePage(number, version), page.kind == kind, page.isPlausible
        else { return nil }
        return page
    }

    /// Returns true if a page of the kind can be missing from a tree.
    private func canBeLost(_ kind: BTreeKind) -> Bool {
        !plan.isSchemaComplete || (kind.isTable ? hasLostTables : hasLostIndexes)
    }

    private static func candidates(of plan: SalvagePlan, isTable: Bool) -> [PlannedTree] {
        isTable
            ? plan.tables.filter { $0.layout?.hasRowID ?? true }
            : plan.indexes + plan.tables.filter { $0.layout?.hasRowID != true }
    }

    private func children(of page: BTreePage) -> [Int] {
        (0..<page.cellCount).compactMap { page.cell($0)?.child } + [page.rightChild].compactMap { $0 }
    }

    // MARK: - One tree

    private func read(_ root: BTreePage, _ reader: SalvageReader) throws {
        guard plan.isSchemaComplete else { return try save(root, in: nil, root: root.number, reader) }
        let owners = try self.owners(of: root, reader)
        // Entries of an index are built again.
        if !owners.isEmpty, owners.allSatisfy({ $0.schemaEntry.kind == .index }) { return mark(root) }
        let owner = plan.knowsFreePages && owners.count == 1 ? owners[0] : nil
        try save(root, in: owner, root: root.number, reader)
    }

    /// Returns the trees that the page and those below it can belong to, by the shape of all rows.
    private func owners(of root: BTreePage, _ reader: SalvageReader) throws -> [PlannedTree] {
        var owners = LostTrees.candidates(of: plan, isTable: root.kind.isTable).filter(\.hasDeepHole),
            range: ClosedRange<Int64>?
        try walk(root, 0, .counted) { page, version in
            guard !owners.isEmpty else { return }
            reader.readRows(of: page, version) { row, rowID, _ in
                owners = owners.filter { $0.layout.map { $0.fits(row, pages.encoding) } ?? true }
                if page.kind.isTable {
                    range = min(range?.lowerBound ?? rowID, rowID)...max(range?.upperBound ?? rowID, rowID)
                }
            }
            try reader.advance()
        }
        return owners.filter { $0.layout?.hasRowID == true ? $0.hasRoom(for: range) : true }
    }

    private func save(_ root: BTreePage, in owner: PlannedTree?, root number: Int, _ reader: SalvageReader) throws {
        try walk(root, 0, .emitted) { page, version in
            try reader.save(page, version, in: owner, root: number)
        }
    }

    private func mark(_ root: BTreePage) {
        try? walk(root, 0, .emitted) { _, _ in }
    }

    /// Calls `body` with the page and those below it, each once.
    private func walk(
        _ page: BTreePage, _ depth: Int, _ mark: DamagedPages.Mark, _ body: (BTreePage, PageVersion) throws -> Void
    ) throws {
        guard depth < 40, let version = pages.known(page.number).first, !pages.has(mark, page.number) else { return }
        pages.set(mark, page.number)
        try body(page, version)
        guard !page.kind.isLeaf else { return }
        for child in children(of: page) where child != page.number {
            guard let below = self.page(child), below.kind.isTable == page.kind.isTable else { continue }
            try walk(below, depth + 1, mark, body)
        }
    }
}
