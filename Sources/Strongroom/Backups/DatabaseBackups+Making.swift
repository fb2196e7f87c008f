import Foundation

extension DatabaseBackups {
    /// Makes a backup of a database, which may be in use, and is only read. The copy contains the state that was
    /// committed when the backup began. It opens as the database does. It is opened and checked before the backup gets
    /// its name.
    ///
    /// - parameters:
    ///   - path: the path of the database.
    ///   - encryption: the encryption of the database.
    ///   - date: the date of the backup. Default: now.
    ///   - progress: called as pages are written and checked. An error that it throws stops the backup.
    /// - throws: `SQLITE_BUSY` with the reason `fileGone` if another database took its place meanwhile, `SQLITE_FULL`,
    ///   `SQLITE_CANTOPEN` if the folder can't be written, `SQLITE_MISUSE` with the reason `notEncrypted` for a
    ///   database that is unencrypted or in memory, and the errors of opening. After an error, no backup remains.
    @discardableResult
    public func make(
        of path: String, encryption: Encryption, date: Date = Date(),
        progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws -> DatabaseBackup {
        let path = DatabaseFile.realPath(path), place = UnlockedFile.state(of: path).last
        return try DatabaseFile.reading(path: path, encryption: encryption, busyTimeout: 5) { source in
            try make(from: source, date, progress) {
                guard UnlockedFile.state(of: path).last != place else { return }
                throw DatabaseError(
                    .SQLITE_BUSY, .fileGone, "\(path) was replaced while it was copied, and the copy is discarded",
                    advice: "try again")
            }
        }
    }

    /// Suspends the task instead of blocking the thread. Cancelling the task stops the backup.
    @discardableResult
    public func make(
        of path: String, encryption: Encryption, date: Date = Date(),
        progress: (@Sendable (EncryptionProgress) throws -> Void)? = nil
    ) async throws -> DatabaseBackup {
        try await stoppable { stop in
            try make(of: path, encryption: encryption, date: date) {
                try stop()
                try progress?($0)
            }
        }
    }

    /// Makes a backup of an open database, whose writes may go on. The parameters and errors are those of a backup of a
    /// path.
    @discardableResult
    public func make(
        of reader: some DatabaseReader, date: Date = Date(), progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws -> DatabaseBackup {
        try reader.unsafeRead { try make(from: $0, date, progress) {} }
    }

    /// Suspends the task instead of blocking the thread. Cancelling the task stops the backup.
    @discardableResult
    public func make(
        of reader: some DatabaseReader, date: Date = Date(),
        progress: (@Sendable (EncryptionProgress) throws -> Void)? = nil
    ) async throws -> DatabaseBackup {
        try await reader.unsafeRead { try make(from: $0, date, progress) {} }
    }

    private func make(
        from source: Database, _ date: Date, _ progress: ((EncryptionProgress) throws -> Void)?,
        _ requireSame: () throws -> Void
    ) throws -> DatabaseBackup {
        try makeFolder()
        CopyStaging.removeLeftOvers(beside: folder + "/")
        let copy = try StagedBackup(of: source, in: folder, progress)
        var name: String?
        defer { if name == nil { copy.staging.remove() } else { copy.staging.release() } }
        try requireSame()
        try BackupCheck(.intact, .current).write(besides: copy.staging.path)
        try copy.record.write(in: NamedFile.folder(of: copy.staging.path))
        name = try (1...1000).lazy.map { DatabaseBackup.name(of: date, number: $0) }
            .first { try copy.staging.publish(as: $0) }
        guard let name, let backup = DatabaseBackup(in: folder + "/" + name) else {
            throw DatabaseError(
                .SQLITE_CANTOPEN, refusing: "the backup in \(folder) can't be read", advice: "check the disk",
                reason: .unfitBackup)
        }
        return backup
    }

    private func makeFolder() throws {
        guard !NamedFile.exists(folder) else { return }
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        } catch CocoaError.fileWriteFileExists {
            // Another process has made it.
        } catch {
            throw DatabaseError(
                .SQLITE_CANTOPEN, refusing: "can't make the folder \(folder)",
                advice: "check the folder that it is to be in", reason: .unfitBackup)
        }
    }

    /// Runs `body` on a thread of the library. `stop` throws when the task is cancelled.
    func stoppable<T: Sendable>(
        _ body: @escaping @Sendable (_ stop: @escaping @Sendable () throws -> Void) throws -> T
    ) async throws -> T {
        let isCancelled = Mutex(false)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                Workers.shared.run {
                    continuation.resume(
                        with: Result { try body { if isCancelled.withLock({ $0 }) { throw CancellationError() } } })
                }
            }
        } onCancel: {
            isCancelled.withLock { $0 = true }
        }
    }
}

/// A finished copy in a folder of its own, without a name. It was opened and checked.
struct StagedBackup {
    let staging: CopyStaging
    let record: BackupRecord

    init(of source: Database, in folder: String, _ progress: ((EncryptionProgress) throws -> Void)?) throws {
        guard source.isFileStored, let encryption = source.ownEncryption else {
            throw DatabaseError(refusing: "\(source.path) is not an encrypted file", reason: .notEncrypted)
        }
        try source.stops.refuseReadLocks()
        let copying = try CopyProgress(of: source, progress), name = NamedFile.name(of: source.filePath)
        try BackupRecord.requireFit(name)
        let staging = try CopyStaging(ofBackup: name, in: folder)
        do {
            try DatabaseFile.fill(staging, as: encryption, from: source, copying) { partial, keys in
                try DatabaseFile.withDatabase(partial, encryption, keys) {
                    try ContentCopy(from: source, to: $0, progress: copying).run()
                }
            }
            record = try BackupRecord(
                ofCopy: staging.path, source: source.filePath, encryption.settings,
                headerSize: encryption.plaintextHeader?.size ?? 0)
        } catch {
            staging.remove()
            throw error
        }
        self.staging = staging
    }
}
