/// An exclusive lock of a file, which ends with the object or the process. Processes see it, and so do other locks in
/// this one.
final class FileLock {
    private let descriptor: Int32

    /// Locks the file at `path`, which is made if it is absent.
    ///
    /// - throws: `busy` if the file is locked already.
    init(_ path: String, busy: @autoclosure () -> ReplicaError) throws {
        descriptor = try Files.open(path, O_RDWR | O_CREAT | O_NOFOLLOW)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw busy() }
    }

    deinit {
        // A process that is being started has a copy of the descriptor for a moment, which would keep the lock.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}
