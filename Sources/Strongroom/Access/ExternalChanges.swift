import CSQLCipher
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
/// Sendable because `state` has its own lock, and `writer` and `version` are used with access to the connection that
/// writes, or before the object is shared.
final class ExternalChanges: @unchecked Sendable {
    private enum Phase {
        case idle, scheduled, checking

        /// An event occurred during the check.
        case outdated

        /// The latest change is unsettled.
        case unsettled

        /// The database is suspended or locked. Another check follows when that ends.
        case suspended
    }

    private struct Entry {
        weak var observer: (any ExternalChangeObserver)?
    }

    private struct State {
        var watch: (any FileWatch)?
        var observers: [Entry] = []
        var phase = Phase.idle
        var latestEvent = DispatchTime.now()

        /// The number of the current wait, which distinguishes it from former ones.
        var waitNumber = 0

        mutating func remove(_ observer: any ExternalChangeObserver) {
            observers.removeAll { $0.observer == nil || $0.observer === observer }
        }

        /// Notes an event. Returns true if the caller must schedule a look.
        mutating func noteEvent() -> Bool {
            latestEvent = .now()
            switch phase {
            case .idle, .unsettled:
                phase = .scheduled
                return true
            case .checking:
                phase = .outdated
                return false
            case .scheduled, .outdated, .suspended:
                return false
            }
        }

        /// Ends a look. Returns the next step.
        mutating func endCheck(isSettled: Bool) -> NextCheck? {
            let isOutdated = phase == .outdated
            phase = isOutdated ? .scheduled : isSettled ? .idle : .unsettled
            waitNumber += 1
            if isOutdated { return .now }
            if isSettled { return nil }
            let passed = DispatchTime.now().uptimeNanoseconds - latestEvent.uptimeNanoseconds
            return .later(nanoseconds: max(passed / 2, shortestWait), number: waitNumber)
        }

        /// Ends the wait of that number. Returns true if the caller must schedule a look.
        mutating func endWait(_ number: Int) -> Bool {
            guard phase == .unsettled, waitNumber == number else { return false }
            phase = .scheduled
            return true
        }
    }

    private enum NextCheck {
        case now
        case later(nanoseconds: UInt64, number: Int)
    }

    private static let shortestWait: UInt64 = 1_000_000

    private weak var writer: SerializedConnection?
    private var version: Int?
    private let state = Mutex(State())

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
        let watch = try watchFiles(path) { [weak self] in self?.filesDidChange() }
        state.withLock { $0.watch = watch }
        try writer.sync { db in
            db.part(FilePlace.self).begin()
            version = try db.untraced { try db.dataVersion }
        }
    }

    deinit {
        stop()
    }

    /// Ends the observation, when the database is closed.
    func stop() {
        let watch = state.withLock { $0.watch.take() }
        watch?.cancel()
    }

    /// Notifies an observer of the changes that can be seen from now on, as long as it lives.
    func add(_ observer: any ExternalChangeObserver) {
        state.withLock {
            $0.remove(observer)
            $0.observers.append(Entry(observer: observer))
        }
        // What was renamed farther up has caused no event.
        filesDidChange()
    }

    func remove(_ observer: any ExternalChangeObserver) {
        state.withLock { $0.remove(observer) }
    }

    // MARK: - When to look

    private func filesDidChange() {
        let mustSchedule = state.withLock { $0.noteEvent() }
        if mustSchedule { schedule() }
    }

    private func schedule() {
        writer?.async { [weak self] db in self?.check(db) }
    }

    private func check(_ db: Database) {
        state.withLock { $0.phase = .checking }
        guard db.sqliteConnection != nil else { return waitIfLocked() }
        let finding = db.stops.notifying {
            let finding = find(db)
            db.transactions.outsideBlocks { notify(of: finding, db) }
            return finding
        }
        switch finding {
        case .suspended: waitForResumption()
        case .version(_, isSettled: true), .failure: conclude(isSettled: true)
        case .version(_, isSettled: false), .locked: conclude(isSettled: false)
        }
    }

    private func conclude(isSettled: Bool) {
        switch state.withLock({ $0.endCheck(isSettled: isSettled) }) {
        case .now: schedule()
        case .later(let delay, let number):
            DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(Int(clamping: delay))) { [weak self] in
                self?.checkAgain(number)
            }
        case nil: break
        }
    }

    private func checkAgain(_ number: Int) {
        let mustSchedule = state.withLock { $0.endWait(number) }
        if mustSchedule { schedule() }
    }

    /// Begins again with the connection of a database that was unlocked. Its observers are notified by other means.
    func databaseWasReopened(_ db: Database) {
        db.part(FilePlace.self).begin()
        version = try? db.untraced { try db.dataVersion }
    }

    /// Waits for the key of a locked database. A closed one has no further changes.
    private func waitIfLocked() {
        if writer?.isLocked == true { waitForResumption() }
    }

    private func waitForResumption() {
        state.withLock { $0.phase = .suspended }
        writer?.whenResumed { [weak self] in
            guard let self else { return }
            state.withLock { $0.phase = .scheduled }
            schedule()
        }
    }

    // MARK: - What is found

    private enum Finding {
        /// The data version. It is settled unless another version may follow without a further event.
        case version(Int, isSettled: Bool)

        /// Another connection excludes readers for a time, or this one is inside a transaction that was left open.
        case locked
        case suspended
        case failure(any Error)
    }

    private func find(_ db: Database) -> Finding {
        if writer?.isSuspended == true || writer?.isLocked == true { return .suspended }
        if db.isInsideTransaction { return .locked }
        do {
            if try db.part(FilePlace.self).isLeft {
                return .failure(DatabaseError.fileGone(db.filePath))
            }
            let log = db.connection.checkLog()
            // Not traced: the statement is not one of the program's.
            let version = try db.untraced { try db.withoutWaiting { try db.dataVersion } }
            // Reading the version opens a log that was created since.
            let isSettled =
                log == .settled
                || log == .absent && db.connection.checkLog() == .absent
            return .version(version, isSettled: isSettled)
        } catch let error as DatabaseError where error.isOfStop {
            return .suspended
        } catch let error as DatabaseError where error.isPassing {
            return .locked
        } catch {
            return .failure(error)
        }
    }

    private func notify(of finding: Finding, _ db: Database) {
        let change: Result<Database, any Error>
        switch finding {
        case .version(let found, _):
            if found == version { return }
            version = found
            change = .success(db)
        case .failure(let error):
            change = .failure(error)
        case .locked, .suspended:
            return
        }
        let observers = state.withLock { $0.observers.compactMap(\.observer) }
        for observer in observers { observer.databaseDidChangeElsewhere(change) }
    }
}

extension Database {
    /// The version of the database, which changes with each commit of another connection and not with those of this
    /// one.
    /// <https://www.sqlite.org/pragma.html#pragma_data_version>
    fileprivate var dataVersion: Int {
        get throws { try Int.fetchOne(self, sql: "PRAGMA main.data_version") ?? 0 }
    }
}

extension DatabaseReader {
    /// The changes by other connections and processes; nil if they are not observed.
    var externalChanges: ExternalChanges? {
        switch self {
        case let queue as DatabaseQueue: queue.externalChanges
        case let pool as DatabasePool: pool.externalChanges
        case let wrapper as any ReaderWrapper: wrapper.reader.externalChanges
        default: nil
        }
    }
}
