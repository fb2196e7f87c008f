import Foundation
import Strongroom
import TestSupport
import Testing

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
    _ configuration: Configuration = .encrypted(), _ body: (DatabaseQueue) throws -> T
) throws -> T {
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

/// The owner and mode of a file; nil without one.
func permissions(of path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & 0o777 : nil
}

/// Runs statements in a stock shell of their own.
func stockShell(
    _ path: String, key: String? = "correct horse", setUp: String = "PRAGMA kdf_iter = 1000;", _ sql: String
) throws -> [String] {
    try startShell(path, key: key, setUp: setUp).run(sql)
}

/// A stock shell that keeps its connection. Set-up comes before the first read.
func startShell(
    _ path: String, key: String? = "correct horse", setUp: String = "PRAGMA kdf_iter = 1000;"
) throws -> RunningShell {
    try StockShell(path: path, passphrase: key, setUp: key == nil ? "" : setUp).start()
}
