import CSQLCipher
import CStrongroom
import Dispatch
import Foundation

/// A type that is notified of commits by other processes, and by other connections of this one.
protocol ExternalChangeObserver: AnyObject, Sendable {
    /// Notifies the observer that others have changed the database. Their changes are not known. Called with access to
    /// the writer, outside of transactions.
    ///
    /// - parameter db: the connection, or the error that prevents the observation of further changes.
    func databaseDidChangeElsewhere(_ db: Result<Database, any Error>)
}

/// Detects commits of other connections to the database of one queue or pool.
///
/// Events of the file system start a check, and SQLite's data version decides: on the writer, it counts the commits of
/// all other connections. An event may come before its commit can be read:
///
/// - With a write-ahead log, the frames of a commit are in the log before the index refers to them, and a change of the
///   index causes no event. The change is unsettled as long as the log holds a commit that is not in the index.
/// - With a rollback journal, the file is written and the journal removed under a lock that excludes readers, and the
///   release of the lock causes no event. The change is unsettled as long as a read meets that lock.
///
/// An unsettled change is checked again, each time after half of the time that has passed since the latest event. So a
/// commit is seen at most half as late again as it can be read, and a writer that died in a commit causes ever fewer
/// checks.
///
/// A check consumes the events before it compares the log with its index, and compares these before it reads the data
/// version. A commit between two of these steps is either seen by the later one, or has a later event, which starts
/// another check.
///
/// Sendable because its variables are used under `lock`, and `version` with access to the writer.
final class ExternalChanges: @unchecked Sendable {
    private enum Phase {
        case idle, scheduled, looking

        /// An event occurred during the check.
        case outdated

        /// The latest change is unsettled.
        case unsettled

        /// The database is suspended. Its resumption starts another check.
        case suspended
    }

    private struct Entry {
        weak var observer: (any ExternalChangeObserver)?
    }

    private weak var writer: SerializedConnection?
    private var version: Int?

    private let lock = NSLock()
    private var watch: (any FileWatch)?
    private var observers: [Entry] = []
    private var phase = Phase.idle
    private var latestEvent = DispatchTime.now()

    /// The number of the current wait, which distinguishes it from former ones.
    private var waitNumber = 0

    /// True if the open file is no longer the one at its path. Later changes are not seen.
    private var isFileGone = false

    /// Begins to observe. Nil if the configuration doesn't ask for it, or the database has no file.
    init?(of writer: SerializedConnection) throws {
        guard let watchFiles = writer.configuration.fileWatching else { return nil }
        self.writer = writer
        let path = try writer.sync { db in
            _ = try db.openConnection
            return db.isFileStored ? db.filePath : nil
        }
        guard let path else { return nil }
        // In this order: each commit after the version was read has an event.
        watch = try watchFiles(path) { [weak self] in self?.filesDidChange() }
        try writer.sync { db in version = try db.untraced { try db.dataVersion } }
    }

    deinit {
        watch?.cancel()
    }

    /// Ends the observation, when the database is closed.
    func stop() {
        let former = lock.withLock { watch.take() }
        former?.cancel()
    }

    /// Adds an observer of later changes. Holds a weak reference to it.
    func add(_ observer: any ExternalChangeObserver) {
        let isTooLate = lock.withLock {
            observers.removeAll { $0.observer == nil || $0.observer === observer }
            observers.append(Entry(observer: observer))
            return isFileGone
        }
        if isTooLate { filesDidChange() }
    }

    func remove(_ observer: any ExternalChangeObserver) {
        lock.withLock { observers.removeAll { $0.observer == nil || $0.observer === observer } }
    }

    // MARK: - When to look

    private func filesDidChange() {
        let mustSchedule = lock.withLock {
            latestEvent = .now()
            switch phase {
            case .idle, .unsettled:
                phase = .scheduled
                return true
            case .looking:
                phase = .outdated
                return false
            case .scheduled, .outdated, .suspended:
                return false
            }
        }
        if mustSchedule { schedule() }
    }

    private func schedule() {
        writer?.async { [weak self] db in self?.look(db) }
    }

    private func look(_ db: Database) {
        lock.withLock { phase = .looking }
        guard db.sqliteConnection != nil else { return }
        let finding = db.stops.notifying {
            let finding = find(db)
            db.outsideOfBlocks { tell(finding, db) }
            return finding
        }
        switch finding {
        case .suspended: waitForResumption()
        case .version(_, isSettled: true), .failure: conclude(isSettled: true)
        case .version(_, isSettled: false), .locked: conclude(isSettled: false)
        }
    }

    private func conclude(isSettled: Bool) {
        let (mustSchedule, delay, number) = lock.withLock {
            let isOutdated = phase == .outdated
            phase = isOutdated ? .scheduled : isSettled ? .idle : .unsettled
            waitNumber += 1
            let passed = DispatchTime.now().uptimeNanoseconds - latestEvent.uptimeNanoseconds
            return (isOutdated, max(passed / 2, Self.shortestWait), waitNumber)
        }
        if mustSchedule { return schedule() }
        if isSettled { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: delay))) { [weak self] in
            self?.lookAgain(number)
        }
    }

    private static let shortestWait: UInt64 = 1_000_000

    private func lookAgain(_ number: Int) {
        let mustSchedule = lock.withLock {
            guard phase == .unsettled, waitNumber == number else { return false }
            phase = .scheduled
            return true
        }
        if mustSchedule { schedule() }
    }

    private func waitForResumption() {
        lock.withLock { phase = .suspended }
        writer?.whenResumed { [weak self] in
            guard let self else { return }
            lock.withLock { phase = .scheduled }
            schedule()
        }
    }

    // MARK: - What is found

    private enum Finding {
        /// The data version. It is settled unless another version may follow without a further event.
        case version(Int, isSettled: Bool)

        /// Another connection excludes readers, or this one is inside a transaction that was left open.
        case locked
        case suspended
        case failure(any Error)
    }

    private func find(_ db: Database) -> Finding {
        if writer?.isSuspended == true { return .suspended }
        if db.isInsideTransaction { return .locked }
        do {
            if try db.isFileGone {
                lock.withLock { isFileGone = true }
                return .failure(DatabaseError.fileGone(db.filePath))
            }
            let log = strongroom_look_at_log(db.connection)
            // Not traced: the statement is not one of the program's.
            let version = try db.untraced { try db.withoutWaiting { try db.dataVersion } }
            // Reading the version opens a log that was created since.
            let isSettled = log == STRONGROOM_LOG_SETTLED
                || log == STRONGROOM_LOG_ABSENT && strongroom_look_at_log(db.connection) == STRONGROOM_LOG_ABSENT
            return .version(version, isSettled: isSettled)
        } catch let error as DatabaseError where error.isInterruptionError {
            return .suspended
        } catch let error as DatabaseError where error.isLock {
            return .locked
        } catch let error as DatabaseError where error.resultCode == .SQLITE_NOTADB {
            // The key fitted when the database was opened.
            return .failure(error.because(.wrongKey))
        } catch {
            return .failure(error)
        }
    }

    private func tell(_ finding: Finding, _ db: Database) {
        let news: Result<Database, any Error>
        switch finding {
        case .version(let found, _):
            if found == version { return }
            version = found
            news = .success(db)
        case .failure(let error):
            news = .failure(error)
        case .locked, .suspended:
            return
        }
        let told = lock.withLock { observers.compactMap(\.observer) }
        for observer in told { observer.databaseDidChangeElsewhere(news) }
    }
}

extension Database {
    /// The version of the database, which changes with each commit of another connection and not with those of this
    /// one.
    /// <https://www.sqlite.org/pragma.html#pragma_data_version>
    fileprivate var dataVersion: Int {
        get throws { try Int.fetchOne(self, sql: "PRAGMA main.data_version") ?? 0 }
    }

    /// True if the path leads to no file, or to another file than the open one.
    fileprivate var isFileGone: Bool {
        get throws {
            var hasMoved: CInt = 0
            try check(sqlite3_file_control(openConnection, "main", SQLITE_FCNTL_HAS_MOVED, &hasMoved))
            return hasMoved != 0
        }
    }
}

extension DatabaseError {
    /// True if another connection's lock causes the error, for a limited time.
    fileprivate var isLock: Bool {
        [.SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL].contains(resultCode)
    }

    fileprivate static func fileGone(_ path: String) -> DatabaseError {
        DatabaseError(
            .SQLITE_READONLY_DBMOVED, refusing: "the database file was removed, renamed or replaced: \(path)",
            advice: "close the database, and open it again", reason: .fileGone, isConnectionUsable: false)
    }
}

extension DatabaseReader {
    /// The changes by other connections and processes; nil where they are not observed.
    var externalChanges: ExternalChanges? {
        switch self {
        case let queue as DatabaseQueue: queue.externalChanges
        case let pool as DatabasePool: pool.externalChanges
        case let wrapper as any ReaderWrapper: wrapper.reader.externalChanges
        default: nil
        }
    }
}
