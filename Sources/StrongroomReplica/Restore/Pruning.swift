/// Removes restore points that are no longer wanted, and nothing that a kept one needs.
struct Pruning {
    let archive: Archive

    /// Removes what is older than the newest full point up to `time`. Returns the number of points that were removed.
    func removePoints(before time: Int64, isDryRun: Bool) throws -> Int {
        var removed = 0
        for history in try archive.histories() {
            guard let oldest = history.points.last(where: { $0.isFull && $0.time <= time }) else { continue }
            removed += try remove(history, before: oldest.position, isDryRun)
        }
        return removed
    }

    /// Removes all points with a former key: those before the first full point of the newest key generation, which the
    /// others need.
    func removeFormerGenerations(isDryRun: Bool) throws -> Int {
        var removed = 0
        for (index, history) in try archive.histories().enumerated() {
            let isLast = try index == archive.histories().count - 1
            guard let newest = history.points.last?.generation else { continue }
            if !isLast {
                removed += try remove(history, before: .max, isDryRun)
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
            removed += try remove(history, before: first.position, isDryRun)
        }
        return removed
    }

    /// Removes points before parts, oldest first: a point without its parts is never listed.
    private func remove(_ history: Archive.History, before position: UInt64, _ isDryRun: Bool) throws -> Int {
        let points = history.points.filter { $0.position < position }
        guard !points.isEmpty, !isDryRun else { return points.count }
        try archive.destination.delete(points.map(\.name))
        let id = history.lineage.id, prefix = "\(id)/\(ObjectNames.folderOfParts)"
        let parts = try archive.destination.list(prefix, after: nil).map(\.name).filter { name in
            UInt64(name.dropFirst(prefix.count).prefix { $0 != "." }).map { $0 < position } ?? false
        }
        try archive.destination.delete(parts)
        if position == .max {
            try archive.destination.delete([ObjectNames.head(id), ObjectNames.lineage(id)])
        }
        return points.count
    }
}
