import Foundation

/// What a replicator keeps on its own machine, in a folder: the key that signs, the last durable point, the leaves of
/// its pages, and the point that may be on its way. Pages are not among it, except in the temporary spool.
///
/// It is not final, so that a test can delay its release.
class LocalState {
    /// The last point that is known to be durable.
    struct Record: Codable, Equatable {
        var lineage: String
        var position: UInt64
        var time: Int64
        var point: String
        var root: String
        var pageSize: UInt32
        var pageCount: UInt32
        var generation: UInt32
        /// The salt in the first bytes of page 1.
        var salt: [UInt8]
        var sidecars: String
        /// The digest of `-salt`. Empty without one.
        var saltFile: String
        var log: LogPlace?
        /// The database file when its pages were last read as a whole.
        var stamp: FileStamp?
        /// The bytes of points since the last full one.
        var sizeSinceFull: Int64
        var countSinceFull: Int
    }

    let folder: String
    let key: SigningKey
    private var lock: FileLock?
    private(set) var record: Record?
    private(set) var tree: PageTree?

    var recordPath: String { folder + "/record" }
    private var treePath: String { folder + "/tree" }
    private var pendingPath: String { folder + "/pending" }
    var spoolFolder: String { folder }

    /// Opens the state, or begins one. One process at a time can have it.
    init(folder: String) throws {
        self.folder = folder
        try Files.makeFolder(folder)
        lock = try FileLock(
            folder + "/lock",
            busy: ReplicaError(
                .busy, folder,
                "another replicator uses this state; nothing was changed. End it, or give another state folder."))
        key = try SigningKey(path: folder + "/signer")
        for name in try Files.names(in: folder) where name.hasPrefix("spool-") { unlink(folder + "/" + name) }
        try load()
    }

    /// Lets another replicator have the state.
    func release() { lock = nil }

    /// Reads record and leaves. If they don't belong together, there is no known point: a full one follows.
    private func load() throws {
        guard let bytes = try Files.read(recordPath),
            let found = try? JSONDecoder().decode(Record.self, from: Data(bytes))
        else { return }
        record = found
        tree = try PageTree(path: treePath, pageSize: found.pageSize, pageCount: found.pageCount)
    }

    /// True if the leaves are those of the record's point.
    var isConsistent: Bool { record != nil && tree?.root.description == record?.root }

    /// Makes leaves that belong to no point.
    func makeTree(pageSize: UInt32) throws -> PageTree {
        let made = try PageTree(path: treePath, pageSize: pageSize, pageCount: 0)
        tree = made
        return made
    }

    func save(_ new: Record) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let bytes = try [UInt8](encoder.encode(new))
        _ = try Files.publish(bytes, as: recordPath, partial: recordPath + "-new")
        record = new
    }

    /// Forgets the point and its leaves, so that a new lineage begins.
    func forget() throws {
        for path in [recordPath, pendingPath, treePath] where unlink(path) != 0 && errno != ENOENT {
            throw Files.failure(path, "it can't be removed")
        }
        (record, tree) = (nil, nil)
    }

    // MARK: The point on its way

    /// Keeps a point before it is sent. It is sent until it is durable, and no other one gets its position.
    func keepPending(_ bytes: [UInt8]) throws {
        _ = try Files.publish(bytes, as: pendingPath, partial: pendingPath + "-new")
    }

    func pending() throws -> [UInt8]? { try Files.read(pendingPath) }

    func removePending() throws {
        guard unlink(pendingPath) == 0 || errno == ENOENT else {
            throw Files.failure(pendingPath, "it can't be removed")
        }
    }
}

/// What the system says about a file, so that an unchanged one is not read again.
struct FileStamp: Codable, Hashable, Sendable {
    var device: UInt64
    var inode: UInt64
    var size: Int64
    var modified: Int64

    init(_ status: stat) {
        device = UInt64(truncatingIfNeeded: status.st_dev)
        inode = UInt64(status.st_ino)
        size = Int64(status.st_size)
        modified = status.modified
    }

    func isSameFile(_ other: FileStamp) -> Bool { device == other.device && inode == other.inode }

    /// True if a change at this time would have changed the stamp.
    func isSettled(at milliseconds: Int64) -> Bool { Files.isSettled(modified, at: milliseconds) }
}
