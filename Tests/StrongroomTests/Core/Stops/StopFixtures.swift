import Foundation
import Strongroom
import Testing

/// The stops of an access.
enum StopKind: String, CaseIterable, CustomTestStringConvertible {
    case interruption, cancellation, suspension

    var testDescription: String { rawValue }
}

/// Tells of commits, by functions.
final class CommitObserver: TransactionObserver, @unchecked Sendable {
    var willCommit: () -> Void = {}
    var didCommit: (Database) -> Void = { _ in }

    func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
    func databaseDidChange(with event: DatabaseEvent) {}
    func databaseWillCommit() throws { willCommit() }
    func databaseDidCommit(_ db: Database) { didCommit(db) }
    func databaseDidRollback(_ db: Database) {}
}

/// An SQL function, `hold()`, that runs until it is let go.
final class HeldStatement: Sendable {
    let isRunning = Gate()
    let mayEnd = Gate()

    var function: DatabaseFunction {
        DatabaseFunction("hold", argumentCount: 0) { _ in
            self.isRunning.open()
            self.mayEnd.pass()
            return 1
        }
    }
}

/// An access on a task, or on a thread where nothing is cancelled.
struct StoppableAccess {
    private let result = Shared<Result<Void, any Error>?>(nil)
    private let isDone = Gate()
    private let task: Task<Void, Never>

    init(_ writer: any DatabaseWriter, _ updates: @escaping @Sendable (Database) throws -> Void) {
        let (result, isDone) = (result, isDone)
        task = Task {
            do {
                try await writer.writeWithoutTransaction(updates)
                result.update { $0 = .success(()) }
            } catch {
                result.update { $0 = .failure(error) }
            }
            isDone.open()
        }
    }

    func stop(_ kind: StopKind, _ writer: any DatabaseWriter) {
        switch kind {
        case .interruption: writer.interrupt()
        case .cancellation: task.cancel()
        case .suspension: writer.suspend()
        }
    }

    /// The error of the access, once it is over.
    func error() async throws -> (any Error)? {
        try await onThread { isDone.pass() }
        guard case .failure(let error)? = result.value else { return nil }
        return error
    }
}

extension StopKind {
    /// Returns true if the error is the one of this stop.
    func matches(_ error: (any Error)?) -> Bool {
        switch self {
        case .cancellation: error is CancellationError
        case .interruption: (error as? DatabaseError)?.resultCode == .SQLITE_INTERRUPT
        case .suspension: (error as? DatabaseError)?.isInterruptionError == true
        }
    }
}

func walConfiguration() -> Configuration {
    var configuration = Configuration.encrypted()
    configuration.journalMode = .wal
    return configuration
}
