import CStrongroomFaults
import Foundation
import TestSupport
import Testing

@testable import Strongroom

/// Which kind of journal a database has, as the pragma names it.
enum JournalKind: String, CaseIterable, CustomTestStringConvertible {
    case wal, delete, truncate, persist, memory

    var testDescription: String { rawValue }
}

extension Configuration {
    /// Encrypted, and watched.
    static func watching() -> Configuration {
        var configuration = Configuration.encrypted()
        configuration.observesExternalChanges = true
        return configuration
    }
}

/// An encrypted database with one table, which others change.
final class SharedFile: Sendable {
    let folder: TemporaryFolder
    var path: String { folder.path("db.sqlite") }

    init(_ journal: JournalKind = .wal) throws {
        folder = try TemporaryFolder()
        folder.keep()
        _ = try stockShell(
            path, "PRAGMA journal_mode = \(journal.rawValue); CREATE TABLE wine (id INTEGER PRIMARY KEY, name TEXT);")
    }

    func open(_ kind: WriterKind, _ configuration: Configuration = .watching()) throws -> any DatabaseWriter {
        switch kind {
        case .queue: try DatabaseQueue(path: path, configuration: configuration)
        case .pool: try DatabasePool(path: path, configuration: configuration)
        case .anyWriter: AnyDatabaseWriter(try DatabasePool(path: path, configuration: configuration))
        }
    }

    /// A shell that commits with this journal; a log is a log for all connections.
    func shell(_ journal: JournalKind = .wal) throws -> RunningShell {
        let shell = try startShell(path, setUp: "PRAGMA kdf_iter = 1000; PRAGMA busy_timeout = 20000;")
        if journal != .wal { try shell.run("PRAGMA journal_mode = \(journal.rawValue);") }
        return shell
    }
}

extension RunningShell {
    func insertWine() throws {
        try run("INSERT INTO wine (name) VALUES ('Chinon');")
    }
}

/// A watch that a test rings, instead of the file system.
final class RungWatch: FileWatch {
    private let ring = Shared<(@Sendable () -> Void)?>(nil)
    let isCancelled = Shared(false)

    /// The settings of a database that hears of nothing but ``ringUntilLookedAt(_:)``.
    func configuration() -> Configuration {
        var configuration = Configuration.encrypted()
        configuration.fileWatching = { _, onEvent in
            self.ring.update { $0 = onEvent }
            return self
        }
        return configuration
    }

    func cancel() {
        isCancelled.update { $0 = true }
    }

    /// Tells of an event, and returns once the database was looked at.
    func ringUntilLookedAt(_ writer: any DatabaseWriter) {
        ring.value?()
        writer.unsafeReentrantWrite { _ in }
    }
}

/// Calls `act` once, when a file whose path contains `path` gets to the moment.
func at(_ moment: strongroom_moment, _ path: String, _ act: @escaping @Sendable () -> Void) {
    let action = Unmanaged.passRetained(Farewell(act))
    strongroom_faults_at(moment, path, { Unmanaged<Farewell>.fromOpaque($0!).release() }, action.toOpaque())
}
