import CStrongroomReplica

/// A database file with SQLite's locks, and the index of its log.
final class DatabaseLocks {
    private let file: OpaquePointer
    private(set) var mark: Int32 = -1
    private(set) var isShared = false

    /// Opens the file. Returns nil if there is none.
    init?(path: String) throws {
        var file: OpaquePointer?
        let result = replica_file_open(path, &file)
        guard result == SQLITE_OK, let file else {
            if Files.status(path) == nil { return nil }
            throw Self.failure(path, result, "the database can't be opened")
        }
        self.file = file
    }

    deinit {
        // SQLite expects it before the index is unmapped.
        replica_mark_release(file, mark)
        replica_file_close(file)
    }

    static func failure(_ path: String, _ result: Int32, _ problem: String) -> ReplicaError {
        let text = String(cString: sqlite3_errstr(result))
        return ReplicaError(
            .unreadable, path,
            "\(problem) (\(text), \(result)). The replicator needs to read and write it and its folder, for locks.")
    }

    /// Returns false if another connection is writing.
    func share() throws -> Bool {
        let result = replica_file_share(file)
        if result == SQLITE_BUSY { return false }
        guard result == SQLITE_OK else { throw Self.failure("the database", result, "it can't be locked") }
        isShared = true
        return true
    }

    func unshare() {
        replica_file_unshare(file)
        isShared = false
    }

    var isReserved: Bool {
        var reserved = false
        return replica_file_is_reserved(file, &reserved) == SQLITE_OK && reserved
    }

    func size() throws -> Int64 {
        var size: Int64 = 0
        let result = replica_file_size(file, &size)
        guard result == SQLITE_OK else { throw Self.failure("the database", result, "its size can't be read") }
        return size
    }

    /// Reads a page. What is past the end of the file is zero.
    func read(_ page: UInt32, into bytes: UnsafeMutableRawBufferPointer) throws {
        let offset = Int64(page - 1) * Int64(bytes.count)
        let result = replica_file_read(file, bytes.baseAddress, Int32(bytes.count), offset)
        let isShort = result & 0xff == SQLITE_IOERR && result >> 8 == 2
        guard result == SQLITE_OK || isShort else {
            throw Self.failure("the database", result, "page \(page) can't be read")
        }
    }

    // MARK: The log

    func mapIndex() throws {
        let result = replica_index_map(file)
        guard result == SQLITE_OK else { throw Self.failure("the database", result, "its -shm can't be mapped") }
    }

    /// Returns nil while the index is being written, or if it must be recovered.
    func index() -> replica_index? {
        var index = replica_index()
        return replica_index_read(file, &index) ? index : nil
    }

    /// Takes a read mark that keeps the log from beginning anew. Returns false if there is none now.
    func markLog(_ index: replica_index) throws -> Bool {
        guard mark <= 0 else { return true }
        var index = index, taken: Int32 = -1
        let result = replica_mark_take(file, &index, &taken)
        if result == SQLITE_BUSY { return false }
        guard result == SQLITE_OK else { throw Self.failure("the database", result, "its log can't be locked") }
        replica_mark_release(file, mark)
        mark = taken
        return true
    }

    /// Takes the mark with which the log can begin anew, if all frames are in the database file.
    func markMoved(_ index: replica_index) -> Bool {
        var index = index
        guard mark != 0, replica_mark_take_zero(file, &index) == SQLITE_OK else { return mark == 0 }
        replica_mark_release(file, mark)
        mark = 0
        return true
    }

    /// Cuts off what the log has beyond `size`, if no connection uses it now. The mark without a log must be held.
    func cutLog(_ index: replica_index, _ descriptor: Int32, to size: Int64) throws {
        var index = index
        let result = replica_log_cut(file, &index, descriptor, size)
        guard result == SQLITE_OK || result & 0xff == SQLITE_BUSY else {
            throw Self.failure("the database", result, "its log can't be cut")
        }
    }

    // MARK: Changes

    /// Locks out all other connections. Returns false if one has the file open.
    func exclude() throws -> Bool {
        let result = replica_file_exclude(file)
        if result & 0xff == SQLITE_BUSY { return false }
        guard result == SQLITE_OK else { throw Self.failure("the database", result, "it can't be locked") }
        return true
    }

    func write(_ page: UInt32, _ bytes: UnsafeRawBufferPointer) throws {
        let offset = Int64(page - 1) * Int64(bytes.count)
        try change(replica_file_write(file, bytes.baseAddress, Int32(bytes.count), offset))
    }

    func resize(to size: Int64) throws { try change(replica_file_resize(file, size)) }
    func sync() throws { try change(replica_file_sync(file)) }

    private func change(_ result: Int32) throws {
        guard result != SQLITE_FULL else { throw Files.failure("the database", "it can't be written", ENOSPC) }
        guard result == SQLITE_OK else { throw Self.failure("the database", result, "it can't be written") }
    }
}

/// A connection without a key, for what SQLite does without looking into pages.
final class KeylessConnection {
    private let connection: OpaquePointer

    /// Recovers the log, or rolls a hot journal back. Returns nil while another connection is busy.
    init?(path: String, pageSize: UInt32) throws {
        var connection: OpaquePointer?
        let result = replica_keyless_open(path, pageSize, &connection)
        guard result == SQLITE_OK, let connection else {
            if [SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL].contains(result) { return nil }
            throw DatabaseLocks.failure(path, result, "it can't be recovered")
        }
        self.connection = connection
    }

    deinit { replica_keyless_close(connection) }

    func checkpoint() throws {
        let result = replica_keyless_checkpoint(connection)
        guard result == SQLITE_OK || result == SQLITE_LOCKED else {
            throw DatabaseLocks.failure("the database", result, "its log can't be moved")
        }
    }
}
