/// A restore point that was restored to be opened with the key.
public struct ReplicaSample: Sendable {
    /// The restore point.
    public let point: ReplicaPoint
    /// The path of the restored database. Valid until the next restore point is restored.
    public let path: String
    /// The bytes that a seal is the HMAC of. They name this restore point, its content and all restore points before
    /// it.
    public let statement: [UInt8]
    /// The HMAC in the destination, 32 bytes. `nil` if there is none for this restore point, and empty if the seal is
    /// that of another point. Only the key of the database proves the HMAC.
    public let seal: [UInt8]?
    /// The history that the restore point belongs to.
    let lineage: Lineage.ID
}

extension DatabaseReplica {
    /// Restores points one after the other in a temporary folder, and calls `body` with each, to open it with the key.
    /// The newest restore point with a seal is one of them. Blocks until it is done.
    ///
    /// - parameter path: a path in the folder in which the temporary folder is made.
    /// - parameter count: the number of points of each key generation, at least two: the first, the last, and others
    ///   evenly spread. `nil`, the default, for all.
    /// - throws: ``ReplicaError``: `.behind` if a restore point that was sealed is missing at the end.
    public static func sample(
        _ destination: String, beside path: String, count: Int? = nil, reading: ReplicaReading = ReplicaReading(),
        _ body: (ReplicaSample) throws -> Void
    ) throws {
        let archive = try reading.archive(destination)
        for history in try archive.histories() {
            let sealed = try archive.sealedPositions(history.lineage.id)
            if let last = sealed.last, last > history.points.last?.position ?? 0 {
                throw missing(last, ObjectNames.seal(history.lineage.id, last))
            }
            let generations = Dictionary(grouping: history.points, by: \.generation).sorted { $0.key < $1.key }
            var wanted = Set(generations.flatMap { spread($0.value, count) })
            wanted.formUnion(history.points.filter { $0.position == sealed.last })
            let restoration = Restoration(archive: archive, path: path)
            try restoration.each(history, wanted.sorted { $0.position < $1.position }) { point, digest, path in
                try body(try sample(point, digest, path, archive, sealed.contains(point.position)))
            }
        }
    }

    private static func sample(
        _ point: Point, _ digest: Digest, _ path: String, _ archive: Archive, _ isSealed: Bool
    ) throws -> ReplicaSample {
        let name = ObjectNames.seal(point.lineage, point.position), statement = Seal.statement(point, digest)
        var seal: Seal?
        if isSealed {
            // Of another point, it counts as a wrong one.
            seal = try archive.destination.get(name).flatMap { Seal($0) }
            if seal?.statement != statement { seal = Seal(statement: statement, code: []) }
        }
        return ReplicaSample(
            point: ReplicaPoint(point), path: path, statement: statement, seal: seal?.code, lineage: point.lineage)
    }

    private static func missing(_ position: UInt64, _ seal: String) -> ReplicaError {
        ReplicaError(
            .behind, seal,
            """
            position \(position) was sealed, and is missing; nothing was written. The end of the history was removed: \
            choose one of the restore points that are left.
            """)
    }

    /// Stores the seal of a restore point: the HMAC of ``ReplicaSample/statement`` under a key that is derived from the
    /// key of the database. If a person with the signing key of the replicator replaces this restore point or an
    /// earlier one, the seal shows it.
    ///
    /// - parameter code: the HMAC.
    /// - precondition: `code` has 32 bytes. Otherwise it is a fatal error.
    /// - throws: ``ReplicaError`` if the destination can't be written.
    public static func seal(
        _ sample: ReplicaSample, with code: [UInt8], in destination: String, reading: ReplicaReading = ReplicaReading()
    ) throws {
        precondition(code.count == Seal.codeSize, "a seal has 32 bytes")
        let name = ObjectNames.seal(sample.lineage, sample.point.position.number)
        try reading.archive(destination).destination.put(name, Seal(statement: sample.statement, code: code).bytes)
    }

    private static func spread(_ points: [PointName], _ count: Int?) -> [PointName] {
        guard let count, points.count > max(2, count) else { return points }
        let last = points.count - 1, steps = max(2, count) - 1
        return (0...steps).map { points[$0 * last / steps] }
    }
}
