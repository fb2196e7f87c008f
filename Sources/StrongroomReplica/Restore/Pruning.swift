/// Removes restore points that are no longer wanted, and nothing that a kept one needs.
struct Pruning {
    let archive: Archive

    /// Removes what is older than the newest full point up to `time`. Returns the number of points that were removed.
    func removePoints(before time: Int64, isDryRun: Bool) throws -> Int {
        let histories = try archive.histories()
        return try histories.reduce(0) { removed, history in
            guard let oldest = history.points.last(where: { $0.isFull && $0.time <= time }) else { return removed }
            return try removed + remove(history, isDryRun) { $0.position < oldest.position }
        }
    }

    /// Removes what no point needs that the retention keeps.
    func removePoints(notKeptBy retention: ReplicaRetention, now: Int64, isDryRun: Bool) throws -> Int {
        let histories = try archive.histories()
        let kept = retention.kept(histories.flatMap(\.points), now: now)
        var removed = 0
        for (index, history) in histories.enumerated() {
            let needed = Self.needed(kept, in: history.points)
            removed += try remove(history, isDryRun) { !needed.contains($0.position) }
            if needed.isEmpty, index < histories.count - 1, !isDryRun { try removeBeginning(history) }
        }
        return removed
    }

    /// Returns the positions of kept points, and of those before them since a full one.
    private static func needed(_ kept: Set<PointName>, in points: [PointName]) -> Set<UInt64> {
        var needed: Set<UInt64> = [], isNeeded = false
        for point in points.reversed() {
            isNeeded = isNeeded || kept.contains(point)
            if isNeeded { needed.insert(point.position) }
            if point.isFull { isNeeded = false }
        }
        return needed
    }

    /// Removes all points with a former key: those before the first full point of the newest key generation, which the
    /// others need.
    func removeFormerGenerations(isDryRun: Bool) throws -> Int {
        var removed = 0
        let histories = try archive.histories()
        for (index, history) in histories.enumerated() {
            guard let newest = history.points.last?.generation else { continue }
            if index < histories.count - 1 {
                removed += try remove(history, isDryRun) { _ in true }
                if !isDryRun { try removeBeginning(history) }
                continue
            }
            guard history.points[0].generation < newest else { continue }
            guard let first = history.points.first(where: { $0.isFull && $0.generation == newest }) else {
                throw ReplicaError(
                    .noPoint, archive.destination.name,
                    """
                    no full restore point has the newest key yet; nothing was removed. Let the replicator make one: \
                    strongroom replicate --full.
                    """)
            }
            removed += try remove(history, isDryRun) { $0.position < first.position }
        }
        return removed
    }

    /// Removes points before parts, newest first: a point whose parts or predecessors are gone is never listed.
    private func remove(_ history: Archive.History, _ isDryRun: Bool, _ isUnwanted: (PointName) -> Bool) throws -> Int {
        let points = history.points.filter(isUnwanted)
        guard !points.isEmpty, !isDryRun else { return points.count }
        let positions = Set(points.map(\.position))
        try archive.destination.delete(points.reversed().map(\.name))
        let prefix = "\(history.lineage.id)/\(ObjectNames.folderOfParts)"
        let parts = try archive.destination.list(prefix, after: nil).map(\.name).filter { name in
            UInt64(name.dropFirst(prefix.count).prefix { $0 != "." }).map(positions.contains) ?? false
        }
        let seals = try archive.sealedPositions(history.lineage.id).filter(positions.contains)
        try archive.destination.delete(parts + seals.map { ObjectNames.seal(history.lineage.id, $0) })
        return points.count
    }

    private func removeBeginning(_ history: Archive.History) throws {
        let id = history.lineage.id
        try archive.destination.delete([ObjectNames.head(id), ObjectNames.lineage(id)])
    }
}
