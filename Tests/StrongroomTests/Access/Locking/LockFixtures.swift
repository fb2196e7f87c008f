import Foundation
import Strongroom
import TestSupport
import Testing

/// A queue or a pool, as tests lock both.
protocol LockableWriter: DatabaseWriter {
    func add(function: DatabaseFunction)
    func releaseMemory()
}

extension DatabaseQueue: LockableWriter {}
extension DatabasePool: LockableWriter {}

enum LockableKind: String, CaseIterable, CustomTestStringConvertible {
    case queue, pool

    var testDescription: String { rawValue }

    func open(_ path: String, _ configuration: Configuration) throws -> any LockableWriter {
        switch self {
        case .queue: try DatabaseQueue(path: path, configuration: configuration)
        case .pool: try DatabasePool(path: path, configuration: configuration)
        }
    }
}

/// A database with the raw key `notes`, in a folder of its own.
struct LockFixture: Sendable {
    static let rawKey: RawKey = "notes"

    static var key: DatabaseKey { .passphrase("x'\(rawKey.digits)'") }

    static func configuration(_ accesses: Configuration.LockedAccesses = .refuse) -> Configuration {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: key)
        configuration.lockedAccesses = accesses
        return configuration
    }

    let folder: TemporaryFolder
    let writer: any LockableWriter

    var path: String { writer.path }
    var pool: DatabasePool? { writer as? DatabasePool }

    init(_ kind: LockableKind, _ configuration: Configuration = configuration()) throws {
        folder = try TemporaryFolder()
        folder.keep()
        writer = try kind.open(folder.path("db.sqlite"), configuration)
        try writer.write { try $0.execute(sql: "CREATE TABLE wine (id INTEGER PRIMARY KEY, name TEXT)") }
    }

    /// A stock shell in another process.
    func shell() throws -> RunningShell {
        let shell = try StockShell(path: path, rawKey: Self.rawKey).start()
        try shell.run("PRAGMA busy_timeout = 20000;")
        return shell
    }
}

/// Expects the error of a locked database.
func expectLocked(_ error: (any Error)?, sourceLocation: SourceLocation = #_sourceLocation) {
    let error = error as? DatabaseError
    #expect(error?.reason == .locked, sourceLocation: sourceLocation)
    #expect(error?.resultCode == .SQLITE_AUTH, sourceLocation: sourceLocation)
    #expect(error?.isInterruptionError == false, sourceLocation: sourceLocation)
    #expect(error?.recoverySuggestion?.contains("unlock(with:)") == true, sourceLocation: sourceLocation)
}

/// Expects that what runs is refused because the database is locked.
func expectLocked(sourceLocation: SourceLocation = #_sourceLocation, _ access: () throws -> Void) {
    let error = #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) { try access() }
    expectLocked(error, sourceLocation: sourceLocation)
}

func expectLockedOut(
    sourceLocation: SourceLocation = #_sourceLocation, _ access: () async throws -> Void
) async {
    let error = await #expect(throws: DatabaseError.self, sourceLocation: sourceLocation) { try await access() }
    expectLocked(error, sourceLocation: sourceLocation)
}
