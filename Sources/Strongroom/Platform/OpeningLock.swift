import Dispatch
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
    static func hold<T>(
        for purpose: Purpose, at path: String, _ configuration: Configuration, _ body: () throws -> T
    ) throws -> T {
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
    static func lockFile(of path: String) -> String { CompanionFile.openingLock.path(of: path) }

    /// Waits as long as the configuration's busy mode allows. A suspension waits for the lock, and refuses it.
    ///
    /// - throws: `SQLITE_BUSY` with the process that has the lock; the error of a suspended database.
    static func hold<T>(
        for purpose: Purpose, at path: String, _ configuration: Configuration, _ body: () throws -> T
    ) throws -> T {
        let file = lockFile(of: DatabaseFile.realPath(path))
        guard let descriptor = try open(file, for: purpose) else { return try body() }
        let isHeld = Mutex(false), suspension = SuspendedLock(isHeld, configuration)
        defer {
            close(descriptor)
            suspension.end()
        }
        var wait = LockWait(configuration.busyMode)
        while true {
            // Before it is taken: a suspension that asks in between waits.
            isHeld.withLock { $0 = true }
            if configuration.observesSuspensionNotifications, Suspensions.shared.isSuspended {
                throw DatabaseError.suspended
            }
            if flock(descriptor, (purpose == .writing ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0 { return try body() }
            let number = errno
            isHeld.withLock { $0 = false }
            guard number == EINTR || number == EWOULDBLOCK else { throw failure("lock", file, number) }
            if !wait.next() { throw busy(file, descriptor) }
        }
    }

    /// The membership of the lock in what a suspension reaches.
    private final class SuspendedLock: Sendable {
        init(_ isHeld: Mutex<Bool>, _ configuration: Configuration) {
            let member = Suspensions.Member(
                followsNotifications: configuration.observesSuspensionNotifications,
                holdsLock: { isHeld.withLock { $0 } })
            Suspensions.shared.add(member, for: ObjectIdentifier(self))
        }

        func end() { Suspensions.shared.remove(ObjectIdentifier(self)) }
    }

    /// The tries of a busy mode.
    private struct LockWait {
        private let mode: Database.BusyMode
        private let start = DispatchTime.now().uptimeNanoseconds
        private var tries = 0

        init(_ mode: Database.BusyMode) { self.mode = mode }

        /// Waits for a moment. Returns false at the end.
        mutating func next() -> Bool {
            defer { tries += 1 }
            switch mode {
            case .immediateError: return false
            case .callback(let callback): return callback(tries)
            case .timeout(let seconds):
                let passed = Double(DispatchTime.now().uptimeNanoseconds - start) / 1e9
                guard passed < seconds else { return false }
                usleep(UInt32(min(25_000, 1000 << min(tries, 5))))
                return true
            }
        }
    }

    private static func busy(_ file: String, _ descriptor: CInt) -> DatabaseError {
        let holders = holders(of: descriptor)
        let who = holders.isEmpty ? "another process" : "process \(holders.joined(separator: ", "))"
        return DatabaseError(
            .SQLITE_BUSY, refusing: "\(who) opens the database, and has locked \(file)",
            advice: "try again, or look why it does not end")
    }

    /// Returns the processes that have the lock. Empty if they are unknown.
    /// <https://man7.org/linux/man-pages/man5/proc_locks.5.html>
    private static func holders(of descriptor: CInt) -> [String] {
        var status = stat()
        guard fstat(descriptor, &status) == 0, let locks = try? String(contentsOfFile: "/proc/locks", encoding: .utf8)
        else { return [] }
        return locks.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: " ")
            guard fields.count > 5, fields[1] == "FLOCK", fields[5].hasSuffix(":\(status.st_ino)") else { return nil }
            return String(fields[4])
        }
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
