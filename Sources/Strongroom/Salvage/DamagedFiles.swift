import CSQLCipher

/// The files of a damaged database, which are only read.
///
/// The database is read through a connection that takes no lock and reads no page itself: another descriptor would
/// release the locks of this process when it is closed.
final class DamagedFiles {
    let path: String
    let size: Int64
    let log: UnlockedFile?
    let journal: UnlockedFile?
    private let database: Database
    private let states: [[Int64]]

    /// Runs `body` with the files of a database.
    static func reading<T>(_ path: String, _ body: (DamagedFiles) throws -> T) throws -> T {
        guard NamedFile.isRegular(path) else {
            throw DatabaseError(
                .SQLITE_CANTOPEN, refusing: "\(path) is not a file", advice: "give the path of a database")
        }
        var configuration = Configuration()
        configuration.readonly = true
        let states = DamagedFiles.states(of: path)
        return try Database(path: path, description: "DatabaseFile.salvage", configuration: configuration)
            .withSoleAccess { database in
                let files = try DamagedFiles(database, path, states)
                let result = try body(files)
                try files.requireUnchanged()
                return result
            }
    }

    private init(_ database: Database, _ path: String, _ states: [[Int64]]) throws {
        (self.database, self.path, self.states) = (database, path, states)
        size = try database.fileSize()
        log = UnlockedFile(CompanionFile.log.path(of: path))
        journal = UnlockedFile(CompanionFile.journal.path(of: path))
    }

    /// Reads the database file. Returns false past its end, or after an error of the disk.
    func read(at offset: Int64, into bytes: UnsafeMutableRawBufferPointer) -> Bool {
        guard offset >= 0, offset + Int64(bytes.count) <= size else { return false }
        return database.raw.readFile(of: "main", at: offset, into: bytes) == SQLITE_OK
    }

    private static func states(of path: String) -> [[Int64]] {
        [path, CompanionFile.log.path(of: path), CompanionFile.journal.path(of: path)].map(UnlockedFile.state)
    }

    /// Throws if a program has written to the files meanwhile: pages of different commits would have been read.
    func requireUnchanged() throws {
        guard DamagedFiles.states(of: path) == states else {
            throw DatabaseError(
                .SQLITE_BUSY, refusing: "another program writes to \(path)",
                advice: "end that program, or salvage a copy of the files that it doesn't write to")
        }
    }
}

/// The header of a database. <https://www.sqlite.org/fileformat2.html#the_database_header>
struct DatabaseHeader {
    let reserve: Int
    let usesLog: Bool
    /// The size of the database in pages. Nil if the header doesn't state it.
    let pageCount: Int?
    let firstTrunk: Int
    let freeCount: Int
    let hasPointerMap: Bool
    let isIncremental: Bool
    let encoding: TextEncoding
    let userVersion: Int32
    let applicationID: Int32
    private let shownPageSize: Int

    init?(_ page: [UInt8]) {
        guard page.count >= 512, page.starts(with: FileHeader.magic) else { return nil }
        func number(_ offset: Int) -> Int { page.number32(at: offset)! }
        let size = page.number16(at: 16)!
        shownPageSize = size == 1 ? 65536 : size
        reserve = Int(page[20])
        usesLog = page[19] == 2
        pageCount = number(28) > 0 && number(24) == number(92) ? number(28) : nil
        (firstTrunk, freeCount) = (number(32), number(36))
        hasPointerMap = number(52) != 0
        isIncremental = number(64) != 0
        encoding = TextEncoding(rawValue: number(56)) ?? .utf8Text
        userVersion = Int32(truncatingIfNeeded: number(60))
        applicationID = Int32(truncatingIfNeeded: number(68))
    }

    /// The page size in bytes. Nil if it is none.
    var pageSize: Int? {
        (512...65536).contains(shownPageSize) && shownPageSize.nonzeroBitCount == 1 ? shownPageSize : nil
    }
}
