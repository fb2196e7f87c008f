import Dispatch
import Foundation

/// A database for the life of a service: opened when the service runs, and shut down when it stops.
///
/// ```swift
/// let service = DatabaseService { try DatabasePool(path: path, configuration: configuration) }
/// try await service.run(until: { try await stopRequest() })
/// ```
///
/// Other parts of the program get the database from ``database``, which waits for the opening. With the package trait
/// `ServiceLifecycle`, it is a service of swift-service-lifecycle. See <doc:Servers>.
public final class DatabaseService<Base: DatabaseWriter>: Sendable {
    private enum Phase {
        case created, opening, open

        /// Stopped while it was opening: what is opened is closed immediately.
        case abandoned

        case ended
    }

    private let limit: TimeInterval
    private let open: @Sendable () throws -> Base
    private let phase = Mutex(Phase.created)
    private let opened = Awaited<Base>()

    /// Becomes known when an opening has ended that the run no longer waits for, and what it opened is closed.
    private let closedAgain = Awaited<Void>()

    /// Creates a service that opens its database when it runs.
    ///
    /// - parameters:
    ///   - limit: the time in seconds that running accesses, or an opening, have to end at a stop. Default: 10.
    ///   - open: opens the database and runs its migrations. May block its thread, which belongs to the library.
    public init(shutdownLimit limit: TimeInterval = 10, open: @escaping @Sendable () throws -> Base) {
        self.limit = limit
        self.open = open
    }

    /// Creates a service around a database that is open.
    ///
    /// - parameters:
    ///   - database: the database, which the service closes at the end.
    ///   - limit: the time in seconds that running accesses have to end at a stop. Default: 10.
    public convenience init(_ database: Base, shutdownLimit limit: TimeInterval = 10) {
        self.init(shutdownLimit: limit) { database }
        opened.put(.success(database))
    }

    /// The database. Waits until it is open.
    ///
    /// - throws: the error of the opening; `SQLITE_MISUSE` with the reason
    ///   ``DatabaseError/Reason/stoppedWhileOpening`` if the service was stopped meanwhile; `CancellationError` if the
    ///   task is cancelled.
    public var database: Base {
        get async throws { try await opened.value() }
    }

    /// The state of the database. Nil until it is open.
    public var health: DatabaseHealth? {
        if case .success(let database) = opened.result { database.health } else { nil }
    }

    /// Opens the database, waits for `stop` to return, and shuts the database down, as
    /// ``DatabaseWriter/shutDown(within:)`` does.
    ///
    /// If the task is cancelled, or `stop` throws, running accesses are interrupted immediately. A stop during the
    /// opening waits for the end of the opening, up to the limit. A service runs once.
    ///
    /// - parameter stop: returns when the service is to stop. It must end when its task is cancelled.
    /// - throws: the error of the opening or of the shutdown; `SQLITE_MISUSE` with the reason
    ///   ``DatabaseError/Reason/stoppedWhileOpening`` if the opening has not ended at the limit, and with the reason
    ///   ``DatabaseError/Reason/closed`` if the service has run before. A database that is opened after the limit is
    ///   closed immediately.
    public func run(until stop: @escaping @Sendable () async throws -> Void) async throws {
        try begin()
        let hasStopped = await waits(until: stop)
        if case .success(let database) = opened.result {
            phase.withLock { $0 = .ended }
            try await database.shutDown(within: hasStopped ? limit : 0)
        } else if case .failure(let error) = opened.result {
            phase.withLock { $0 = .ended }
            throw error
        } else {
            try await endOpening(within: hasStopped ? limit : 0)
        }
    }

    private func begin() throws {
        let isFirst = phase.withLock { phase in
            guard case .created = phase else { return false }
            phase = opened.result == nil ? .opening : .open
            return true
        }
        guard isFirst else {
            throw DatabaseError(refusing: "The service has run already", advice: "Create another one.", reason: .closed)
        }
        if opened.result == nil { Workers.shared.run { self.openNow() } }
    }

    private func openNow() {
        let result = Result { try open() }
        let isWanted = phase.withLock { phase in
            guard case .opening = phase else { return false }
            phase = .open
            // Under the lock: a stop that comes now finds the database.
            return true
        }
        if isWanted { return opened.put(result) }
        closedAgain.put(result.flatMap { database in Result { try database.close() } })
    }

    /// Returns true if `stop` has returned, and false if it threw, or the opening failed.
    private func waits(until stop: @escaping @Sendable () async throws -> Void) async -> Bool {
        await withTaskGroup(of: Bool?.self) { group in
            group.addTask { [opened] in
                do { _ = try await opened.value() } catch { return false }
                return nil
            }
            group.addTask {
                do { try await stop() } catch { return false }
                return true
            }
            defer { group.cancelAll() }
            while let hasStopped = await group.next() {
                if let hasStopped { return hasStopped }
            }
            return false
        }
    }

    /// Ends a run whose opening goes on.
    private func endOpening(within limit: TimeInterval) async throws {
        let isOpening = phase.withLock { phase in
            guard case .opening = phase else { return false }
            phase = .abandoned
            return true
        }
        guard isOpening else {
            // It has ended this moment.
            try await opened.value {}.shutDown(within: limit)
            return
        }
        opened.put(.failure(DatabaseError.stoppedWhileOpening))
        DispatchQueue(label: "Strongroom.DatabaseService").asyncAfter(deadline: .now() + max(0, limit)) {
            self.closedAgain.put(.failure(DatabaseError.stoppedWhileOpening))
        }
        try await closedAgain.value {}
    }
}

extension DatabaseError {
    fileprivate static let stoppedWhileOpening = DatabaseError(
        refusing: "The service was stopped while it opened its database",
        advice: "Nothing is lost. Start the service again; give it a longer limit if opening takes long.",
        reason: .stoppedWhileOpening)
}
