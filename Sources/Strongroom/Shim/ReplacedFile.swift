import CStrongroom

/// The names of a database that another one replaces: `strongroom_replacing.h`. A result other than zero is an errno.
enum ReplacedFile {
    /// Returns the number of a regular file in its file system. 0 if there is nothing with the name, -1 for a symbolic
    /// link, a folder, a FIFO, a device, or a socket.
    static func number(_ path: String) -> Int64 { strongroom_file_number(path) }

    /// Returns true if files that this process makes can have the owner of the file.
    static func canGiveOwner(of path: String) -> Bool { strongroom_file_can_give_owner(path) }

    /// Gives a file a second name. Returns `EEXIST` if it is taken.
    static func link(_ from: String, to path: String) -> CInt { strongroom_file_link(from, path) }

    /// Returns true if the file system doesn't have second names, and the error is about that.
    static func cannotLink(_ error: CInt) -> Bool { strongroom_file_cannot_link(error) }

    /// Renames a file, and replaces what has the name.
    static func rename(_ from: String, to path: String) -> CInt { strongroom_file_rename(from, path) }

    /// Removes a name, if there is one, without syncing its folder.
    static func unlink(_ path: String) -> CInt { strongroom_file_unlink(path) }

    /// Writes the name of a file to the disk.
    static func syncFolder(of path: String) -> CInt { strongroom_file_sync_folder(path) }
}

extension StagedCopy {
    /// The name of the file that keeps a folder from being swept, as long as a file with the name that is its content
    /// stands beside the folder.
    static var mark: String { STRONGROOM_REPLACING_MARK }

    /// Locks the folder that a killed process has left. Returns a descriptor, or a negated errno: `EBUSY` while its
    /// process runs.
    static func holdFolder(_ path: String) -> CInt { strongroom_staging_hold(path) }

    /// Unlocks the folder, which stays.
    static func leaveFolder(_ descriptor: CInt) { strongroom_staging_leave(descriptor) }
}

/// A file that is being written, and that only its owner can read. A result other than zero is an errno.
final class StagedFile {
    private var descriptor: CInt
    private var end: Int64 = 0
    /// The error of the creation, or 0.
    let error: CInt

    init(_ path: String) {
        descriptor = strongroom_staged_create(path)
        error = descriptor < 0 ? -descriptor : 0
    }

    deinit { if descriptor >= 0 { _ = strongroom_staged_finish(descriptor) } }

    /// Writes `bytes` at the end.
    func writeAtEnd(_ bytes: UnsafeRawBufferPointer) -> CInt {
        let error = strongroom_staged_write(descriptor, bytes.baseAddress, bytes.count, end)
        end += Int64(bytes.count)
        return error
    }

    /// Writes the file to the disk, and closes it.
    func finish() -> CInt {
        defer { descriptor = -1 }
        return strongroom_staged_finish(descriptor)
    }
}

extension RawConnection {
    /// Locks the main database as SQLite does, without reading it: against writers, or against all other connections.
    /// Returns a result code: `SQLITE_BUSY`, or `SQLITE_READONLY` if this process may not write the file. The lock ends
    /// with the connection.
    func lockFile(exclusively: Bool) -> CInt { strongroom_database_lock(pointer, exclusively) }
}
