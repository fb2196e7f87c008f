import CSQLCipher
import CStrongroom

// The pages of an open database, in its file and in its log: `strongroom_pages.h`. All functions with a `CInt` return a
// result code.

// MARK: - The connection's own files. Closing another descriptor of the database would release this process's locks.

extension RawConnection {
    /// Sets the size of the main file. Zero bytes for a database without a file.
    func fileSize(of schema: String, _ size: inout Int64) -> CInt { strongroom_database_size(pointer, schema, &size) }

    /// Reads the main file. Fails with `SQLITE_IOERR_SHORT_READ` past the end.
    func readFile(of schema: String, at offset: Int64, into bytes: UnsafeMutableRawBufferPointer) -> CInt {
        strongroom_database_read(pointer, schema, bytes.baseAddress, CInt(bytes.count), offset)
    }

    /// Sets the size of the main database's write-ahead log. Zero bytes without one.
    func logSize(_ size: inout Int64) -> CInt { strongroom_log_size(pointer, &size) }

    /// Reads the log. Fails with `SQLITE_IOERR_SHORT_READ` past the end.
    func readLog(at offset: Int64, into bytes: UnsafeMutableRawBufferPointer) -> CInt {
        strongroom_log_read(pointer, bytes.baseAddress, CInt(bytes.count), offset)
    }

    /// Returns true if the connection has read or written a page of a file, or for databases in memory of any.
    func hasUsedPages(inMemory: Bool) -> Bool { strongroom_has_used_pages(pointer, inMemory) }
}

/// The frame of the newest committed version of each page in the log. To be freed if it was read.
struct RawLogIndex {
    private var index = strongroom_log_index()

    /// Indexes the first `pages` pages. Empty without a log.
    mutating func read(_ connection: RawConnection, pageSize: CInt, pages: UInt32) -> CInt {
        strongroom_log_index_read(connection.pointer, pageSize, pages, &index)
    }

    mutating func free() { strongroom_log_index_free(&index) }

    /// Returns the frame of a page, from 1. 0 if the page is not in the log.
    func frame(of page: UInt32) -> UInt32 { withUnsafePointer(to: index) { strongroom_log_index_frame($0, page) } }

    /// Sets `isCurrent` to true if the frame of a page is still the one in the index.
    func check(_ connection: RawConnection, pageSize: CInt, page: UInt32, isCurrent: inout Bool) -> CInt {
        withUnsafePointer(to: index) {
            strongroom_log_index_is_current(connection.pointer, $0, pageSize, page, &isCurrent)
        }
    }

    /// Returns the offset of a frame's page in the log.
    static func offset(of frame: UInt32, pageSize: CInt) -> Int64 { strongroom_frame_offset(frame, pageSize) }
}

/// SQLCipher's page format with its keys, in memory that belongs to the caller.
struct RawPageFormat {
    let pointer: UnsafePointer<strongroom_page_format>

    /// The number of bytes that the format needs.
    static var size: Int { MemoryLayout<strongroom_page_format>.size }

    /// Uses memory that ``write(into:key:hmacKey:digest:pageSize:header:)`` has filled.
    init(_ bytes: UnsafeRawBufferPointer) {
        pointer = bytes.baseAddress!.assumingMemoryBound(to: strongroom_page_format.self)
    }

    /// Fills memory with a format.
    ///
    /// - parameter digest: the digest of the pages' HMAC, or 0 where they have none.
    /// - parameter header: the bytes of page 1 that are not encrypted: the salt, or a plaintext header.
    static func write(
        into bytes: UnsafeMutableRawBufferPointer, key: UnsafeRawBufferPointer, hmacKey: UnsafeRawBufferPointer,
        digest: Int, pageSize: Int, header: Int
    ) {
        let format = bytes.baseAddress!.bindMemory(to: strongroom_page_format.self, capacity: 1)
        withUnsafeMutableBytes(of: &format.pointee.key) { $0.copyBytes(from: key) }
        withUnsafeMutableBytes(of: &format.pointee.hmac_key) { $0.copyBytes(from: hmacKey) }
        format.pointee.hmac_digest = CInt(digest)
        format.pointee.page_size = CInt(pageSize)
        format.pointee.header = CInt(header)
    }

    /// Returns the reserve of each page in bytes: the initialization vector, the HMAC, and padding to the cipher's
    /// block.
    static func reserve(digest: Int) -> Int { Int(strongroom_page_reserve(CInt(digest))) }

    /// Returns true if the HMAC of the page fits, or it is not the first page and all bytes are zero, as in an unused
    /// page that was never written.
    /// Without HMAC, only page 1 can be checked.
    func isAuthentic(_ page: UnsafeRawBufferPointer, number: Int) -> Bool {
        strongroom_page_is_authentic(pointer, page.baseAddress!.assumingMemoryBound(to: UInt8.self), UInt32(number))
    }

    /// Does the same for several pages, one after the other in memory. Without memory, none is authentic.
    func areAuthentic(_ pages: UnsafeRawBufferPointer, numbers: [UInt32], into authentic: UnsafeMutablePointer<Bool>?) {
        strongroom_pages_are_authentic(
            pointer, pages.baseAddress?.assumingMemoryBound(to: UInt8.self), numbers, CInt(numbers.count), authentic)
    }

    /// Returns true if page 1, authentic or not, decrypts to a SQLite header: the key is right even if the salt isn't.
    /// Not for plaintext headers.
    func decrypts(_ page: UnsafeRawBufferPointer) -> Bool {
        strongroom_page_decrypts(pointer, page.baseAddress!.assumingMemoryBound(to: UInt8.self))
    }

    /// Decrypts the first `length` bytes of a page, authentic or not, into memory for a page. Page 1 begins with
    /// SQLite's magic, and zeros take the place of the reserve.
    func decrypt(
        _ page: UnsafeRawBufferPointer, number: Int, length: Int, into clear: UnsafeMutableRawBufferPointer
    ) -> Bool {
        strongroom_page_decrypt(
            pointer, page.baseAddress!.assumingMemoryBound(to: UInt8.self), UInt32(number), CInt(length),
            clear.baseAddress!.assumingMemoryBound(to: UInt8.self))
    }

    /// Returns true if page 1 indicates WAL mode.
    func usesLog(_ page: UnsafeRawBufferPointer) -> Bool {
        strongroom_page_uses_log(pointer, page.baseAddress!.assumingMemoryBound(to: UInt8.self))
    }
}

/// The gate, which prevents reads before the key is proved: SQLite can't lock the file of the main database.
struct ReadGate {
    private let pointer: OpaquePointer?

    /// Closes the gate. Nil without memory.
    init?(_ connection: RawConnection) {
        guard let gate = strongroom_gate_close(connection.pointer) else { return nil }
        pointer = gate
    }

    func open() { strongroom_gate_open(pointer) }
}

/// The transactions in the write-ahead log.
enum LogTransactions {
    typealias Check = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<UInt8>?, CInt, UInt32) -> Bool

    /// Returns true if the log has transactions that recovery would apply, and the function accepts a page of none of
    /// them. It is called with the last page of each, until it accepts one.
    static func areForeign(_ database: String, _ check: @escaping Check, _ context: UnsafeMutableRawPointer?) -> Bool {
        strongroom_log_is_foreign(database, check, context)
    }
}

/// Copies of page 1 beside the main file.
enum FirstPage {
    typealias Check = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<UInt8>?, CInt) -> Bool

    /// Calls a function with each copy of page 1 in the write-ahead log and the rollback journal, until it accepts one.
    /// Reads both directly: SQLite's locks are not on these files. Returns true without memory, when nothing is known.
    static func isElsewhere(_ database: String, _ check: @escaping Check, _ context: UnsafeMutableRawPointer?) -> Bool {
        strongroom_first_page_elsewhere(database, check, context)
    }

    /// Returns true if the rollback journal is that of a transaction that creates the database: rolled back, it leaves
    /// no page.
    static func isCreatedByJournal(_ database: String) -> Bool { strongroom_journal_creates(database) }
}
