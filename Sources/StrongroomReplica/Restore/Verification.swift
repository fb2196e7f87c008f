/// A check of everything in a destination, without the key: names, digests, signatures, chains, and the root of each
/// restore point.
struct Verification {
    let archive: Archive
    /// A folder for the leaves.
    let folder: String

    /// Calls `found` with each problem, and `missing` with the positions between two points that are no longer there,
    /// as pruning leaves it. Returns the number of points that were proved.
    func run(_ found: (ReplicaError) -> Void, missing: (ClosedRange<UInt64>) -> Void = { _ in }) throws -> Int {
        var proved = 0
        for history in try archive.histories() {
            for (one, next) in zip(history.points, history.points.dropFirst()) where one.position == next.position {
                found(Archive.History.fork(one, next))
            }
            for (one, next) in zip(history.points, history.points.dropFirst())
            where next.isFull && next.position > one.position + 1 {
                missing(one.position + 1...next.position - 1)
            }
            proved += try verify(history, found)
            if let problem = history.isBehind { found(problem) }
        }
        return proved
    }

    private func verify(_ history: Archive.History, _ found: (ReplicaError) -> Void) throws -> Int {
        let objects = Lookahead(archive.destination)
        defer { objects.end() }
        objects.expect(history.points.map(\.name))
        var reader = ChainReader(objects, history.lineage), tree: PageTree?, proved = 0
        var isBroken = false
        let path = folder + "/leaves-\(history.lineage.id)"
        defer { unlink(path) }
        for name in history.points {
            if name.isFull {
                // Begins anew, after a gap that was reported.
                let isNext = reader.tip.map { $0.position + 1 == name.position } ?? true
                if isBroken || tree == nil || !isNext { reader = ChainReader(objects, history.lineage) }
                isBroken = false
            } else if isBroken || tree == nil {
                if !isBroken { found(ReplicaError.damaged(name.name, "the full point before it is missing")) }
                isBroken = true
                continue
            }
            do {
                let used = try tree ?? PageTree(path: path, pageSize: 4096, pageCount: 0)
                try prove(name, &reader, used)
                tree = used
                proved += 1
            } catch let error as ReplicaError where error.reason != .destinationUnavailable {
                found(error)
                isBroken = true
            }
        }
        return proved
    }

    private func prove(_ name: PointName, _ reader: inout ChainReader, _ tree: PageTree) throws {
        var changes: [PageTree.Change] = []
        let hasher = Hasher()
        let point = try reader.read(name) { _, part in
            part.withPages { page, bytes in
                changes.append(PageTree.Change(page: page, leaf: PageTree.leaf(page, bytes, hasher)))
            }
        }
        let isWhole = point.kind == .full
        let update = try tree.update(changes, pageSize: point.pageSize, pageCount: point.pageCount, isWhole: isWhole)
        guard update.root == point.rootAfter else {
            throw ReplicaError.damaged(name.name, "its pages are not those of the state that it describes")
        }
        try tree.apply(update, isWhole: isWhole)
    }
}
