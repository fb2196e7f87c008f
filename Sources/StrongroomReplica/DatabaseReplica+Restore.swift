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
    /// The public key that proves the history.
    public let signer: ReplicaSigner
    /// The restore points, by position.
    public let points: [ReplicaPoint]
    /// The time of the newest point or heartbeat, in milliseconds since 1970. A time more than five seconds in the
    /// future, as after a clock was set back, is left out if there is another one.
    public let lastSeen: Int64
}

/// The outcome of a check of a destination.
public struct ReplicaVerification: Sendable {
    /// The number of restore points that were proved, page by page.
    public let provedCount: Int
    /// Each problem, in the order of the check.
    public let problems: [ReplicaError]
    /// The positions that are no longer in the destination: pruning leaves such gaps, and so does a person who removes
    /// points.
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
    /// Restores a database with its sidecars, and returns the restore point. The database gets its name when each page
    /// is proved. No key is needed: the result opens with the key that the database had at that point.
    ///
    /// Blocks until it is done.
    ///
    /// - parameter target: the choice of the restore point. Default: the newest one.
    /// - parameter atLeast: the lowest position that the point may have, to detect that the end of the history was
    ///   removed. `nil`, the default, allows any.
    /// - throws: ``ReplicaError``: `.exists` if there is a database at `path`, `.noReplica`, `.noPoint`, `.behind` if
    ///   the point is before `atLeast`, `.forked`, `.damaged`, `.untrusted`. After an error, nothing was written.
    @discardableResult
    public static func restore(
        from destination: String, to path: String, target: RestoreTarget = .newest,
        atLeast: ReplicaPosition? = nil, reading: ReplicaReading = ReplicaReading()
    ) throws -> ReplicaPoint {
        let restoration = Restoration(archive: try reading.archive(destination), path: path)
        let (point, missing) = try restoration.run(target.target, atLeast: atLeast?.number)
        return ReplicaPoint(point, missingAfter: missing)
    }

    /// Restores a database, and applies each restore point that arrives, until `isOver` returns true. A process that is
    /// killed leaves the database at a restore point. The next call goes on from there.
    ///
    /// Programs may read the database, but must not write it. A restore point is applied in one transaction, while no
    /// program has the database open. Blocks until `isOver` returns true. Keeps a folder beside the database,
    /// `-replica`.
    ///
    /// - parameter interval: the time between two looks at the destination, in milliseconds. Default: 1000. If a
    ///   program has the database open when a point has arrived, the next attempt follows after at most 50
    ///   milliseconds.
    /// - parameter isOver: returns true when the call is to return. Called about every 20 milliseconds of a pause.
    /// - parameter failed: called with each failure that may pass. Default: does nothing.
    /// - parameter report: called with each point that was restored or applied.
    /// - throws: ``ReplicaError``: `.exists` if another database is at `path`, `.busy` if another process follows with
    ///   this database, `.unreadable` if another program has changed it, `.behind` if its history was removed and those
    ///   that are left are older.
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

    /// Returns the histories in a destination, by the time of their beginning.
    ///
    /// The restore points are read from the names of objects only. A person who can write to the destination can forge
    /// names. ``verify(_:temporaryFolder:reading:)`` proves the points.
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
    /// - parameter temporaryFolder: a folder with room for 32 bytes for each page of the database. Default: `/tmp`.
    /// - throws: ``ReplicaError`` if the destination can't be read. Damage is in the outcome.
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

    /// Removes the restore points that are only needed for times before `milliseconds` since 1970. Returns the number
    /// of points that were removed, or would be.
    ///
    /// - parameter isDryRun: true to remove nothing. Default: false.
    @discardableResult
    public static func prune(
        _ destination: String, before milliseconds: Int64, isDryRun: Bool = false,
        reading: ReplicaReading = ReplicaReading()
    ) throws -> Int {
        try Pruning(archive: reading.archive(destination)).removePoints(before: milliseconds, isDryRun: isDryRun)
    }

    /// Removes the restore points that a retention does not keep, and that no kept point needs. Returns the number of
    /// points that were removed, or would be. A restore point that needs a missing one counts for nothing.
    ///
    /// - parameter isDryRun: true to remove nothing. Default: false.
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
    /// - parameter isDryRun: true to remove nothing. Default: false.
    /// - throws: ``ReplicaError``: `.noPoint` while the newest history has no full restore point with the newest key.
    ///   Nothing was removed then.
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
