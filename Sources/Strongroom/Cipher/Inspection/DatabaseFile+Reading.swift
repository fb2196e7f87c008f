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
        configuration.observesSuspensionNotifications = true
        let allWays = { ReadingTrace.ways(ofReading: path).filter { isShort || $0 != .alone } }
        var ways = allWays(), looks = 0
        while true {
            let seen = slotTraces(path), trace = ways.removeFirst()
            // Another program that changes the slots meanwhile takes no right key for a wrong one.
            let isStale = { looks < SlotLook.most && slotTraces(path) != seen }
            configuration.trace = trace
            configuration.busyMode = ways.isEmpty ? .timeout(busyTimeout) : .immediateError
            let database = try Database(path: path, description: "DatabaseFile.reading", configuration: configuration)
            let result = try database.withSoleAccess {
                try $0.readWithoutTrace(isLast: ways.isEmpty, looksAgain: looks < SlotLook.most, isStale, stop, body)
            }
            if let result { return result }
            guard ways.isEmpty || isStale() else { continue }
            // The key that a secret stood for may be a former one.
            if isStale() { configuration = configuration.sharingKeys() }
            (ways, looks) = (allWays(), looks + 1)
        }
    }

    /// Returns what changes beside a database when its key or its slots do.
    private static func slotTraces(_ path: String) -> [[UInt8]] {
        let isRotating = SaltFile.exists(.rotation, of: path)
        let size = isRotating ? NamedFile.size(CompanionFile.log.path(of: path)) : 0
        return SlotFiles(database: path).traces + [.permanent, .rotation].map { SaltFile.trace($0, of: path) }
            + [Array("\(size)".utf8)]
    }
}

extension Database {
    /// Reads once. Nil if another connection prevents opening, or SQLite would leave files, and there is another way to
    /// try; and if the key doesn't fit files that were changed meanwhile, or the log is gone.
    fileprivate func readWithoutTrace<T>(
        isLast: Bool, looksAgain: Bool, _ isStale: () -> Bool, _ stop: (() throws -> Void)?,
        _ body: (Database) throws -> T
    ) throws -> T? {
        defer { abandon() }
        do {
            try setUp()
        } catch let error as DatabaseError where !isLast && error.hasOtherWay {
            return nil
        } catch let error as DatabaseError where error.resultCode == .SQLITE_NOTADB && isStale() {
            return nil
        } catch let error as DatabaseError where error.leavesFiles {
            // A change of the journal mode was killed: page 1 is that of a database with a log, and the journal has
            // another one.
            guard ReadingTrace.mayRollBack(CompanionFile.journal.path(of: filePath)) else {
                // Or the log that was there is gone, with the connection that had it.
                if looksAgain { return nil }
                throw error
            }
            throw DatabaseError(.SQLITE_READONLY_ROLLBACK, message: ResultCode.SQLITE_READONLY_ROLLBACK.errorString)
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
    /// - parameters:
    ///   - pagesOnly: true to omit the checks of structure and foreign keys.
    ///   - selection: the pages to authenticate. Default: all.
    package static func check(
        path: String, encryption: Encryption?, pagesOnly: Bool = false, _ selection: PageSelection = .all,
        progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws -> IntegrityReport {
        try reading(path: path, encryption: encryption) { database in
            let watch = try CopyProgress(of: database, progress)
            try watch.check(completed: 0)
            let report = try database.stopping(by: watch) {
                try database.integrityReport(pagesOnly: pagesOnly, selection) {
                    try watch.check(completed: $0.completedPageCount)
                }
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

extension DatabaseError {
    fileprivate var leavesFiles: Bool { extendedResultCode == .SQLITE_READONLY_CANTINIT }

    fileprivate var hasOtherWay: Bool { resultCode == .SQLITE_BUSY || leavesFiles }
}
