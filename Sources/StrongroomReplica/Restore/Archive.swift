/// The histories in a destination, and their points, as names. Descriptions prove them when they are read.
struct Archive {
    let destination: any Destination
    let signer: ReplicaSigner?

    /// The points of one lineage.
    struct History {
        var lineage: Lineage
        /// By position.
        var points: [PointName]
        var sizes: [String: Int]
        var head: Head?

        /// The time of the newest point or heartbeat. After a clock was set back, the times of points are in the
        /// future, and say nothing.
        func newest(now: Int64) -> Int64 {
            let times = [points.last?.time ?? lineage.begun, head?.time].compactMap { $0 }
            return times.filter { $0 <= now + Self.tolerance }.max() ?? times.min()!
        }

        /// The difference between the clocks of two machines, in milliseconds, that is usual.
        private static let tolerance: Int64 = 5000
    }

    /// Returns the histories by the time of their beginning. Those of other signers are left out if one is given.
    func histories() throws -> [History] {
        try destination.folders("").compactMap { Lineage.ID($0) }.compactMap { try history($0) }
            .sorted { $0.lineage.begun < $1.lineage.begun }
    }

    /// Returns nil if there is none, or if it is by another signer.
    func lineage(_ id: Lineage.ID) throws -> Lineage? {
        let name = ObjectNames.lineage(id)
        guard let bytes = try destination.get(name) else { return nil }
        guard let lineage = try? Lineage(bytes), lineage.id == id else {
            throw ReplicaError.damaged(name, "it is not the beginning of a history")
        }
        return signer == nil || signer == lineage.signer ? lineage : nil
    }

    /// Returns the points of a lineage after a position, in order.
    func points(_ id: Lineage.ID, after position: UInt64) throws -> [PointName] {
        let folders = [ObjectNames.folderOfPoints, ObjectNames.folderOfFullPoints].map { "\(id)/\($0)" }
        return try folders.flatMap { prefix in
            try destination.list(prefix, after: prefix + ObjectNames.digits(position)).compactMap { PointName($0.name) }
        }
        .filter { $0.lineage == id && $0.position > position }
        .sorted { ($0.position, $0.digest) < ($1.position, $1.digest) }
    }

    func history(_ id: Lineage.ID) throws -> History? {
        guard let lineage = try lineage(id) else { return nil }
        var points: [PointName] = [], sizes: [String: Int] = [:]
        for folder in [ObjectNames.folderOfPoints, ObjectNames.folderOfFullPoints] {
            for object in try destination.list("\(id)/\(folder)", after: nil) {
                // Others may keep files beside the objects.
                guard let point = PointName(object.name), point.lineage == id else { continue }
                points.append(point)
                sizes[point.name] = object.size
            }
        }
        points.sort { ($0.position, $0.digest) < ($1.position, $1.digest) }
        let head = try destination.get(ObjectNames.head(id)).flatMap { try? Head($0, signer: lineage.signer) }
        return History(lineage: lineage, points: points, sizes: sizes, head: head?.lineage == id ? head : nil)
    }

    /// Returns the positions that have a seal, in order.
    func sealedPositions(_ id: Lineage.ID) throws -> [UInt64] {
        let prefix = "\(id)/\(ObjectNames.folderOfSeals)"
        return try destination.list(prefix, after: nil).compactMap { UInt64($0.name.dropFirst(prefix.count)) }.sorted()
    }

    // MARK: Choice

    enum Target: Hashable, Sendable {
        case newest
        case time(Int64)
        case position(UInt64)
    }

    /// The error of a destination without histories.
    var absence: ReplicaError {
        let known = signer == nil ? "" : " by this signer"
        return ReplicaError(
            .noReplica, destination.name, "it has no replica\(known); nothing was written. Check its name.")
    }

    /// Returns the history with the target. Those that claim the same time are not chosen from.
    func history(for target: Target) throws -> History {
        let histories = try histories().filter { !$0.points.isEmpty }
        guard !histories.isEmpty else {
            throw absence
        }
        for (one, next) in zip(histories, histories.dropFirst()) where one.points.last!.time >= next.points[0].time {
            throw ReplicaError(
                .forked, destination.name,
                """
                two histories claim the same time, \(one.lineage.id) and \(next.lineage.id); nothing was written. \
                Choose one by its signer: \(one.lineage.signer) or \(next.lineage.signer).
                """)
        }
        switch target {
        case .newest: return histories.last!
        case .time(let time):
            guard let found = histories.last(where: { $0.points[0].time <= time }) else { throw noPoint("so early") }
            return found
        case .position(let position):
            let found = histories.filter { $0.points.contains { $0.position == position } }
            guard found.count <= 1 else {
                throw ReplicaError(
                    .forked, destination.name,
                    "\(found.count) histories have position \(position); nothing was written. Choose by time.")
            }
            guard let found = found.first else { throw noPoint("with the position \(position)") }
            return found
        }
    }

    private func noPoint(_ quality: String) -> ReplicaError {
        ReplicaError(
            .noPoint, destination.name, "it has no restore point \(quality); nothing was written. List the points.")
    }
}

extension Archive.History {
    /// Returns the points to apply for the target: a full one, and those that follow it.
    func chain(to target: Archive.Target, atLeast: UInt64?) throws -> [PointName] {
        let last: PointName?
        switch target {
        case .newest:
            if let isBehind { throw isBehind }
            last = points.last
        case .time(let time): last = points.last { $0.time <= time }
        case .position(let position): last = points.last { $0.position == position }
        }
        guard let last else {
            throw ReplicaError(.noPoint, nil, "there is no such restore point; nothing was written. List them.")
        }
        if let atLeast, last.position < atLeast {
            throw ReplicaError(
                .behind, last.name,
                """
                the newest restore point has position \(last.position), and \(atLeast) was asked for; nothing was \
                written. The end of the history is missing.
                """)
        }
        guard let full = points.last(where: { $0.isFull && $0.position <= last.position }) else {
            throw ReplicaError.damaged(last.name, "the full point before it is missing")
        }
        let chain = points.filter { $0.position >= full.position && $0.position <= last.position }
        for (one, next) in zip(chain, chain.dropFirst()) {
            if next.position == one.position { throw Self.fork(one, next) }
            guard next.position == one.position + 1 else {
                throw ReplicaError.damaged(last.name, "position \(one.position + 1), on which it depends, is missing")
            }
        }
        return chain
    }

    /// The heartbeat names a point that is not there.
    var isBehind: ReplicaError? {
        guard let head, head.position > points.last?.position ?? 0 else { return nil }
        return ReplicaError(
            .behind, ObjectNames.head(lineage.id),
            """
            position \(head.position) was stored, and is missing; nothing was written. The end of the history was \
            removed: choose one of the restore points that are left.
            """)
    }

    /// The number of positions that are missing after a point, before the next one.
    func missing(after point: PointName) -> Int {
        points.first { $0.position > point.position }.map { Int($0.position - point.position - 1) } ?? 0
    }

    static func fork(_ one: PointName, _ other: PointName) -> ReplicaError {
        ReplicaError(
            .forked, one.name,
            """
            \(other.name) has the same position: two replicators wrote with one signing key. Nothing was written. \
            Choose an earlier restore point.
            """)
    }
}
