import CStrongroom

extension DatabaseFile {
    /// Runs `body` on a read-only connection. When it ends, the files of the database and their folder are as before.
    ///
    /// - parameter path: the path of the database, with symbolic links resolved.
    /// - parameter isShort: true to allow reading an unused log with all other connections locked out.
    /// - parameter stop: called in the middle of statements. An error that it throws stops them, and is thrown.
    /// - throws: `SQLITE_READONLY_ROLLBACK` if a killed program has left a transaction to roll back.
    package static func reading<T>(
        path: String, encryption: Encryption?, busyTimeout: Double = 2, isShort: Bool = true,
        stop: (() throws -> Void)? = nil, _ body: (Database) throws -> T
    ) throws -> T {
        var configuration = Configuration().sharingKeys()
        configuration.encryption = encryption
        configuration.readonly = true
        var ways = ReadingTrace.ways(ofReading: path).filter { isShort || $0 != .alone }
        while true {
            let trace = ways.removeFirst()
            configuration.trace = trace
            configuration.busyMode = ways.isEmpty ? .timeout(busyTimeout) : .immediateError
            let database = try Database(path: path, description: "DatabaseFile.reading", configuration: configuration)
            let result = try database.withSoleAccess { try $0.readWithoutTrace(isLast: ways.isEmpty, stop, body) }
            if let result { return result }
        }
    }
}

extension Database {
    /// Reads once. Nil if another connection prevents opening, or SQLite would leave files, and there is another way to
    /// try.
    fileprivate func readWithoutTrace<T>(
        isLast: Bool, _ stop: (() throws -> Void)?, _ body: (Database) throws -> T) throws -> T?
    {
        defer { abandon() }
        do {
            try setUp()
        } catch let error as DatabaseError where !isLast && error.hasOtherWay {
            return nil
        }
        authorizer.writesNowhere = true
        return try stopping(by: CopyProgress(of: self, pageCount: 0, stop.map { stop in { _ in try stop() } })) {
            try body(self)
        }
    }
}

extension DatabaseFile {
    /// Checks every page of a database, its structure and its foreign keys. When it ends, the files are as before.
    ///
    /// - parameter pagesOnly: true to omit the checks of structure and foreign keys.
    package static func check(
        path: String, encryption: Encryption?, pagesOnly: Bool = false,
        progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws -> IntegrityReport {
        try reading(path: path, encryption: encryption) { database in
            let watch = try CopyProgress(of: database, progress)
            try watch.check(completed: 0)
            let report = try database.stopping(by: watch) {
                try database.integrityReport(pagesOnly: pagesOnly) { try watch.check(completed: $0.completedPageCount) }
            }
            try watch.complete()
            return report
        }
    }
}

extension Database {
    /// Runs `body` on one state of the database, in which only reads are allowed.
    package func reading<T>(_ body: () throws -> T) throws -> T { try isolated { _ in try body() } }
}

extension Database {
    /// Refuses a read that would leave a log and its index behind because this user can't remove them. The index would
    /// belong to this user, and exclude other users.
    func requireNoTrace() throws {
        guard configuration.trace == .readOnly, !strongroom_file_exists(filePath + "-shm"),
              try strongroom_size_of_file(filePath + "-wal") > 0 || usesLog()
        else { return }
        throw DatabaseError(
            .SQLITE_READONLY_CANTINIT,
            refusing: "reading \(path) would leave files beside it, which this user can't remove",
            advice: "read it as a user who may write the file and its folder")
    }

    private func usesLog() throws -> Bool {
        let header = try fileHeader()
        guard let derived = cipher.derived else { return header.bytes.count > 19 && header.bytes[19] == 2 }
        let format = try PageFormat(derived, header: cipher.header)
        let pages = PageReader(self, pageSize: format.pageSize, fileSize: header.fileSize)
        return try pages.withPage(1) { format.usesLog(firstPage: $0) } ?? false
    }
}

extension DatabaseError {
    fileprivate var hasOtherWay: Bool { resultCode == .SQLITE_BUSY || extendedResultCode == .SQLITE_READONLY_CANTINIT }
}
