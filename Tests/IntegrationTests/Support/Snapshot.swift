import Foundation
import TestSupport

extension Data {
    /// Returns the contents of a file, or the mode of something that is no file, without opening it. Nil if nothing is
    /// there.
    static func ofSidecar(_ path: String) -> Data? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        let isFile = status.st_mode & S_IFMT == S_IFREG
        return isFile ? try? Data(contentsOf: URL(fileURLWithPath: path)) : Data("\(status.st_mode)".utf8)
    }
}

extension TemporaryFolder {
    /// Names and bytes of all there is, but for what `leavingOut` names.
    func snapshot(leavingOut names: Set<String> = []) throws -> [String: Data] {
        try Dictionary(uniqueKeysWithValues: self.names().filter { !names.contains($0) }.map { ($0, try bytes($0)) })
    }

    /// A database in WAL mode whose log a killed program left: the newest row is only in there.
    func databaseWithLog(
        _ name: String = "left.db", rawKey: RawKey, keepingIndex: Bool = true
    ) async throws -> String {
        let live = try await encryptedDatabase("live.db", rawKey: rawKey)
        let shell = StockShell(path: live, rawKey: rawKey)
        try await shell.run("PRAGMA journal_mode = wal;")
        let writer = try await shell.holding("INSERT INTO author VALUES (3, 'Ibn Khaldun');")
        for ending in ["", "-wal"] + (keepingIndex ? ["-shm"] : []) { try copy("live.db" + ending, to: name + ending) }
        writer.endInput()
        _ = await writer.outcome()
        try FileManager.default.removeItem(atPath: live)
        return path(name)
    }

    /// A database with the journal of a program that was killed while it wrote.
    func databaseWithJournal(_ name: String = "torn.db", rawKey: RawKey) async throws -> String {
        let live = try await encryptedDatabase("live.db", rawKey: rawKey)
        // The cache is too small for the transaction: pages reach the file before it ends.
        let writer = try await StockShell(path: live, rawKey: rawKey)
            .holding(
                """
                PRAGMA cache_size = 2; BEGIN; UPDATE book SET title = title || ' (second edition)', \
                cover = zeroblob(200);
                """
            )
        for ending in ["", "-journal"] { try copy("live.db" + ending, to: name + ending) }
        writer.endInput()
        _ = await writer.outcome()
        try FileManager.default.removeItem(atPath: live)
        return path(name)
    }
}
