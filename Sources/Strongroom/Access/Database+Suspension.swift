import CStrongroom
import Foundation

extension Database {
    /// Post it when the program is about to be stopped: databases that observe it let go of their locks.
    ///
    /// See ``Configuration/observesSuspensionNotifications`` and ``DatabaseWriter/suspend()``.
    public static let suspendNotification = Notification.Name("Strongroom.Database.suspend")

    /// Post it when the program goes on: databases take locks again.
    public static let resumeNotification = Notification.Name("Strongroom.Database.resume")

    // MARK: - Journal

    /// Applies the journal mode that the configuration asks for, and remembers which one the file has.
    ///
    /// - throws: `SQLITE_BUSY` when another connection keeps the file from changing to WAL.
    func setUpJournal(requiresWAL: Bool) throws {
        try untraced { try applyJournalMode(requiresWAL: requiresWAL) }
    }

    private func applyJournalMode(requiresWAL: Bool) throws {
        var wantsWAL = requiresWAL
        switch configuration.journalMode {
        case .default: break
        case .wal: wantsWAL = true
        }
        if configuration.persistentWAL, !configuration.readonly { try keepLog() }
        if wantsWAL, !configuration.readonly {
            let mode = try String.fetchOne(self, sql: "PRAGMA journal_mode = WAL") ?? ""
            guard mode == "wal" else {
                throw DatabaseError(message: "\(path) can't have a write-ahead log: its journal mode is \(mode)")
            }
            // Durable against crashes of the program, and of the system up to the last checkpoint; never corrupt.
            try execute(sql: "PRAGMA synchronous = NORMAL")
            // The first read makes the log and its index, which a program that only reads may not be able to make.
            try holdState()
        }
        try rememberJournalMode()
    }

    /// In WAL mode, and in memory, readers take no lock that another process could wait for.
    func rememberJournalMode() throws {
        let mode = try String.fetchOne(self, sql: "PRAGMA journal_mode") ?? ""
        connection.pointee.wal = mode == "wal" || mode == "memory"
    }

    // MARK: - Around each run

    /// Refuses a statement of an access that was cancelled, or one that a suspended database may not run.
    ///
    /// What ends a transaction passes: it is how locks are released.
    func refuseIfStopped(_ statement: Statement) throws {
        let stops = strongroom_stops(connection)
        let transaction = statement.compilation.transaction
        if stops & UInt32(STRONGROOM_CANCELLED) != 0 {
            switch transaction {
            case .rollback, .rollbackSavepoint: return
            default: throw CancellationError()
            }
        }
        switch transaction {
        case .commit, .rollback, .releaseSavepoint, .rollbackSavepoint: return
        default: break
        }
        let isAborted = transactionBlockDepth > 0 && isAutocommit
        if releaseLock() || !statement.isReadonly || !connection.pointee.wal {
            throw statement.error(isAborted ? .aborted : Self.suspensionError)
        }
    }

    /// Ends long work that is no statement once its access was cancelled.
    func refuseIfCancelled() throws {
        if strongroom_stops(connection) & UInt32(STRONGROOM_CANCELLED) != 0 { throw CancellationError() }
    }

    /// Refuses what takes locks without being a statement: checkpoints, backups, key rotation.
    func requireLocks() throws {
        if strongroom_stops(connection) & UInt32(STRONGROOM_SUSPENDED) != 0 { throw Self.suspensionError }
    }

    /// Leaves no lock behind when the connection was suspended during a run, and tells an interruption from other failures.
    func stopAfterRun(of statement: Statement, failure: DatabaseError?) throws {
        // The suspension that stopped it may be over by now.
        let waitWasStopped = strongroom_connection_end_wait(connection)
        let stops = strongroom_stops(connection)
        let isBusy = failure?.resultCode == .SQLITE_BUSY
        if stops & UInt32(STRONGROOM_CANCELLED) != 0 {
            if isBusy { throw CancellationError() }
            return
        }
        var held = false
        switch statement.compilation.transaction {
        case .commit, .rollback, .releaseSavepoint, .rollbackSavepoint:
            guard isBusy, waitWasStopped else { return }
        default:
            held = stops != 0 && releaseLock()
        }
        if let failure, !isBusy { throw failure }
        if held || isBusy { throw statement.error(Self.suspensionError) }
    }

    /// Runs what waits for locks without being a statement.
    func waitingForLocks<T>(_ body: () throws -> T) throws -> T {
        try requireLocks()
        do {
            return try body()
        } catch let failure as DatabaseError where failure.resultCode == .SQLITE_BUSY {
            guard strongroom_connection_end_wait(connection) else { throw failure }
            try refuseIfCancelled()
            throw Self.suspensionError
        }
    }

    /// Rolls back what keeps a lock that a suspended database may not have. Answers whether there was one.
    @discardableResult
    func releaseLock() -> Bool {
        guard strongroom_connection_holds_lock(connection) else { return false }
        if !isAutocommit { try? rollback() }
        return true
    }

    private static var suspensionError: DatabaseError {
        DatabaseError(.SQLITE_ABORT, refusing: "Database is suspended", reason: .suspended)
    }
}

/// Calls a database when suspension notifications are posted, as long as it lives.
final class SuspensionObserver: @unchecked Sendable {
    // Tokens are set once and only given back.
    private let tokens: [any NSObjectProtocol]

    /// Nil when the configuration does not want it.
    convenience init?(of connection: SerializedConnection) {
        guard connection.configuration.observesSuspensionNotifications else { return nil }
        // The connection is not kept alive by what it listens to.
        self.init(suspend: { [weak connection] in connection?.suspend() }, resume: { [weak connection] in connection?.resume() })
    }

    init(suspend: @escaping @Sendable () -> Void, resume: @escaping @Sendable () -> Void) {
        let center = NotificationCenter.default
        tokens = [
            center.addObserver(forName: Database.suspendNotification, object: nil, queue: nil) { _ in suspend() },
            center.addObserver(forName: Database.resumeNotification, object: nil, queue: nil) { _ in resume() },
        ]
    }

    deinit {
        for token in tokens { NotificationCenter.default.removeObserver(token) }
    }
}
