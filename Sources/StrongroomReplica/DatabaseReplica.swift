/// The position of a restore point in the history of a replica, from 1.
public struct ReplicaPosition: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number of restore points up to this one.
    public let number: UInt64

    /// Creates a position.
    public init(_ number: UInt64) { self.number = number }

    /// The number in decimal digits.
    public var description: String { String(number) }

    /// Returns a Boolean value that indicates whether a position is earlier than another one.
    public static func < (lhs: ReplicaPosition, rhs: ReplicaPosition) -> Bool { lhs.number < rhs.number }
}

/// A restore point: one committed state of the database.
public struct ReplicaPoint: Hashable, Sendable {
    /// The position in the history.
    public let position: ReplicaPosition
    /// Milliseconds since 1970, by the clock of the replicator. The state contains all commits up to this time.
    public let milliseconds: Int64
    /// The size of the point's object in bytes.
    public let size: Int
    /// The number of times that every page was written anew, by a rotation or by `VACUUM`.
    public let keyGeneration: Int
    /// The number of points between this one and the next one that are no longer in the destination. 0 if none is
    /// missing, and for a point that was not restored.
    public var missingAfter = 0

    init(_ shipped: Shipper.Shipped) {
        position = ReplicaPosition(shipped.position)
        milliseconds = shipped.time
        size = shipped.size
        keyGeneration = Int(shipped.generation)
    }

    init(_ name: PointName, size: Int) {
        position = ReplicaPosition(name.position)
        milliseconds = name.time
        self.size = size
        keyGeneration = Int(name.generation)
    }
}

/// An event in the life of a replica.
public enum ReplicaEvent: Sendable {
    /// The replica has found the destination. `continues` is false if a new history begins, with all pages.
    case started(signer: ReplicaSigner, continues: Bool)
    /// A restore point is durable.
    case durable(ReplicaPoint)
    /// An attempt failed. It will be repeated, unless the replica stops.
    case failing(ReplicaError)
    /// An attempt succeeded after failures.
    case recovered
    /// The replica has ended. `nil` if it did not fail. This is the last event.
    case stopped(ReplicaError?)
}

/// A database that is replicated to a folder or to object storage, continuously, without its key.
///
/// The replica reads what is committed: encrypted pages, from the write-ahead log and from the file. It takes SQLite's
/// locks of a reader. It writes nothing to the database; SQLite moves frames from the log to the file on its behalf.
///
/// ```swift
/// let replica = try DatabaseReplica(path: "/srv/notes.db", to: "/mnt/backup/notes")
/// replica.start()
/// let position = try await replica.sync()
/// ```
public final class DatabaseReplica: Sendable {
    /// Options of a replica.
    public struct Options: Sendable {
        /// The folder of the local state of the replicator. `nil`, the default, is a folder beside the database,
        /// `-replica`, with a subfolder for each destination. It must be on a disk that survives a restart.
        public var stateFolder: String?
        /// The least time between two restore points, in milliseconds. Default: 1000.
        public var interval = 1000
        /// The write-ahead log is moved to the database file when it has this size, in bytes. Default: 4 MiB.
        public var logThreshold = 4 << 20
        /// The page size in bytes of a database whose header is encrypted, until its log contains it. Default: 4096.
        public var pageSize = 4096
        /// The number of failed attempts in sequence after which the replica stops. `nil`, the default, sets no limit.
        /// An error of the destination that can't pass, such as refused credentials, stops it after three in any case.
        public var attempts: Int?
        /// True to begin with a full restore point, which does not need the points before it. Default: false.
        public var beginsWithFullPoint = false
        /// The options of S3 destinations.
        public var s3 = S3Options()

        /// Creates the default options.
        public init() {}
    }

    private let engine: Engine
    private let stream: AsyncStream<ReplicaEvent>
    /// The public key that proves the restore points of this replica.
    public let signer: ReplicaSigner

    /// Creates a replica of the database at `path`. Replication begins with ``start()``.
    ///
    /// - parameter path: the path of the database.
    /// - parameter destination: the path of a folder, or `s3://BUCKET/PREFIX`.
    /// - parameter options: the options. Default: those of ``Options/init()``.
    /// - throws: ``ReplicaError``: `.busy` if another replicator uses the same local state, `.invalidDestination`.
    public convenience init(path: String, to destination: String, options: Options = Options()) throws {
        let place = try Destinations.open(destination, options.s3)
        try self.init(path: path, to: place, options: options)
    }

    init(
        path: String, to place: any Destination, options: Options, engineSettings: Engine.Settings? = nil,
        shipperSettings: Shipper.Settings = Shipper.Settings()
    ) throws {
        let folder = options.stateFolder ?? "\(path)-replica/\(Digest(of: Array(place.identity.utf8)).short)"
        let state = try LocalState(folder: folder)
        var settings = Capture.Settings()
        settings.logThreshold = Int64(options.logThreshold)
        settings.pageSize = UInt32(clamping: options.pageSize)
        let capture = try Capture(path: path, folder: state.spoolFolder, settings: settings)
        var engineSettings = engineSettings ?? Engine.Settings()
        engineSettings.interval = Int64(options.interval)
        engineSettings.attempts = options.attempts
        engineSettings.beginsWithFullPoint = options.beginsWithFullPoint
        let (stream, continuation) = AsyncStream.makeStream(
            of: ReplicaEvent.self, bufferingPolicy: .bufferingNewest(1000))
        self.stream = stream
        signer = state.key.signer
        let shipper = try Shipper(place, state, shipperSettings)
        engine = Engine(capture, state, shipper, engineSettings) { event in
            continuation.yield(event)
            if case .stopped = event { continuation.finish() }
        }
    }

    /// The events of the replica, for one reader. The newest thousand are kept until they are read. The stream ends
    /// with ``ReplicaEvent/stopped(_:)``.
    public var events: AsyncStream<ReplicaEvent> { stream }

    /// Begins the replication, on two threads of its own. Call it once.
    public func start() { engine.start() }

    /// Waits until everything that is committed now is durable in the destination. Returns the newest position there;
    /// `nil` if the database does not exist.
    ///
    /// - throws: ``ReplicaError`` if the replica stops first.
    @discardableResult
    public func sync() async throws -> ReplicaPosition? {
        try await withCheckedContinuation { continuation in
            engine.sync { continuation.resume(returning: $0) }
        }.get()
    }

    /// Stores all commits, and ends the replication. Returns the newest position in the destination; `nil` if there is
    /// none.
    ///
    /// - throws: ``ReplicaError`` if a commit could not be stored.
    @discardableResult
    public func stop() async throws -> ReplicaPosition? {
        try await withCheckedContinuation { continuation in
            engine.stop { continuation.resume(returning: $0) }
        }.get()
    }
}
