import CStrongroom

extension DatabaseFile {
    /// Runs `body` on a connection that only reads. The files of the database and their folder are as they were when
    /// it ends.
    ///
    /// - parameter path: where the database is, symlinks resolved.
    /// - parameter isShort: a log that nobody uses may be read with everyone else kept out.
    /// - parameter stop: called in the middle of statements; what it throws stops them, and is thrown on.
    /// - throws: `SQLITE_READONLY_ROLLBACK` where a program that was killed left something to roll back.
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
    /// Reads once; nil where another connection is in the way of opening, or SQLite would leave files, and there is
    /// another way to try.
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
    /// Checks every page of a database, its structure and its foreign keys; its files are as they were when it ends.
    ///
    /// - parameter pagesOnly: leaves structure and foreign keys out.
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
    /// Runs `body` on one state of the database, with nothing but reads allowed.
    package func reading<T>(_ body: () throws -> T) throws -> T { try isolated { _ in try body() } }
}

extension Database {
    /// Refuses to read what would leave a log and its index behind, because this user can't remove them; the index
    /// would belong to this user, and keep the others out.
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
