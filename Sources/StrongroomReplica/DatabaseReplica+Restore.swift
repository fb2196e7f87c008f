/// The choice of a restore point.
public enum RestoreTarget: Hashable, Sendable {
    /// The newest point.
    case newest
    /// The newest point up to a time, in milliseconds since 1970.
    case time(Int64)
    /// The point with a position.
    case position(ReplicaPosition)

    var target: Archive.Target {
        switch self {
        case .newest: .newest
        case .time(let time): .time(time)
        case .position(let position): .position(position.number)
        }
    }
}

/// One history of a database in a destination.
public struct ReplicaHistory: Sendable {
    /// The public key that proves it.
    public let signer: ReplicaSigner
    /// The restore points, by position.
    public let points: [ReplicaPoint]
    /// The time of the newest point or heartbeat, in milliseconds since 1970.
    public let lastSeen: Int64
}

/// The outcome of a check of a destination.
public struct ReplicaVerification: Sendable {
    /// The number of restore points that were proved, page by page.
    public let provedCount: Int
    /// Each problem, in the order of the check.
    public let problems: [ReplicaError]
    /// The positions that are no longer there: pruning leaves such gaps, and so does a person who removes points.
    public let missing: [ClosedRange<UInt64>]
}

/// Options for reading a destination.
public struct ReplicaReading: Sendable {
    /// The key that must have signed the points. `nil`, the default, accepts any key: then a person who can write to
    /// the destination can replace the whole replica.
    public var signer: ReplicaSigner?
    /// The options of S3 destinations.
    public var s3 = S3Options()

    /// Creates options.
    public init(signer: ReplicaSigner? = nil, s3: S3Options = S3Options()) {
        self.signer = signer
        self.s3 = s3
    }

    func archive(_ destination: String) throws -> Archive {
        Archive(destination: try Destinations.open(destination, s3), signer: signer)
    }
}

extension DatabaseReplica {
    /// Restores a database with its sidecars. It appears at `path` when each page of it is proved. The key is not
    /// needed: the result opens with the key that the database had at that point.
    ///
    /// Blocks until it is done.
    ///
    /// - parameter atLeast: the position that the point must have at least, to notice that the end of the history was
    ///   removed.
    /// - throws: ``ReplicaError``. Nothing was written then.
    @discardableResult
    public static func restore(
        from destination: String, to path: String, target: RestoreTarget = .newest,
        atLeast: ReplicaPosition? = nil, reading: ReplicaReading = ReplicaReading()
    ) throws -> ReplicaPoint {
        let restoration = Restoration(archive: try reading.archive(destination), path: path)
        let (point, missing) = try restoration.run(target.target, atLeast: atLeast?.number)
        return ReplicaPoint(point, missingAfter: missing)
    }

    /// Restores a database, and changes it with each restore point that arrives, until `isOver` returns true. What a
    /// killed process leaves is a restore point; the next call goes on from it.
    ///
    /// Programs may read the database. A restore point is applied while none has it open, in one transaction. The
    /// database must not be written. Blocks until it is over. Keeps a folder beside the database, `-replica`.
    ///
    /// - parameter interval: milliseconds between two looks at the destination.
    /// - parameter failed: called with each failure that may pass.
    /// - throws: ``ReplicaError``: `.exists` if there is another database, `.busy` if another process follows with it,
    ///   `.unreadable` if another program has changed it.
    public static func follow(
        from destination: String, to path: String, interval: Int = 1000, reading: ReplicaReading = ReplicaReading(),
        until isOver: () -> Bool, failed: (ReplicaError) -> Void = { _ in }, report: (ReplicaPoint) -> Void
    ) throws {
        let following = try Following(archive: try reading.archive(destination), path: path)
        if let point = try following.begin() { report(ReplicaPoint(point)) }
        while !isOver() {
            do {
                let isClosed = try following.advance { report(ReplicaPoint($0)) }
                pause(isClosed ? interval : min(interval, 50), isOver)
            } catch let error as ReplicaError where error.isTransient {
                failed(error)
                pause(interval, isOver)
            }
        }
    }

    private static func pause(_ milliseconds: Int, _ isOver: () -> Bool) {
        for _ in 0..<max(1, milliseconds / 20) where !isOver() { usleep(20_000) }
    }

    /// Returns the histories in a destination, by the time of their beginning. Only names are read, which a person who
    /// can write to the destination can forge: see ``verify(_:temporaryFolder:reading:)``.
    public static func histories(
        in destination: String, reading: ReplicaReading = ReplicaReading()
    ) throws -> [ReplicaHistory] {
        try reading.archive(destination).histories().map { history in
            ReplicaHistory(
                signer: history.lineage.signer,
                points: history.points.map { ReplicaPoint($0, size: history.sizes[$0.name] ?? 0) },
                lastSeen: history.newest(now: currentMilliseconds()))
        }
    }

    /// Checks all objects in a destination, without the key: each restore point, the chain that leads to it, and all
    /// its pages. Blocks until it is done.
    ///
    /// - parameter temporaryFolder: a folder for 32 bytes for each page of the database.
    public static func verify(
        _ destination: String, temporaryFolder: String = "/tmp", reading: ReplicaReading = ReplicaReading()
    ) throws -> ReplicaVerification {
        let verification = Verification(archive: try reading.archive(destination), folder: temporaryFolder)
        var problems: [ReplicaError] = []
        var missing: [ClosedRange<UInt64>] = []
        let proved = try verification.run {
            problems.append($0)
        } missing: {
            missing.append($0)
        }
        return ReplicaVerification(provedCount: proved, problems: problems, missing: missing)
    }

    /// Removes restore points that only serve times before `milliseconds` since 1970. Points that a kept one needs
    /// stay. Returns the number of points that were removed, or would be.
    @discardableResult
    public static func prune(
        _ destination: String, before milliseconds: Int64, isDryRun: Bool = false,
        reading: ReplicaReading = ReplicaReading()
    ) throws -> Int {
        try Pruning(archive: reading.archive(destination)).removePoints(before: milliseconds, isDryRun: isDryRun)
    }

    /// Removes the restore points that a retention does not keep, and that no kept one needs. Returns the number of
    /// points that were removed, or would be.
    @discardableResult
    public static func prune(
        _ destination: String, keeping retention: ReplicaRetention, isDryRun: Bool = false,
        reading: ReplicaReading = ReplicaReading()
    ) throws -> Int {
        try Pruning(archive: reading.archive(destination))
            .removePoints(notKeptBy: retention, now: currentMilliseconds(), isDryRun: isDryRun)
    }

    /// Removes all restore points from before the newest key generation, for example after the key has leaked. Returns
    /// the number of points that were removed, or would be.
    ///
    /// - throws: ``ReplicaError``: `.noPoint` while there is no full restore point with the newest key.
    @discardableResult
    public static func forgetFormerGenerations(
        _ destination: String, isDryRun: Bool = false, reading: ReplicaReading = ReplicaReading()
    ) throws -> Int {
        try Pruning(archive: reading.archive(destination)).removeFormerGenerations(isDryRun: isDryRun)
    }
}

extension ReplicaPoint {
    init(_ point: Point, missingAfter: Int = 0) {
        position = ReplicaPosition(point.position)
        milliseconds = point.time
        size = point.parts.reduce(0) { $0 + Int($1.size) }
        keyGeneration = Int(point.generation)
        self.missingAfter = missingAfter
    }
}
