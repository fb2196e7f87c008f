import Foundation
import Strongroom

/// A folder that keeps the key of the notes, and a new one while it takes over. A keychain would do as well.
struct KeyStore {
    let folder: String

    /// Opens a database with the key that it has.
    ///
    /// A program that was killed while it renewed its key has two. The database tells which one counts.
    func open<Database>(_ open: (DatabaseKey) throws -> Database) throws -> Database {
        let current = try key("current") ?? makeFirstKey()
        do {
            let database = try open(current)
            try removePending()
            return database
        } catch let error as DatabaseError where error.isWrongKeyError {
            guard let pending = try key("pending") else { throw error }
            let database = try open(pending)
            try confirmPending()
            return database
        }
    }

    /// Keeps a key that is about to take over. One that nobody has settled is never replaced.
    func storePending(_ key: DatabaseKey) throws { try write(key, "pending") }

    /// Makes the pending key the current one, in one step.
    func confirmPending() throws {
        try check(rename(path("pending"), path("current")), "pending")
        try syncFolder()
    }

    func removePending() throws {
        if unlink(path("pending")) != 0, errno != ENOENT { try check(-1, "pending") }
    }

    /// Keeps other processes from the keys until the handle is closed, or this process gone.
    func lock() throws -> FileHandle {
        let descriptor = try check(Foundation.open(path("lock"), O_RDWR | O_CREAT | O_CLOEXEC, 0o600), "lock")
        let handle = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        try check(flock(descriptor, LOCK_EX), "lock")
        return handle
    }

    // MARK: - Files

    private func makeFirstKey() throws -> DatabaseKey {
        let key = try DatabaseKey.random()
        try write(key, "current")
        return key
    }

    /// Nil where there is none. What can't be read is an error: a program that made another key would lose this one.
    private func key(_ name: String) throws -> DatabaseKey? {
        guard access(path(name), F_OK) == 0 || errno != ENOENT else { return nil }
        return try .rawKey(Data(contentsOf: URL(fileURLWithPath: path(name))))
    }

    /// Returns when the key would survive a power cut.
    private func write(_ key: DatabaseKey, _ name: String) throws {
        let descriptor = try check(Foundation.open(path(name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600), name)
        defer { close(descriptor) }
        let count = try key.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
        try check(count == 32 ? 0 : -1, name)
        try check(fsync(descriptor), name)
        try syncFolder()
    }

    private func syncFolder() throws {
        let descriptor = try check(Foundation.open(folder, O_RDONLY | O_CLOEXEC), "")
        defer { close(descriptor) }
        try check(fsync(descriptor), "")
    }

    private func path(_ name: String) -> String { folder + "/" + name }

    @discardableResult
    private func check(_ result: Int32, _ name: String) throws -> Int32 {
        guard result >= 0 else {
            let reason = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            throw CocoaError(.fileWriteUnknown, userInfo: [
                NSFilePathErrorKey: path(name), NSUnderlyingErrorKey: reason,
            ])
        }
        return result
    }
}
