import Foundation

extension DatabaseFile {
    /// Writes an encrypted copy of a database in clear text, and opens and verifies it before it gets its name. The
    /// original stays.
    ///
    /// The copy has the same schema, rowids, autoincrement values, full-text indexes, `user_version`, `application_id`,
    /// encoding and journal mode. The files of the original and their folder do not change. The cancellation of the
    /// calling task and ``Database/suspendNotification`` stop the copy.
    ///
    /// - parameters:
    ///   - path: the path of the original.
    ///   - destination: the path of the copy.
    ///   - encryption: the encryption of the copy.
    ///   - progress: called as pages are written and verified, also in the middle of long statements and checks. An
    ///     error that it throws stops the copy. The last call follows the verification.
    /// - throws: `SQLITE_CANTOPEN` with the reason `fileExists` if `destination` or one of its sidecars exists,
    ///   `SQLITE_NOTADB` if the original isn't in clear text. After an error, no file of the copy remains.
    public static func encrypt(
        path: String, to destination: String, encryption: Encryption,
        progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws {
        try copy(path, nil, to: destination, encryption, progress)
    }

    /// Writes a copy in clear text of an encrypted database, which `encryption` opens. See
    /// ``encrypt(path:to:encryption:progress:)``.
    public static func decrypt(
        path: String, to destination: String, encryption: Encryption,
        progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws {
        try copy(path, encryption, to: destination, nil, progress)
    }

    /// Writes a copy in another encryption. `old` opens the original. `new` is the encryption of the copy; nil, the
    /// default, is the format of SQLCipher 4 with the same key. See ``encrypt(path:to:encryption:progress:)``.
    public static func migrate(
        path: String, to destination: String, from old: Encryption, as new: Encryption? = nil,
        progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws {
        try copy(path, old, to: destination, new ?? Encryption(key: old.key), progress)
    }

    private static func copy(
        _ path: String, _ old: Encryption?, to destination: String, _ new: Encryption?,
        _ progress: ((EncryptionProgress) throws -> Void)?
    ) throws {
        try Replacement.settle(realPath(destination))
        CopyStaging.removeLeftOvers(beside: destination)
        try requireAbsent(destination)
        try reading(path: path, encryption: old, busyTimeout: 5) { try copy($0, to: destination, new, progress) }
    }

    /// Copies the database that a connection has open.
    static func copy(
        _ source: Database, to destination: String, _ new: Encryption?,
        _ progress: ((EncryptionProgress) throws -> Void)?
    ) throws {
        try source.stops.refuseReadLocks()
        let copying = try CopyProgress(of: source, progress)
        try requireAbsent(destination)
        let new = try settled(new, forCopyOf: source, at: destination)
        try make(destination, as: new, from: source, copying) { partial, keys in
            try withDatabase(partial, new, keys) { try ContentCopy(from: source, to: $0, progress: copying).run() }
        }
    }

    /// Makes a copy with `write`, opens and verifies it as its user will, from its files alone, and gives it its name.
    ///
    /// - parameter write: writes the copy, and returns the number of rows that each table must have. A key that it
    ///   derives for the salt of the copy is not derived again.
    static func make(
        _ destination: String, as encryption: Encryption?, from source: Database, _ progress: CopyProgress,
        _ write: (_ path: String, _ keys: Keyring) throws -> [ContentCopy.TableCount]
    ) throws {
        CopyStaging.removeLeftOvers(beside: destination)
        try requireAbsent(destination)
        let staging = try CopyStaging(beside: destination)
        defer { staging.remove() }
        try fill(staging, as: encryption, from: source, progress, write)
        try rename(staging.path, to: destination)
    }

    /// Makes a copy with `write`, and opens and verifies it as its user will, from its files alone. It gets no name.
    static func fill(
        _ staging: CopyStaging, as encryption: Encryption?, from source: Database, _ progress: CopyProgress,
        _ write: (_ path: String, _ keys: Keyring) throws -> [ContentCopy.TableCount]
    ) throws {
        let slotFile = try encryption.flatMap { try source.slotFile(forCopyWith: $0.key) }
        let original = source.isFileStored ? source.filePath : nil
        try staging.create(like: original, isEncrypted: encryption != nil)
        let keys = Keyring(), counts = try write(staging.path, keys)
        if let slotFile, let encryption { try slotFile.give(to: staging.path, encryption) }
        try withDatabase(staging.path, encryption, keys) { copy in
            try copy.stopping(by: progress) { try verify(copy, counts, progress) }
        }
        try progress.complete()
        try staging.copyMode(of: original)
    }

    /// Removes what killed copies have left in a folder.
    package static func removeLeftOversOfCopies(in folder: String) {
        CopyStaging.removeLeftOvers(beside: folder + "/")
    }

    /// Finishes or undoes what a killed restore or migration in place has left of the database. Each opening does.
    package static func settleReplacement(of path: String) throws { try Replacement.settle(realPath(path)) }

    /// Throws if the file exists, or a file that SQLite or Strongroom would take for one of its sidecars.
    static func requireAbsent(_ path: String) throws {
        let companions = CompanionFile.withState.map { $0.path(of: path) }
        for file in [path] + companions where NamedFile.exists(file) { throw DatabaseError.taken(file) }
    }

    /// Runs `body` with a connection that has what the user of the database has: its files and its key.
    ///
    /// - parameter keys: derived keys. One of them is used if the files have its salt.
    static func withDatabase<T>(
        _ path: String, _ encryption: Encryption?, _ keys: Keyring = Keyring(), _ body: (Database) throws -> T
    ) throws -> T {
        var configuration = Configuration().sharingKeys(keys)
        configuration.encryption = encryption
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(5)
        configuration.observesSuspensionNotifications = true
        let database = try Database(path: path, description: "DatabaseFile", configuration: configuration)
        return try database.withSoleAccess { database in
            try database.setUp()
            return try body(database)
        }
    }

    /// Authenticates all pages, and checks the structure and the number of rows of each table.
    static func verify(_ database: Database, _ counts: [ContentCopy.TableCount], _ progress: CopyProgress) throws {
        try progress.check(completed: 0)
        let report = try database.integrityReport { try progress.check(completed: $0.completedPageCount) }
        guard (report.unauthenticPages ?? []).isEmpty, report.structureProblems.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT,
                message: "the copy is damaged: \(report.structureProblems.first ?? "a page isn't authentic")")
        }
        for count in counts {
            let sql = "SELECT count(*) FROM \(count.table.quotedDatabaseIdentifier)"
            guard try Int.fetchOne(database, sql: sql) == count.rowCount else {
                throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the copy of \(count.table) is not complete")
            }
        }
    }
}
