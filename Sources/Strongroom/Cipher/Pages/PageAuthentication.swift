import CSQLCipher
import Dispatch

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

    /// Returns the numbers of the pages that SQLCipher did not write with the key, in order. Unused pages that were
    /// never written are not among them.
    func badPages(progress: ((EncryptionProgress) throws -> Void)? = nil) throws -> [Int] {
        try authenticate(.all, progress).bad
    }

    /// Authenticates a selection of pages.
    func authenticate(
        _ selection: PageSelection, _ progress: ((EncryptionProgress) throws -> Void)?
    ) throws -> AuthenticatedPages {
        try database.readOnly {
            try database.beginTransaction(.deferred)
            defer { try? database.rollback() }
            try database.readSchema()
            return try check(selection, progress)
        }
    }

    private func check(
        _ selection: PageSelection, _ progress: ((EncryptionProgress) throws -> Void)?
    ) throws -> AuthenticatedPages {
        let total = try database.pageCount, present = try presentPageCount()
        let log = try logIndex(pageCount: present)
        var batch = PageBatch(format), next = PageBatch(format), result = AuthenticatedPages(), read = 0
        var empty: [Int] = []
        func fill(_ batch: PageBatch) {
            var numbers: [Int] = []
            while numbers.count < batch.capacity, read < present {
                read += 1
                if read == format.lockBytePage {
                    if selection.needsMarks { result.marks.append(0) }
                    continue
                }
                let mark = selection.needsMarks ? self.mark(read, log) : nil
                if let mark { result.marks.append(mark) }
                if selection.contains(read, mark: mark) { numbers.append(read) }
            }
            batch.fill(numbers) { self.read($0, log, into: $1) }
        }
        fill(batch)
        while let last = batch.numbers.last {
            empty += batch.empty
            for number in batch.suspects(while: { fill(next) })
            where try !isAuthentic(number, log, batch[0]) {
                result.bad.append(number)
            }
            result.count += batch.numbers.count
            try progress?(EncryptionProgress(completedPageCount: last, totalPageCount: total, phase: .checking))
            swap(&batch, &next)
        }
        // Pages may have been written since.
        empty = try empty.filter {
            try readCurrent($0, log, into: batch[0]) && UnsafeRawBufferPointer(batch[0]).isZero
        }
        if !empty.isEmpty {
            // SQLite skips unused pages when it extends a file.
            let unused = try freeList(log).leaves(where: Set(empty).contains)
            result.bad = Set(empty).subtracting(unused).union(result.bad).sorted()
        }
        if present < total { result.bad.append(present + 1) }
        for number in result.bad { result.marks.forget(number) }
        return result
    }

    /// Returns true if the file has zeros in the place of an unused page.
    func hasUnwrittenPage() throws -> Bool {
        try database.readOnly {
            try database.beginTransaction(.deferred)
            defer { try? database.rollback() }
            let log = try logIndex(pageCount: presentPageCount())
            let page = UnsafeMutableRawBufferPointer.allocate(byteCount: format.pageSize, alignment: 8)
            defer { page.deallocate() }
            return try !freeList(log).leaves {
                try readCurrent($0, log, into: page) && UnsafeRawBufferPointer(page).isZero
            }.isEmpty
        }
    }

    /// A damaged log may claim any number of pages: memory is only allocated for pages that exist.
    private func presentPageCount() throws -> Int {
        try min(database.pageCount, database.pagesInFiles(of: format.pageSize))
    }

    private func logIndex(pageCount: Int) throws -> LogIndex {
        isWAL ? try LogIndex(database, pageSize: format.pageSize, pageCount: pageCount) : LogIndex()
    }

    private func freeList(_ log: LogIndex) -> FreeList {
        FreeList(format: format) { try readCurrent($0, log, into: $1) }
    }

    /// Returns the mark of a page: the first bytes of its HMAC. Zero if it can't be read.
    private func mark(_ number: Int, _ log: LogIndex) -> UInt64 {
        var mark: UInt64 = 0
        let offset = Int64(format.pageSize - format.reserve + 16)
        let isRead = withUnsafeMutableBytes(of: &mark) { bytes in
            if let frame = log.offset(of: number) {
                return database.raw.readLog(at: frame + offset, into: bytes) == SQLITE_OK
            }
            let place = format.offset(of: number) + offset
            return database.raw.readFile(of: "main", at: place, into: bytes) == SQLITE_OK
        }
        return isRead ? mark : 0
    }

    /// Reads a page from where the index has it. Returns false if it can't be read.
    private func read(_ number: Int, _ log: LogIndex, into page: UnsafeMutableRawBufferPointer) -> Bool {
        guard let offset = log.offset(of: number) else { return readFromFile(number, into: page) }
        return database.raw.readLog(at: offset, into: page) == SQLITE_OK
    }

    /// Reads a page from where readers find it by now: a log whose pages are all in the file may be restarted at any
    /// time.
    private func readCurrent(
        _ number: Int, _ log: LogIndex, into page: UnsafeMutableRawBufferPointer
    ) throws -> Bool {
        guard log.offset(of: number) != nil else { return readFromFile(number, into: page) }
        let isRead = read(number, log, into: page)
        return try log.isCurrent(number, in: database) ? isRead : readFromFile(number, into: page)
    }

    private func readFromFile(_ number: Int, into page: UnsafeMutableRawBufferPointer) -> Bool {
        database.raw.readFile(of: "main", at: format.offset(of: number), into: page) == SQLITE_OK
    }

    /// Returns true if the page is authentic where readers find it by now.
    private func isAuthentic(_ number: Int, _ log: LogIndex, _ page: UnsafeMutableRawBufferPointer) throws -> Bool {
        if log.offset(of: number) != nil {
            if read(number, log, into: page), format.isAuthentic(UnsafeRawBufferPointer(page), number: number) {
                return true
            }
            // A log whose pages are all in the file may be restarted at any time. Otherwise readers get this page.
            if try log.isCurrent(number, in: database) { return false }
        }
        // A checkpoint may be writing the page: only a page that stays bad is bad.
        for _ in 0..<3 where readFromFile(number, into: page) {
            if format.isAuthentic(UnsafeRawBufferPointer(page), number: number) { return true }
        }
        return false
    }
}

/// Pages that are read one after the other, and authenticated on all processors.
///
/// Unchecked Sendable: nothing is written while several threads use it.
private final class PageBatch: @unchecked Sendable {
    /// The greatest number of pages.
    let capacity: Int

    private(set) var numbers: [Int] = []
    private let format: PageFormat
    private let bytes: UnsafeMutableRawBufferPointer
    private var unread: [Int] = []

    init(_ format: PageFormat) {
        self.format = format
        capacity = max(16, (1 << 20) / format.pageSize)
        bytes = .allocate(byteCount: capacity * format.pageSize, alignment: 8)
    }

    deinit { bytes.deallocate() }

    subscript(place: Int) -> UnsafeMutableRawBufferPointer {
        .init(rebasing: bytes[place * format.pageSize..<(place + 1) * format.pageSize])
    }

    /// Replaces the pages. `read` returns false if it can't read one.
    func fill(_ numbers: [Int], read: (Int, UnsafeMutableRawBufferPointer) -> Bool) {
        self.numbers = numbers
        unread = zip(0..., numbers).filter { !read($1, self[$0]) }.map(\.1)
    }

    /// The numbers of the pages that were read, and consist of zeros.
    var empty: [Int] {
        numbers.indices.filter { UnsafeRawBufferPointer(self[$0]).isZero }.map { numbers[$0] }
            .filter { !unread.contains($0) }
    }

    /// Returns the numbers of the pages that are not authentic as they were read, or could not be read, in order. Calls
    /// `body` at the same time, on any thread: the thread with access to the connection waits meanwhile.
    func suspects(while body: () -> Void) -> [Int] {
        let share = 16, shares = (numbers.count + share - 1) / share
        // What can't be read may leave zeros in memory, which are authentic.
        let suspects = Mutex(unread)
        withoutActuallyEscaping(body) { body in
            // Called once.
            nonisolated(unsafe) let body = body
            DispatchQueue.concurrentPerform(iterations: 1 + shares) { [self] part in
                // The longest part first.
                if part == 0 { return body() }
                let found = forged((part - 1) * share..<min(numbers.count, part * share))
                if !found.isEmpty { suspects.withLock { $0 += found } }
            }
        }
        return Set(suspects.withLock { $0 }).sorted()
    }

    private func forged(_ places: Range<Int>) -> [Int] {
        let pages = bytes[places.lowerBound * format.pageSize..<places.upperBound * format.pageSize]
        let authentic = format.areAuthentic(UnsafeRawBufferPointer(rebasing: pages), numbers: numbers[places])
        return zip(numbers[places], authentic).filter { !$0.1 }.map(\.0)
    }
}

extension Database {
    /// Returns the greatest number of pages that the file and its log can contain, including the one that SQLite never
    /// writes.
    fileprivate func pagesInFiles(of pageSize: Int) throws -> Int {
        var logSize: Int64 = 0
        try check(RawConnection(openConnection).logSize(&logSize))
        return try Int(fileSize() / Int64(pageSize) + logSize / Int64(pageSize)) + 1
    }
}

/// The offsets of the newest committed pages in the write-ahead log. <https://www.sqlite.org/walformat.html>
final class LogIndex {
    private var index = RawLogIndex()
    private let pageSize: CInt

    /// Creates the index of a database without a log.
    init() { pageSize = 0 }

    init(_ database: Database, pageSize: Int, pageCount: Int) throws {
        self.pageSize = CInt(pageSize)
        let connection = try RawConnection(database.openConnection)
        try database.check(index.read(connection, pageSize: self.pageSize, pages: UInt32(pageCount)))
    }

    deinit {
        index.free()
    }

    /// Returns the offset of a page in the log. Nil if it isn't there.
    func offset(of number: Int) -> Int64? {
        let frame = index.frame(of: UInt32(number))
        return frame == 0 ? nil : RawLogIndex.offset(of: frame, pageSize: pageSize)
    }

    /// Returns true if the frame of a page is still the one in the index.
    func isCurrent(_ number: Int, in database: Database) throws -> Bool {
        var isCurrent = false
        let connection = try RawConnection(database.openConnection)
        try database.check(index.check(connection, pageSize: pageSize, page: UInt32(number), isCurrent: &isCurrent))
        return isCurrent
    }
}
