/// Removes restore points that are no longer wanted, and nothing that a kept one needs. Each removal also removes what
/// an earlier one left that was cut short.
struct Pruning {
    let archive: Archive

    /// Removes what is older than the newest full point up to `time`. Returns the number of points that were removed.
    func removePoints(before time: Int64, isDryRun: Bool) throws -> Int {
        try keep(of: histories(), isDryRun) { history in
            let oldest = history.points.last { $0.isFull && $0.time <= time }
            return history.points.filter { $0.position >= oldest?.position ?? 0 }
        }
    }

    /// Removes what no point needs that the retention keeps.
    func removePoints(notKeptBy retention: ReplicaRetention, now: Int64, isDryRun: Bool) throws -> Int {
        let histories = try histories()
        // A point without those before it counts for nothing: those that can be restored stay as if it were absent.
        let kept = retention.kept(histories.flatMap(\.points), now: now)
            .union(retention.kept(histories.flatMap { Self.restorable($0.points) }, now: now))
        return try keep(of: histories, isDryRun) { Self.needed(kept, in: $0.points) }
    }

    /// Removes all points with a former key: those before the first full point of the newest key generation, which the
    /// others need. Throws, and removes nothing, if there is no such point.
    func removeFormerGenerations(isDryRun: Bool) throws -> Int {
        let histories = try histories()
        let newest = histories[histories.count - 1]
        let generation = newest.points.last?.generation
        guard let first = newest.points.first(where: { $0.isFull && $0.generation == generation }) else {
            throw ReplicaError(
                .noPoint, archive.destination.name,
                """
                its newest history has no full restore point with the newest key yet; nothing was removed. Let the \
                replicator make one: strongroom replicate --full.
                """)
        }
        let hasOneKey = newest.points[0].generation == generation
        return try keep(of: histories, isDryRun) { history in
            guard history.lineage == newest.lineage else { return [] }
            return history.points.filter { hasOneKey || $0.position >= first.position }
        }
    }

    // MARK: Choice

    /// Returns the histories. A destination without any is another place than the one that was meant.
    private func histories() throws -> [Archive.History] {
        let histories = try archive.histories()
        if histories.isEmpty { throw archive.absence }
        return histories
    }

    /// Returns kept points, and those before them since a full one.
    private static func needed(_ kept: Set<PointName>, in points: [PointName]) -> [PointName] {
        var needed: Set<UInt64> = [], isNeeded = false
        for point in points.reversed() {
            isNeeded = isNeeded || kept.contains(point)
            if isNeeded { needed.insert(point.position) }
            if point.isFull { isNeeded = false }
        }
        return points.filter { needed.contains($0.position) }
    }

    /// Returns the points before which none is missing since a full one, by their names.
    private static func restorable(_ points: [PointName]) -> [PointName] {
        var next: UInt64?
        return points.filter { point in
            let isRestorable = point.isFull || point.position == next
            next = isRestorable ? point.position &+ 1 : nil
            return isRestorable
        }
    }

    // MARK: Removal

    /// Removes all points but those that `choose` returns. Returns the number of points that were removed.
    private func keep(
        of histories: [Archive.History], _ isDryRun: Bool, _ choose: (Archive.History) -> [PointName]
    ) throws -> Int {
        var removed = 0
        for (index, history) in histories.enumerated() {
            let kept = Set(choose(history)), unwanted = history.points.filter { !kept.contains($0) }
            removed += unwanted.count
            guard !isDryRun else { continue }
            // Before parts, and newest first: a point whose parts or predecessors are gone is never listed.
            try archive.destination.delete(unwanted.reversed().map(\.name))
            let isOver = try kept.isEmpty && index < histories.count - 1 && !isWritten(history)
            try removeRemains(of: history, isOver: isOver)
        }
        return removed
    }

    /// True if a replicator says that it is at work on the history: its next point may be on its way.
    private func isWritten(_ history: Archive.History) throws -> Bool {
        let claim = try archive.destination.get(ObjectNames.claim).flatMap { try? Claim($0) }
        return claim?.lineage == history.lineage.id && claim?.hasEnded == false
    }

    /// Removes the parts and seals that have no point, and the beginning of a history that is over. After the newest
    /// point, there are parts of the one that is on its way.
    private func removeRemains(of history: Archive.History, isOver: Bool) throws {
        let id = history.lineage.id, end = isOver ? UInt64.max : history.points.last?.position ?? 0
        let prefix = "\(id)/\(ObjectNames.folderOfParts)"
        let parts = try archive.destination.list(prefix, after: nil).compactMap { part in
            UInt64(part.name.dropFirst(prefix.count).prefix { $0 != "." }).map { (position: $0, name: part.name) }
        }
        let seals = try archive.sealedPositions(id).map { (position: $0, name: ObjectNames.seal(id, $0)) }
        let old = (parts + seals).filter { $0.position <= end }
        // Listed again: points that arrived while they were listed may be missing among those before the last one.
        let present = Set(try archive.points(id, after: 0).map(\.position))
        try archive.destination.delete(old.filter { !present.contains($0.position) }.map(\.name))
        guard isOver, present.isEmpty else { return }
        try archive.destination.delete([ObjectNames.head(id), ObjectNames.lineage(id)])
    }
}
