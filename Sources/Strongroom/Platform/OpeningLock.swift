import Foundation

/// A lock between processes, under which one of them creates and sets up a shared database.
///
/// On Apple's platforms it is a file coordinator, which applications and their extensions share already. Elsewhere it
/// is an advisory lock on a file beside the database. The system releases it when a process ends for any reason.
enum OpeningLock {
    enum Purpose {
        case writing, reading
    }

    #if canImport(Darwin)
    static func hold<T>(for purpose: Purpose, at path: String, _ body: () throws -> T) throws -> T {
        let coordinator = NSFileCoordinator(filePresenter: nil)
        let url = URL(fileURLWithPath: path)
        var result: Result<T, any Error>?
        var failure: NSError?
        // The coordinator may know the file under another URL, but SQLite's sidecars belong to the given path.
        switch purpose {
        case .writing:
            coordinator.coordinate(writingItemAt: url, options: .forMerging, error: &failure) { _ in
                result = Result(catching: body)
            }
        case .reading:
            coordinator.coordinate(readingItemAt: url, options: .withoutChanges, error: &failure) { _ in
                result = Result(catching: body)
            }
        }
        if let result { return try result.get() }
        throw failure ?? CocoaError(.fileReadUnknown)
    }
    #else
    /// Returns the path of the lock file. It is never removed: with two files, two processes would both hold a lock.
    static func lockFile(of path: String) -> String { path + "-lock" }

    static func hold<T>(for purpose: Purpose, at path: String, _ body: () throws -> T) throws -> T {
        let file = lockFile(of: DatabaseFile.realPath(path))
        guard let descriptor = try open(file, for: purpose) else { return try body() }
        defer { close(descriptor) }
        while flock(descriptor, purpose == .writing ? LOCK_EX : LOCK_SH) != 0 {
            guard errno == EINTR else { throw failure("lock", file, errno) }
        }
        return try body()
    }

    /// Opens the lock file. Nil if a reader can't create it and no writer has created it.
    private static func open(_ file: String, for purpose: Purpose) throws -> CInt? {
        // A lock only needs read access, and another user may have created the file.
        let flags = O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC
        var descriptor = Foundation.open(file, flags | O_CREAT, 0o644)
        if descriptor < 0, purpose == .reading, [EACCES, EROFS, ENOENT].contains(errno) {
            descriptor = Foundation.open(file, flags)
            if descriptor < 0, errno == ENOENT { return nil }
        }
        guard descriptor >= 0 else { throw failure("open", file, errno) }
        return descriptor
    }

    private static func failure(_ verb: String, _ file: String, _ number: CInt) -> DatabaseError {
        DatabaseError(
            resultCode: .SQLITE_CANTOPEN,
            message: "can't \(verb) the lock file \(file): \(String(cString: strerror(number)))")
    }
    #endif
}
