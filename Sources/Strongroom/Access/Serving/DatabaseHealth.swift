import Foundation

/// The state of an open database, as a health check of a server needs it.
///
/// If several states apply, the value is the first of them in the order of the cases.
public enum DatabaseHealth: String, Sendable, CaseIterable {
    /// The database is closed, and each access fails.
    case closed

    /// The database is being shut down. Running accesses end; new ones are refused.
    case shuttingDown

    /// The database is locked, and its key is wiped. See <doc:LockingAndUnlocking>.
    case locked

    /// The database is suspended: accesses that would take a lock fail. See ``DatabaseWriter/suspend()``.
    case suspended

    /// The latest write failed because the disk was full. Reads go on. The state ends with the next commit, or when the
    /// disk has 1 MiB more room than at the failure.
    case diskFull

    /// The database can only be read: the configuration is read-only, or this user may not write the file.
    case readOnly

    /// Reads and writes can begin.
    case ready

    /// A Boolean value that indicates whether reads can begin. While the database is suspended, the value is true, but
    /// reads can begin in WAL mode only.
    public var canRead: Bool { ![.closed, .shuttingDown, .locked].contains(self) }

    /// A Boolean value that indicates whether writes can begin.
    public var canWrite: Bool { self == .ready }
}

extension DatabaseWriter {
    /// The state of the database. Any thread may read it at any time. Reading it does not wait for accesses, and does
    /// not read pages.
    ///
    /// For a type other than ``DatabaseQueue``, ``DatabasePool`` and ``AnyDatabaseWriter``, it follows from the
    /// configuration alone.
    public var health: DatabaseHealth {
        guard let served else { return configuration.readonly ? .readOnly : .ready }
        let writer = served.writer
        if writer.isLocked { return .locked }
        if writer.isClosed { return .closed }
        if writer.isLeaving { return .shuttingDown }
        if writer.isSuspended { return .suspended }
        if served.isDiskFull { return .diskFull }
        return writer.configuration.readonly || served.isFileReadOnly ? .readOnly : .ready
    }
}

extension ServedWriter {
    /// The room that a disk must have gained to be worth another write, in bytes.
    private var gain: Int64 { 1 << 20 }

    fileprivate var isDiskFull: Bool {
        guard let full = writer.configuration.tally?.fullDisk, writer.commitCount == full.commits else { return false }
        guard let path = NamedFile.databasePath(of: path) else { return true }
        return NamedFile.room(path).free < full.room.addingReportingOverflow(gain).partialValue
    }

    fileprivate var isFileReadOnly: Bool {
        guard let path = NamedFile.databasePath(of: path), NamedFile.exists(path) else { return false }
        return !FileManager.default.isWritableFile(atPath: path)
    }
}
