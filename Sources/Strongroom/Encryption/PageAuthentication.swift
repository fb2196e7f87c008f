import CStrongroom

/// Authenticates every page of a database as its readers see it: from the write-ahead log where it has the page, else from the file.
///
/// The connection should hold a read transaction, so that the log isn't reused meanwhile; checkpoints may run.
struct PageAuthentication {
    private let database: Database
    private let format: PageFormat
    private let isWAL: Bool
    private let verifier: FrameVerifier?

    init(_ database: Database, verifier: FrameVerifier? = nil) throws {
        self.database = database
        self.verifier = verifier
        format = try PageFormat(database.cipher.derived!, header: database.cipher.header)
        isWAL = database.isWAL
    }

    /// The numbers of the pages that aren't what SQLCipher wrote under the key, in order.
    func badPages(progress: ((EncryptionProgress) throws -> Void)? = nil) throws -> [Int] {
        try database.readOnly {
            try database.beginTransaction(.deferred)
            defer { try? database.rollback() }
            try database.readSchema()
            return try check(progress)
        }
    }

    private func check(_ progress: ((EncryptionProgress) throws -> Void)?) throws -> [Int] {
        let log = isWAL ? try LogIndex(database, pageSize: format.pageSize) : LogIndex()
        let total = try pageCount()
        var bad: [Int] = []
        let page = UnsafeMutableRawBufferPointer.allocate(byteCount: format.pageSize, alignment: 8)
        defer { page.deallocate() }
        for number in stride(from: 1, through: total, by: 1) where number != format.lockBytePage {
            if try !isAuthentic(number, log, page) { bad.append(number) }
            if number % 1024 == 0 { try progress?(EncryptionProgress(completedPageCount: number, totalPageCount: total)) }
        }
        return bad
    }

    private func pageCount() throws -> Int {
        database.answer(to: "PRAGMA main.page_count").flatMap { Int($0) } ?? 0
    }

    private func isAuthentic(_ number: Int, _ log: LogIndex, _ page: UnsafeMutableRawBufferPointer) throws -> Bool {
        if let offset = log.offsets[number] {
            if verifier?.hasVerified(offset) == true { return true }
            let code = strongroom_log_read(database.sqliteConnection, page.baseAddress, CInt(page.count), offset)
            if code == 0, format.isAuthentic(UnsafeRawBufferPointer(page), number: number) { return true }
            // A log whose pages are all in the file may be begun anew at any moment; otherwise this is the page that readers get.
            if try log.isCurrent(number, in: database) { return false }
        }
        // A checkpoint may be writing the page at this moment: only a page that stays bad is bad.
        for _ in 0..<3 {
            let code = strongroom_database_read(
                database.sqliteConnection, "main", page.baseAddress, CInt(page.count), format.offset(of: number))
            if code == 0, format.isAuthentic(UnsafeRawBufferPointer(page), number: number) { return true }
        }
        return false
    }
}

/// Where the newest committed version of each page is in the write-ahead log. <https://www.sqlite.org/walformat.html>
struct LogIndex {
    private(set) var offsets: [Int: Int64] = [:]
    private var salts: [UInt8] = []
    private static let headerSize = 32, frameHeaderSize = 24

    init() {}

    init(_ database: Database, pageSize: Int) throws {
        var size: Int64 = 0
        try database.check(strongroom_log_size(database.openConnection, &size))
        guard size >= Int64(Self.headerSize) else { return }
        let header = try Self.read(database, Self.headerSize, at: 0)
        salts = Array(header[16..<24])
        var pending: [Int: Int64] = [:]
        var offset = Int64(Self.headerSize)
        while offset + Int64(Self.frameHeaderSize + pageSize) <= size {
            let frame = try Self.read(database, Self.frameHeaderSize, at: offset)
            guard frame[8..<16].elementsEqual(salts) else { break }
            pending[Self.number(frame, 0)] = offset + Int64(Self.frameHeaderSize)
            // A frame that commits says how large the database is.
            if Self.number(frame, 4) != 0 {
                offsets.merge(pending) { $1 }
                pending.removeAll(keepingCapacity: true)
            }
            offset += Int64(Self.frameHeaderSize + pageSize)
        }
    }

    /// Whether the frame of a page is still the one that was found.
    func isCurrent(_ number: Int, in database: Database) throws -> Bool {
        guard let offset = offsets[number] else { return false }
        let frame = try Self.read(database, Self.frameHeaderSize, at: offset - Int64(Self.frameHeaderSize))
        return Self.number(frame, 0) == number && frame[8..<16].elementsEqual(salts)
    }

    private static func read(_ database: Database, _ count: Int, at offset: Int64) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        try database.check(strongroom_log_read(database.openConnection, &bytes, CInt(count), offset))
        return bytes
    }

    private static func number(_ bytes: [UInt8], _ at: Int) -> Int {
        bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
    }
}
