import CStrongroom

/// The authentication of every page of a database as its readers see it: from the write-ahead log if it has the page,
/// else from the file.
///
/// The connection should hold a read transaction, so that the log isn't overwritten meanwhile. Checkpoints may run.
struct PageAuthentication {
    private let database: Database
    private let format: PageFormat
    private let isWAL: Bool

    init(_ database: Database) throws {
        self.database = database
        format = try PageFormat(database.cipher.derived!, header: database.cipher.header)
        isWAL = try database.log.isUsed
    }

    /// Returns the numbers of the pages that SQLCipher did not write with the key, in order.
    func badPages(progress: ((EncryptionProgress) throws -> Void)? = nil) throws -> [Int] {
        try database.readOnly {
            try database.beginTransaction(.deferred)
            defer { try? database.rollback() }
            try database.readSchema()
            return try check(progress)
        }
    }

    private func check(_ progress: ((EncryptionProgress) throws -> Void)?) throws -> [Int] {
        let total = try database.pageCount
        // A damaged log may claim any number of pages: memory is only allocated for pages that exist.
        let present = try min(total, database.pagesInFiles(of: format.pageSize))
        let log = isWAL ? try LogIndex(database, pageSize: format.pageSize, pageCount: present) : LogIndex()
        var bad: [Int] = []
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: format.pageSize, alignment: 8)
        defer { page.deallocate() }
        for number in stride(from: 1, through: present, by: 1) where number != format.lockBytePage {
            if try !isAuthentic(number, log, page) { bad.append(number) }
            if number % 1024 == 0 {
                try progress?(EncryptionProgress(completedPageCount: number, totalPageCount: total, phase: .checking))
            }
        }
        if present < total { bad.append(present + 1) }
        return bad
    }

    private func isAuthentic(_ number: Int, _ log: LogIndex, _ page: UnsafeMutableRawBufferPointer) throws -> Bool {
        if let offset = log.offset(of: number) {
            let code = strongroom_log_read(database.sqliteConnection, page.baseAddress, CInt(page.count), offset)
            if code == 0, format.isAuthentic(UnsafeRawBufferPointer(page), number: number) { return true }
            // A log whose pages are all in the file may be restarted at any time. Otherwise readers get this page.
            if try log.isCurrent(number, in: database) { return false }
        }
        // A checkpoint may be writing the page: only a page that stays bad is bad.
        for _ in 0..<3 {
            let code = strongroom_database_read(
                database.sqliteConnection, "main", page.baseAddress, CInt(page.count), format.offset(of: number))
            if code == 0, format.isAuthentic(UnsafeRawBufferPointer(page), number: number) { return true }
        }
        return false
    }
}

extension Database {
    /// Returns the greatest number of pages that the file and its log can contain, including the one that SQLite never
    /// writes.
    fileprivate func pagesInFiles(of pageSize: Int) throws -> Int {
        var logSize: Int64 = 0
        try check(strongroom_log_size(openConnection, &logSize))
        return try Int(fileSize() / Int64(pageSize) + logSize / Int64(pageSize)) + 1
    }
}

/// The offsets of the newest committed pages in the write-ahead log. <https://www.sqlite.org/walformat.html>
final class LogIndex {
    private var index = strongroom_log_index()
    private let pageSize: CInt

    /// Creates the index of a database without a log.
    init() { pageSize = 0 }

    init(_ database: Database, pageSize: Int, pageCount: Int) throws {
        self.pageSize = CInt(pageSize)
        try database.check(strongroom_log_index_read(database.openConnection, self.pageSize, UInt32(pageCount), &index))
    }

    deinit {
        strongroom_log_index_free(&index)
    }

    /// Returns the offset of a page in the log. Nil if it isn't there.
    func offset(of number: Int) -> Int64? {
        let frame = strongroom_log_index_frame(&index, UInt32(number))
        return frame == 0 ? nil : strongroom_frame_offset(frame, pageSize)
    }

    /// Returns true if the frame of a page is still the one in the index.
    func isCurrent(_ number: Int, in database: Database) throws -> Bool {
        var isCurrent = false
        try database.check(
            strongroom_log_index_is_current(database.openConnection, &index, pageSize, UInt32(number), &isCurrent))
        return isCurrent
    }
}
