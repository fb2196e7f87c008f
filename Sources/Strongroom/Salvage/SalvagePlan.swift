/// A table of a damaged database, or an index, with what is known of its tree.
final class PlannedTree {
    let schemaEntry: SchemaEntry
    let layout: TableLayout?
    /// The pages that the tree refers to, and that can't be read. The first ones, if there are very many.
    private(set) var holes: [TreePlace] = []
    /// The number of holes.
    private(set) var holeCount = 0
    /// True if the root is known to belong to the entry now.
    var isProven: Bool
    /// The number of holes below which there may be further pages.
    private(set) var deepHoleCount = 0

    init(_ entry: SchemaEntry, _ layout: TableLayout?) {
        (schemaEntry, self.layout) = (entry, layout)
        isProven = entry.isProven
    }

    func add(_ hole: TreePlace) {
        holeCount += 1
        if !hole.isLeaf { deepHoleCount += 1 }
        if holes.count < 10_000 { holes.append(hole) }
    }

    /// True if leaves may be missing that no page refers to any more.
    var hasDeepHole: Bool { deepHoleCount > 0 }

    /// True if rows of these rowids may be missing from the tree.
    func hasRoom(for rowIDs: ClosedRange<Int64>?) -> Bool {
        guard let rowIDs else { return hasDeepHole }
        return holes.contains { !$0.isLeaf && $0.contains(rowIDs.lowerBound) && $0.contains(rowIDs.upperBound) }
            || holeCount > holes.count
    }
}

/// The content of a damaged database, as far as authentic pages show it: its schema, and the trees of its tables.
final class SalvagePlan {
    let pages: DamagedPages
    private(set) var entries: [SchemaEntry] = []
    private(set) var tables: [PlannedTree] = []
    private(set) var indexes: [PlannedTree] = []
    private(set) var schemaHoles: [TreePlace] = []
    /// True if all unused pages are known.
    private(set) var knowsFreePages = false

    private let check: () throws -> Void

    var isSchemaComplete: Bool { schemaHoles.isEmpty }

    /// - parameter check: called often. An error that it throws stops the work.
    init(_ pages: DamagedPages, _ check: @escaping () throws -> Void) throws {
        (self.pages, self.check) = (pages, check)
        pages.set(.visited, pages.lockBytePage)
        try SchemaModel.with { model in
            try readSchema()
            try plan(model, entries)
            readFreePages()
            guard !isSchemaComplete else { return }
            let found = try lostSchema()
            entries = SalvagePlan.withoutContradictions(entries + found)
            try plan(model, entries.filter { found.contains($0) })
        }
    }

    // MARK: - The schema

    private func readSchema() throws {
        var rows: [SchemaEntry] = []
        try TreeWalk(
            pages: pages, isTable: true, mark: .visited,
            leaf: { leaf in
                rows += self.schemaRows(leaf.place.number, leaf.version, leaf.isProven && leaf.version.isNewest)
            },
            hole: { place, _ in self.schemaHoles.append(place) }
        ).run(TreePlace(number: 1))
        entries = SalvagePlan.withoutContradictions(rows)
        // The rows of entries that contradict each other are in no table that is planned.
        if entries.count < rows.count { schemaHoles.append(TreePlace(number: 0)) }
    }

    /// Returns the rows of a leaf of the schema. Rows that can't be read make holes.
    private func schemaRows(_ number: Int, _ version: PageVersion, _ isProven: Bool) -> [SchemaEntry] {
        guard let page = pages.bTreePage(number, version) else {
            schemaHoles.append(TreePlace(number: number))
            return []
        }
        if number == 1 || page.cellCount > 0 { recognizeEncoding(page, version) }
        return (0..<page.cellCount).compactMap { index in
            if let cell = page.cell(index), case .row(let record) = RowReader(pages: pages).row(cell, page, version),
                var entry = SchemaEntry(record, rowID: cell.rowID, pages.encoding)
            {
                entry.isProven = isProven
                return entry
            }
            schemaHoles.append(TreePlace(number: number))
            return nil
        }
    }

    /// Without a header, the first word of a row of the schema shows the encoding.
    private func recognizeEncoding(_ page: BTreePage, _ version: PageVersion) {
        guard pages.header == nil, let cell = page.cell(0),
            case .row(let record) = RowReader(pages: pages).row(cell, page, version)
        else { return }
        for encoding in [TextEncoding.utf8Text, .utf16LittleText, .utf16BigText]
        where SchemaEntry(record, rowID: 0, encoding) != nil {
            return pages.use(encoding)
        }
    }

    /// Returns the rows of leaves that only look like those of the schema: the pages above them are damaged.
    private func lostSchema() throws -> [SchemaEntry] {
        var found: [SchemaEntry] = [], ranges: [ClosedRange<Int64>] = [], leaves: [Int] = []
        for number in 1...max(1, pages.count) where pages.state(number) == .tableLeaf && !isKnown(number) {
            if number % 256 == 0 { try check() }
            guard let version = pages.known(number).first, version.isNewest,
                let page = pages.bTreePage(number, version), page.isPlausible, page.cellCount > 0
            else { continue }
            recognizeEncoding(page, version)
            let rows = (0..<page.cellCount).compactMap { index -> SchemaEntry? in
                guard let cell = page.cell(index),
                    case .row(let record) = RowReader(pages: pages).row(cell, page, version)
                else { return nil }
                return SchemaEntry(record, rowID: cell.rowID, pages.encoding)
            }
            guard rows.count == page.cellCount, rows.allSatisfy(isPossible), let first = rows.first?.rowID,
                let last = rows.last?.rowID, first <= last
            else { continue }
            // No row of the schema is in two leaves: one of them is no longer used, and nothing tells which.
            guard !ranges.contains(where: { $0.overlaps(first...last) }) else { return [] }
            ranges.append(first...last)
            found += rows.map { row in
                var row = row
                row.isProven = false
                return row
            }
            leaves.append(number)
        }
        for number in leaves { pages.set(.visited, number) }
        return found
    }

    /// Returns true if the root of the entry can be that of such an object.
    private func isPossible(_ entry: SchemaEntry) -> Bool {
        guard entry.root > 0 else { return true }
        let kind = pages.state(entry.root).kind
        return kind == nil || entry.kind == .table || kind?.isTable == false
    }

    /// Returns the entries without those that contradict others: of the same name, or with the same root.
    static func withoutContradictions(_ entries: [SchemaEntry]) -> [SchemaEntry] {
        // By bytes, as SQLite compares names: strings that look alike are equal in Swift.
        func unique(_ entries: [SchemaEntry], _ key: (SchemaEntry) -> [UInt8]?) -> [SchemaEntry] {
            let groups = Dictionary(grouping: entries) { key($0) ?? [] }
            return entries.filter { entry in
                guard let key = key(entry), let group = groups[key], group.count > 1 else { return true }
                return entry.isProven && group.filter(\.isProven).count == 1
            }
        }
        let named = unique(entries) { Array("\($0.kind.rawValue) \($0.name.foldedSQLName)".utf8) }
        return unique(named) { $0.root > 0 ? Array("\($0.root)".utf8) : nil }.sorted { $0.rowID < $1.rowID }
    }

    // MARK: - The trees

    private func plan(_ model: SchemaModel, _ entries: [SchemaEntry]) throws {
        for entry in entries where entry.kind == .table && entry.root > 0 {
            let tree = PlannedTree(entry, model.layout(of: entry))
            tables.append(tree)
            try visit(tree, isTable: tree.layout?.hasRowID ?? (pages.state(entry.root).kind?.isTable ?? true))
        }
        for entry in entries where entry.kind == .index && entry.root > 0 {
            let name = entry.table.foldedSQLName
            let table = tables.first { $0.schemaEntry.name.foldedSQLName.hasBytes(of: name) }?.layout
            let tree = PlannedTree(entry, table.flatMap { model.layout(ofIndex: entry, $0) })
            indexes.append(tree)
            try visit(tree, isTable: false)
        }
    }

    private func visit(_ tree: PlannedTree, isTable: Bool) throws {
        try check()
        try TreeWalk(
            pages: pages, isTable: isTable, mark: .visited, leaf: { _ in },
            hole: { place, _ in tree.add(place) }
        ).run(TreePlace(number: tree.schemaEntry.root))
    }

    // MARK: - Unused pages

    /// Marks the unused pages. <https://www.sqlite.org/fileformat2.html#the_freelist>
    private func readFreePages() {
        guard let header = pages.header, pages.known(1).first?.isNewest == true else { return }
        var trunk = header.firstTrunk, total = 0
        while trunk > 0 {
            guard let version = pages.known(trunk).first, version.isNewest, !pages.has(.spare, trunk),
                !pages.has(.visited, trunk), let page = pages.bytes(trunk, version),
                let next = page.number32(at: 0), let count = page.number32(at: 4), count <= pages.usable / 4 - 2
            else { return }
            pages.set(.spare, trunk)
            total += 1 + count
            for index in 0..<count {
                let number = page.number32(at: 8 + 4 * index)!
                if !pages.has(.visited, number) { pages.set(.spare, number) }
            }
            trunk = next
        }
        knowsFreePages = total == header.freeCount
    }

    /// True for pages whose purpose is known.
    func isKnown(_ number: Int) -> Bool {
        pages.has(.visited, number) || pages.has(.spare, number) || pages.isPointerMap(number)
    }
}
