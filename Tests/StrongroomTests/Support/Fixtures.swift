import Foundation
import Strongroom
import Testing

/// A folder of its own for one test, removed with it.
final class TemporaryFolder: Sendable {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("strongroom-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    func path(_ name: String) -> String { path + "/" + name }
}

extension Configuration {
    /// Encrypted, with a key derivation that costs nothing: where the derivation is not the subject.
    static func encrypted(passphrase: String = "correct horse") -> Configuration {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.usePassphrase(passphrase)
            try db.execute(sql: "PRAGMA kdf_iter = 1000")
        }
        return configuration
    }
}

/// An encrypted database in a folder of its own.
func withEncryptedQueue<T>(
    _ configuration: Configuration = .encrypted(), _ body: (DatabaseQueue) throws -> T) throws -> T
{
    let folder = try TemporaryFolder()
    let queue = try DatabaseQueue(path: folder.path("db.sqlite"), configuration: configuration)
    let result = try body(queue)
    try queue.close()
    return result
}

/// Runs `body` while relative paths begin in that folder.
func inFolder(_ path: String, _ body: () throws -> Void) throws {
    let former = FileManager.default.currentDirectoryPath
    try #require(FileManager.default.changeCurrentDirectoryPath(path))
    defer { _ = FileManager.default.changeCurrentDirectoryPath(former) }
    try body()
}

/// Who may do what with a file; nil without one.
func permissions(of path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o777 : nil
}
