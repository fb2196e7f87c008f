import Dispatch
import Foundation

/// The outcome of a shutdown that has closed the database.
public struct DatabaseShutdown: Sendable {
    /// A Boolean value that indicates whether accesses still ran at the end of the time limit, and were interrupted.
    /// Their transactions were rolled back.
    public let hasInterruptedAccesses: Bool

    /// The error that kept the write-ahead log from being moved into the database file. Nil if the whole log was moved,
    /// or there is no log. No commit is lost after an error: the next opening reads the log.
    public let checkpointError: DatabaseError?
}

extension DatabaseWriter {
    /// Closes the database in an orderly way: refuses new accesses, lets running ones end, interrupts them after a
    /// limit, moves the write-ahead log into the database file, and closes.
    ///
    /// Accesses that wait are served until the limit. Refused accesses throw `SQLITE_MISUSE` with the reason `closed`;
    /// interrupted ones throw `SQLITE_INTERRUPT` or `CancellationError`, and their transactions are rolled back. A
    /// blocking write that begins during the shutdown waits for the end of the shutdown, and then throws
    /// `SQLITE_MISUSE`, too. A commit that has returned is never lost. Cancelling the task ends the time limit
    /// immediately; the shutdown goes on.
    ///
    /// A writer other than a queue, a pool and ``AnyDatabaseWriter`` is only closed, without a limit.
    ///
    /// - parameter limit: the time in seconds that accesses have to end. Default: 10.
    /// - throws: `SQLITE_BUSY` with the reason ``DatabaseError/Reason/accessRunning`` if an access has not ended five
    ///   seconds after it was interrupted, because it computes outside of SQLite; the database is closed as soon as the
    ///   access ends. `SQLITE_BUSY` when the program keeps a statement, as ``DatabaseReader/close()`` does.
    @discardableResult
    public func shutDown(within limit: TimeInterval = 10) async throws -> DatabaseShutdown {
        guard let served else {
            let end = Awaited<DatabaseShutdown>()
            Workers.shared.run {
                end.put(
                    Result {
                        try self.close()
                        return DatabaseShutdown(hasInterruptedAccesses: false, checkpointError: nil)
                    })
            }
            return try await end.value {}
        }
        let shutdown = Shutdown(served)
        shutdown.begin(within: limit)
        return try await shutdown.outcome.value { shutdown.interrupt() }
    }
}

/// One shutdown of a queue or pool.
final class Shutdown: Sendable {
    private struct State {
        /// True from the limit on.
        var interrupts = false

        /// True when no other access runs any more.
        var hasAccess = false
        var checkpointError: DatabaseError?
    }

    /// The seconds that interrupted accesses have to end.
    static let patience: TimeInterval = 5

    let outcome = Awaited<DatabaseShutdown>()

    private let served: any ServedWriter
    private let state = Mutex(State())

    /// Its own queue, so that it gets a thread when the program blocks all others.
    private let queue = DispatchQueue(label: "Strongroom.Shutdown")

    init(_ served: any ServedWriter) {
        self.served = served
    }

    func begin(within limit: TimeInterval) {
        served.writer.leave()
        served.readerPool?.leave()
        Workers.shared.run { self.close() }
        queue.asyncAfter(deadline: .now() + max(0, limit)) { self.interrupt() }
    }

    /// Interrupts the running accesses, and those that are still admitted, until none is left.
    func interrupt() {
        let begins = state.withLock { state in
            defer { state.interrupts = true }
            return !state.interrupts && !state.hasAccess
        }
        if begins { queue.async { self.interruptAgain(until: .now() + Self.patience) } }
    }

    private func interruptAgain(until deadline: DispatchTime) {
        // Under the lock: the access that closes must not be stopped.
        let goesOn = state.withLock { state in
            if !state.hasAccess { stopAccesses() }
            return !state.hasAccess
        }
        guard goesOn else { return }
        if DispatchTime.now() >= deadline { outcome.put(.failure(DatabaseError.accessRunning)) }
        queue.asyncAfter(deadline: .now() + 0.02) { self.interruptAgain(until: deadline) }
    }

    private func stopAccesses() {
        served.writer.stopAccesses()
        for reader in served.readerPool?.connections ?? [] { reader.stopAccesses() }
    }

    private func close() {
        let result = Result {
            try served.close(calling: finish)
            return state.withLock {
                DatabaseShutdown(hasInterruptedAccesses: $0.interrupts, checkpointError: $0.checkpointError)
            }
        }
        // For a later attempt, and for closing again what is closed already.
        state.withLock { $0.hasAccess = true }
        outcome.put(result)
    }

    /// Ends the stops and moves the log, in the last access to the writer.
    private func finish(_ db: Database) {
        state.withLock { state in
            state.hasAccess = true
            served.writer.endStop()
            for reader in served.readerPool?.connections ?? [] { reader.endStop() }
        }
        let error = db.configuration.readonly || served.writer.isSuspended ? nil : db.moveLog()
        state.withLock { $0.checkpointError = error }
    }
}

extension Database {
    /// Moves the whole log into the file. Returns the error if that is not possible.
    fileprivate func moveLog() -> DatabaseError? {
        do {
            let (frames, moved) = try stops.closing { try log.checkpoint(.truncate) }
            return moved < frames ? DatabaseError(resultCode: .SQLITE_BUSY) : nil
        } catch {
            return error as? DatabaseError ?? DatabaseError.interrupted
        }
    }
}

extension DatabaseError {
    fileprivate static let accessRunning = DatabaseError(
        .SQLITE_BUSY, refusing: "An access has not ended, although it was interrupted",
        advice: "No commit is lost. The database is closed when the access ends; the process can end before.",
        reason: .accessRunning)
}
