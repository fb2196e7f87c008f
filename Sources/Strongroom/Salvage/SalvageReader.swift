/// A receiver of the rows that a salvage finds.
protocol SalvageSink: AnyObject {
    /// Saves a row in its table. Returns false if it can't be one of the table, because of a constraint.
    func save(_ row: StoredRecord, rowID: Int64, in table: PlannedTree) throws -> Bool
    /// Saves a row whose table is unknown.
    func setAside(_ row: StoredRecord, rowID: Int64?, root: Int, page: Int, cell: Int) throws
    /// Called when all rows of a table have been found.
    func finish(_ table: PlannedTree) throws
}

/// The reading of all rows of a damaged database, table by table, and then of those whose table is unknown.
final class SalvageReader {
    let plan: SalvagePlan
    private(set) var report = SalvageReport()
    private let sink: any SalvageSink
    private let rows: RowReader
    private let check: (_ readPageCount: Int) throws -> Void
    private var readPageCount = 0
    private var damaged: [Int: SalvageReport.Content] = [:]

    private var pages: DamagedPages { plan.pages }

    init(_ plan: SalvagePlan, _ sink: any SalvageSink, _ check: @escaping (_ readPageCount: Int) throws -> Void) {
        (self.plan, self.sink, self.check) = (plan, sink, check)
        rows = RowReader(pages: plan.pages)
    }

    func run() throws {
        report.isSchemaComplete = plan.isSchemaComplete
        report.isAuthenticated = pages.isAuthenticated
        report.hasForeignLog = pages.hasForeignLog
        report.pageCount = pages.expectedCount
        // Saving rows changes SQLite's own table of sequences.
        for tree in plan.tables where !tree.schemaEntry.isInternal { try read(tree) }
        for tree in plan.tables where tree.schemaEntry.isInternal { try read(tree) }
        try LostTrees(plan).run(self)
        describeDamage()
    }

    // MARK: - Tables

    private func read(_ tree: PlannedTree) throws {
        var table = SalvageReport.Table(name: tree.schemaEntry.name)
        let isTable = tree.layout?.hasRowID ?? (pages.state(tree.schemaEntry.root).kind?.isTable ?? true)
        try TreeWalk(
            pages: pages, isTable: isTable, mark: .emitted,
            leaf: { leaf in
                guard let page = self.pages.bTreePage(leaf.place.number, leaf.version) else {
                    return self.note(leaf.place, tree, &table, hasOlder: true)
                }
                for index in 0..<page.cellCount { try self.read(page, index, leaf, tree, &table) }
                try self.advance()
            },
            innerCell: { page, index, version in
                let leaf = TreeLeaf(place: TreePlace(number: page.number), version: version)
                try self.read(page, index, leaf, tree, &table)
            },
            hole: { place, hasOlder in
                self.note(place, tree, &table, hasOlder: hasOlder)
            }
        ).run(TreePlace(number: tree.schemaEntry.root))
        report.tables.append(table)
        try sink.finish(tree)
    }

    func advance() throws {
        readPageCount += 1
        if readPageCount % 64 == 0 { try check(readPageCount) }
    }

    private func note(
        _ place: TreePlace, _ tree: PlannedTree, _ table: inout SalvageReport.Table, hasOlder: Bool
    ) {
        let range = SalvageReport.RowRange(after: place.lower, through: place.upper)
        // No leaf below another page is empty.
        if place.isLeaf, place.depth > 0, !hasOlder, pages.isAuthenticated { table.missing += 1 }
        // Several rows of a page may be lost.
        if table.unknownRanges.count < 1000, table.unknownRanges.last != range { table.unknownRanges.append(range) }
        note(place.number, .table(name: tree.schemaEntry.name, rows: range))
    }

    private func note(_ number: Int, _ content: SalvageReport.Content) {
        if damaged.count < 100_000, number > 0 { damaged[number] = content }
    }

    private func read(
        _ page: BTreePage, _ index: Int, _ leaf: TreeLeaf, _ tree: PlannedTree, _ table: inout SalvageReport.Table
    ) throws {
        guard let cell = page.cell(index) else { return note(leaf.place, tree, &table, hasOlder: true) }
        switch rows.row(cell, page, leaf.version) {
        case .row(let row):
            let isOwn = leaf.isProven && (!page.kind.isTable || leaf.place.contains(cell.rowID))
            if isOwn, try save(row, cell.rowID, in: tree) {
                table.saved += 1
                if !leaf.version.isNewest { table.older += 1 }
                return
            }
            table.setAside += 1
            try setAside(row, cell.rowID, page, index, root: tree.schemaEntry.root)
        case .broken(let lost):
            noteBroken(cell, page, leaf, tree, &table)
            if let lost { note(lost, .overflow(table: tree.schemaEntry.name, rowID: cell.rowID)) }
        }
    }

    private func noteBroken(
        _ cell: BTreePage.Cell, _ page: BTreePage, _ leaf: TreeLeaf, _ tree: PlannedTree,
        _ table: inout SalvageReport.Table
    ) {
        // An older version of a leaf may have rows that were deleted since, or that another leaf has now. The newest
        // one is a hole that the walk has noted.
        guard leaf.version.isNewest else { return }
        let isOwn = leaf.isProven && (!page.kind.isTable || leaf.place.contains(cell.rowID))
        guard isOwn, pages.isAuthenticated || page.kind.isTable else {
            return note(leaf.place, tree, &table, hasOlder: true)
        }
        if pages.isAuthenticated { table.missing += 1 }
        if page.kind.isTable, table.missingRows.count < 1000 { table.missingRows.append(cell.rowID) }
    }

    private func save(_ row: StoredRecord, _ rowID: Int64, in tree: PlannedTree) throws -> Bool {
        guard let layout = tree.layout, row.values.count <= layout.stored.count,
            tree.isProven || layout.fits(row, pages.encoding)
        else { return false }
        return try sink.save(row, rowID: rowID, in: tree)
    }

    private func setAside(
        _ row: StoredRecord, _ rowID: Int64, _ page: BTreePage, _ index: Int, root: Int
    ) throws {
        report.lostRowCount += 1
        try sink.setAside(
            row, rowID: page.kind.isTable ? rowID : nil, root: root, page: page.number, cell: index)
    }

    // MARK: - Lost trees

    /// Calls `body` with each row of a page that belongs to no known tree.
    func readRows(of page: BTreePage, _ version: PageVersion, _ body: (StoredRecord, Int64, Int) throws -> Void)
        rethrows
    {
        guard page.kind != .tableInterior else { return }
        for index in 0..<page.cellCount {
            if let cell = page.cell(index), case .row(let row) = rows.row(cell, page, version) {
                try body(row, cell.rowID, index)
            }
        }
    }

    /// Saves the rows of a page in a table that its rows prove, or aside if it is nil.
    func save(_ page: BTreePage, _ version: PageVersion, in tree: PlannedTree?, root: Int) throws {
        let place = tree.flatMap { tree in report.tables.firstIndex { $0.name.hasBytes(of: tree.schemaEntry.name) } }
        try readRows(of: page, version) { row, rowID, index in
            if let tree, let place {
                if try save(row, rowID, in: tree) { return report.tables[place].saved += 1 }
                report.tables[place].setAside += 1
            }
            try setAside(row, rowID, page, index, root: root)
        }
        try advance()
    }

    // MARK: - Damage

    private func describeDamage() {
        for tree in plan.indexes {
            for hole in tree.holes { note(hole.number, .index(name: tree.schemaEntry.name)) }
        }
        for hole in plan.schemaHoles { note(hole.number, .schema) }
        for number in 1...max(1, pages.count) where number <= pages.count {
            let state = pages.state(number)
            let isLost = state == .ruined && number != pages.lockBytePage && !pages.isPointerMap(number)
            // A tree may refer to an authentic page that isn't one of its own.
            guard isLost || damaged[number] != nil else { continue }
            report.damagedPageCount += 1
            guard report.damagedPages.count < 100_000 else { continue }
            let content = damaged[number] ?? (pages.has(.spare, number) ? .unused : .unreferenced)
            report.damagedPages.append(SalvageReport.Page(number: number, content: content))
        }
        if pages.count < pages.expectedCount {
            report.absentPages = pages.count + 1...pages.expectedCount
            report.damagedPageCount += pages.expectedCount - pages.count
        }
    }
}
