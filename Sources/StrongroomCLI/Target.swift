import Foundation
import Strongroom

/// An existing database that a command works on.
struct Target: Sendable {
    let path: String
    let inspection: DatabaseFile.Inspection
    let settings: CipherSettings
    private let header: PlaintextHeader?

    /// Looks at the file from outside; fails when there is none.
    init(_ path: String, _ format: FormatOptions? = nil) throws {
        var status = stat()
        guard stat(path, &status) == 0 else { throw Failure(errno: errno, file: path, doing: "looking at it") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw Failure(.other, file: path, "it is not a file", remedy: "Give the path of a database")
        }
        self.path = path
        inspection = try attributing(to: path) { try DatabaseFile.inspect(path: path) }
        settings = format?.settings(of: inspection) ?? .sqlcipher4
        header = try format?.header()
        if header != nil, inspection.kind == .encrypted {
            throw Failure(.other, file: path, "it has no plaintext header, and its salt in its first bytes; nothing was changed",
                          remedy: "Leave --salt-file away")
        }
    }

    var isClear: Bool { inspection.kind == .clear }

    func requireClear() throws {
        try requireDatabase()
        guard isClear else {
            throw Failure(.other, file: path, "it is encrypted already, or no database; nothing was changed",
                          remedy: "Give a clear database, or change the key with: strongroom rotate")
        }
    }

    func requireEncrypted() throws {
        try requireDatabase()
        guard !isClear else {
            throw Failure(.other, file: path, "it is not encrypted; nothing was changed",
                          remedy: "Make an encrypted copy with: strongroom encrypt")
        }
    }

    /// Refuses what no passphrase would open, before one is asked for.
    func requireDatabase() throws {
        switch inspection.kind {
        case .absent: throw Failure.absent(path)
        case .empty: throw Failure(.other, file: path, "it is empty; nothing was changed", remedy: "Check the path")
        case .notDatabase: throw Failure(.other, file: path, "it is not a database; nothing was changed", remedy: "Check the path")
        case .clear, .encrypted, .plaintextHeader: break
        }
    }

    func encryption(_ key: DatabaseKey) -> Encryption {
        Encryption(key: key, settings: settings, plaintextHeader: header)
    }

    /// Opens the database with `key`, or without one.
    func open(_ key: DatabaseKey?, readonly: Bool) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.readonly = readonly
        configuration.busyMode = .timeout(2)
        configuration.encryption = key.map(encryption)
        return try attributing(to: path) { try DatabaseQueue(path: path, configuration: configuration) }
    }
}
