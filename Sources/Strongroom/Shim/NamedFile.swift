import CSQLCipher
import CStrongroom
import Foundation

/// Files by their paths: `strongroom_files.h`. A result other than zero is an errno, or ``notAFile``.
enum NamedFile {
    /// The error for a symbolic link, a folder, a FIFO, a device, or a socket.
    static var notAFile: CInt { CInt(STRONGROOM_NOT_A_FILE) }

    // MARK: - Facts

    /// Returns true if there is anything with the name.
    static func exists(_ path: String) -> Bool { strongroom_file_exists(path) }

    /// Returns the size of a file without opening it. -1 if there is none, -2 for a directory.
    static func size(_ path: String) -> Int64 { strongroom_size_of_file(path) }

    /// Returns true if the name, with its symbolic links resolved, is that of a regular file: opening others could
    /// block.
    static func isRegular(_ path: String) -> Bool { strongroom_is_regular_file(path) }

    /// Returns true if users other than the owner and the group of a file may read it.
    static func isPublic(_ path: String) -> Bool { strongroom_file_is_public(path) }

    /// Returns the number of names of a file. 0 if there is none.
    static func linkCount(_ path: String) -> Int64 { strongroom_link_count(path) }

    /// Returns the free space beside a path, and the greatest file size of this process, in bytes. `Int64.max` if
    /// unknown.
    static func room(_ path: String) -> (free: Int64, largestFile: Int64) {
        var largest: Int64 = 0
        let free = strongroom_file_room(path, &largest)
        return (free, largest)
    }

    /// Returns the path beside which SQLite creates the sidecars of a database: absolute, with symbolic links resolved.
    /// Nil if they can't be resolved, if the path is not UTF-8, or without memory.
    static func realPath(_ path: String) -> String? {
        guard let real = strongroom_real_path(path) else { return nil }
        defer { sqlite3_free(real) }
        return String(validatingCString: real)
    }

    /// Returns the folder of a file.
    static func folder(of path: String) -> String {
        let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
        return slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    }

    /// Returns the last part of a path.
    static func name(of path: String) -> String {
        // A mark after the slash belongs to the name.
        path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[path.utf8.index(after: $0)...]) } ?? path
    }

    // MARK: - Reading and writing

    /// Reads a file into `bytes`. Returns the number of bytes, or a negated error. Never for a database that this
    /// process may have open.
    ///
    /// - parameter settled: true to wait for a process that writes the file, for five seconds before it returns
    ///   `EBUSY`.
    static func read(_ path: String, settled: Bool, into bytes: inout [UInt8]) -> CInt {
        strongroom_file_read(path, settled, &bytes, bytes.count)
    }

    /// Checks that this user may write the file, if there is one.
    static func requireWritable(_ path: String) -> CInt { strongroom_file_require_writable(path) }

    /// Writes `bytes` after the first `kept` bytes of a file, which is created if necessary with the owner and the mode
    /// of `model`. Returns `EAGAIN` if the file no longer contains `expected`. Data and directory entry are on the disk
    /// when it returns. After a failure the file is as before, or incomplete.
    static func extend(
        _ path: String, like model: String, expecting expected: [UInt8], keeping kept: Int, by bytes: [UInt8]
    ) -> CInt {
        strongroom_file_extend(path, model, expected, expected.count, kept, bytes, bytes.count)
    }

    /// Creates a complete file that only this user may read. Returns `EEXIST` if the name is taken. It is written under
    /// the name `partial`. Data and directory entry are on the disk when it returns.
    static func create(_ path: String, partial: String, _ bytes: UnsafeRawBufferPointer) -> CInt {
        strongroom_file_create(path, partial, bytes.baseAddress, bytes.count)
    }

    /// Removes a file, and syncs its folder.
    static func remove(_ path: String) -> CInt { strongroom_file_remove(path) }

    /// Removes a file. Returns `EAGAIN` if it no longer contains `expected`.
    static func remove(_ path: String, expecting expected: [UInt8]) -> CInt {
        strongroom_file_remove_if(path, expected, expected.count)
    }

    /// Replaces a file by another one, which was synced. Returns `EAGAIN` if it no longer contains `expected`.
    static func replace(_ path: String, expecting expected: [UInt8], by other: String) -> CInt {
        strongroom_file_replace_if(path, expected, expected.count, other)
    }

    /// Returns true if a regular file with the name belongs to this user.
    static func isOwn(_ path: String) -> Bool { strongroom_file_is_own(path) }

    /// Sets the permissions of a file, which must exist. Returns zero or an errno.
    static func setPermissions(_ path: String, _ permissions: UInt16) -> CInt {
        chmod(path, mode_t(permissions)) == 0 ? 0 : errno
    }

    /// Renames a file in one directory. Returns `EEXIST` if the name is taken. After a failure it has its former name.
    static func move(_ from: String, to path: String) -> CInt { strongroom_file_move(from, path) }

    /// Returns a descriptor that holds the lock of a file until it is closed, or a negated error: `EBUSY` if another
    /// process holds it for longer than the timeout. The file is created if necessary, with the owner and the mode of
    /// `model`, and is never removed.
    static func hold(_ path: String, like model: String, milliseconds: CInt) -> CInt {
        strongroom_file_hold(path, model, milliseconds)
    }
}

/// A file on which SQLite has no locks, open for reading: a log or a journal. `strongroom_files.h`.
final class UnlockedFile {
    let size: Int64
    private let descriptor: CInt

    /// Nil if there is no regular file with the name that can be read.
    init?(_ path: String) {
        var size: Int64 = 0
        descriptor = strongroom_unlocked_open(path, &size)
        self.size = size
        if descriptor < 0 { return nil }
    }

    deinit { strongroom_unlocked_close(descriptor) }

    /// Fills `bytes`. Returns false past the end, or after an error of the disk.
    func read(at offset: Int64, into bytes: UnsafeMutableRawBufferPointer) -> Bool {
        strongroom_unlocked_read(descriptor, bytes.baseAddress, Int64(bytes.count), offset) == Int64(bytes.count)
    }

    /// Returns the size, the time of modification and the inode of a file, which is not opened.
    static func state(of path: String) -> [Int64] {
        var state = [Int64](repeating: -1, count: 4)
        strongroom_file_state(path, &state)
        return state
    }
}

/// The file that takes the next content of another file, for one writer at a time: `strongroom_files.h`.
enum ScratchFile {
    /// Opens and locks the file. It has the owner and the mode of `model`. Returns a descriptor, or a negated error.
    /// Content that a killed process has left is discarded.
    static func open(_ path: String, like model: String) -> CInt { strongroom_scratch_open(path, model) }

    /// Writes, syncs and reads back the file, with the owner and the mode of `model`, and renames it to `target`, which
    /// it replaces. Returns zero or an errno. After a failure `target` is as before, unless the sync of the folder
    /// failed, which is the last step.
    static func publish(
        _ descriptor: CInt, _ path: String, as target: String, like model: String, _ bytes: [UInt8]
    ) -> CInt {
        strongroom_scratch_publish(descriptor, path, target, model, bytes, bytes.count)
    }

    /// Removes the file, unless it was renamed, and unlocks it.
    static func close(_ descriptor: CInt, _ path: String) { strongroom_scratch_close(descriptor, path) }

    /// Removes the file of a killed process. That of a change in progress stays.
    static func sweep(_ path: String) { strongroom_scratch_sweep(path) }
}

/// Folders and files of copies in progress: `strongroom_files.h`. A result other than zero is an errno.
enum StagedCopy {
    /// Creates a folder in `parent` that only its owner can open, and that is locked until the descriptor is closed.
    static func makeFolder(in parent: String) -> (error: CInt, path: String, descriptor: CInt) {
        var name = [CChar](repeating: 0, count: Int(PATH_MAX)), descriptor: CInt = -1
        let error = strongroom_staging_make(parent, &name, name.count, &descriptor)
        return (error, name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }, descriptor)
    }

    /// Renames the folder to `destination`, in the same parent. Returns `EEXIST` if the name is taken.
    static func publishFolder(_ path: String, as destination: String) -> CInt {
        strongroom_staging_publish(path, destination)
    }

    /// Locks a folder of this user and gives it a name of a folder in progress, which the next sweep removes. Returns
    /// `EBUSY` if another process has locked it.
    static func retireFolder(_ folder: String, in parent: String) -> (error: CInt, path: String, descriptor: CInt) {
        var name = [CChar](repeating: 0, count: Int(PATH_MAX)), descriptor: CInt = -1
        let error = strongroom_staging_retire(folder, parent, &name, name.count, &descriptor)
        return (error, name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }, descriptor)
    }

    /// Releases the lock of a folder.
    static func closeFolder(_ descriptor: CInt) { close(descriptor) }

    /// Removes the folder and the files in it.
    static func removeFolder(_ path: String, _ descriptor: CInt) { strongroom_staging_remove(path, descriptor) }

    /// Removes the folders that killed processes have left, after a call of `willRemove` with each path.
    static func sweep(
        _ parent: String, willRemove: @escaping @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?) -> Void
    ) {
        strongroom_staging_sweep(parent, willRemove, nil)
    }

    /// Creates an empty file for a copy of `source`, which only its owner can read and write.
    static func create(_ path: String, of source: String?) -> CInt { strongroom_copy_create(path, source) }

    /// Sets the mode of a copy to that of `source`, and its owner and group if permitted. If the group can't be set,
    /// the group gets the permissions of all other users.
    static func takeMode(_ path: String, of source: String) -> CInt { strongroom_copy_take_mode(path, source) }

    /// Removes the permissions that `source` doesn't have.
    static func limitMode(_ path: String, of source: String) -> CInt { strongroom_copy_limit_mode(path, source) }
}
