import Foundation

extension DatabaseBackups {
    /// Opens a backup as its user will, and authenticates every page. Stores the result with the backup, if the folder
    /// of the backup can be written.
    ///
    /// - parameters:
    ///   - backup: a backup.
    ///   - keys: the keys that may open the backup. Nil, the default, compares the files with the SHA-256 in the
    ///     record: that finds damage, but not a change by a person who can write the folder. A check with the key finds
    ///     both.
    ///   - progress: called as pages are checked. An error that it throws stops the check.
    /// - throws: the errors that do not depend on the backup: interruptions, and the errors of key stores. Damage is in
    ///   the outcome.
    @discardableResult
    public func check(
        _ backup: DatabaseBackup, keys: BackupCheck.Keys? = nil,
        progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws -> BackupCheck {
        var check: BackupCheck?
        let unfit = backup.unfitFiles
        // SQLite opens an empty file with any key.
        if !unfit.isEmpty {
            check = BackupCheck(.damaged, .unrecognized, unfit)
        } else if let keys {
            check = try checkPages(of: backup, keys, progress)
        }
        if check == nil { check = try checkFiles(of: backup, hasKeys: keys != nil, progress) }
        // A read-only medium keeps no check.
        try? check!.write(besides: backup.path)
        return check!
    }

    /// Suspends the task instead of blocking the thread. Cancelling the task stops the check.
    @discardableResult
    public func check(
        _ backup: DatabaseBackup, keys: BackupCheck.Keys? = nil,
        progress: (@Sendable (EncryptionProgress) throws -> Void)? = nil
    ) async throws -> BackupCheck {
        try await stoppable { stop in
            try check(backup, keys: keys) {
                try stop()
                try progress?($0)
            }
        }
    }

    /// Returns the key that opens a backup. Reads no more than opening does.
    ///
    /// - throws: the errors of opening, unless they mean that the key does not fit.
    public func key(opening backup: DatabaseBackup, among keys: BackupCheck.Keys) throws -> BackupCheck.Key {
        try opening(backup, keys) { _, key in key } ?? .unrecognized
    }

    /// Returns the key that opens a backup, or the damage that keeps every key from opening it.
    ///
    /// - throws: the errors that do not depend on the backup.
    package func opening(
        _ backup: DatabaseBackup, among keys: BackupCheck.Keys
    ) throws -> (key: BackupCheck.Key, damage: BackupCheck?) {
        do {
            return (try key(opening: backup, among: keys), nil)
        } catch let error as DatabaseError where error.saysDamage(to: backup) {
            return (.unrecognized, BackupCheck(damage: error, in: backup))
        }
    }

    // MARK: - With a key

    /// Runs `body` with a connection, and with the key that opens the backup. Nil if none does.
    private func opening<T>(
        _ backup: DatabaseBackup, _ keys: BackupCheck.Keys, _ body: (Database, BackupCheck.Key) throws -> T
    ) throws -> T? {
        let candidates = [(keys.current, BackupCheck.Key.current)] + keys.former.map { ($0, .former) }
        for (encryption, key) in candidates {
            do {
                return try DatabaseFile.reading(path: backup.path, encryption: backup.encryption(encryption)) {
                    if case .former = $0.storedKey { return try body($0, .former) }
                    return try body($0, key)
                }
            } catch let error as DatabaseError where error.isWrongKeyError || error.reason == .foreignSlotFile {
                continue
            }
        }
        return nil
    }

    /// Returns nil if no key opens the backup.
    private func checkPages(
        of backup: DatabaseBackup, _ keys: BackupCheck.Keys, _ progress: ((EncryptionProgress) throws -> Void)?
    ) throws -> BackupCheck? {
        do {
            return try opening(backup, keys) { database, key in
                let watch = try CopyProgress(of: database, progress)
                let report = try database.stopping(by: watch) {
                    try database.integrityReport { try watch.check(completed: $0.completedPageCount) }
                }
                try watch.complete()
                let pages = (report.unauthenticPages ?? []).map { "page \($0) is not what was written with this key" }
                let isDamaged = !pages.isEmpty || !report.structureProblems.isEmpty
                let problems = pages + report.structureProblems + report.foreignKeyProblems
                return BackupCheck(isDamaged ? .damaged : .intact, key, problems)
            }
        } catch let error as DatabaseError where error.saysDamage(to: backup) {
            return BackupCheck(damage: error, in: backup)
        }
    }

    // MARK: - Without a key

    private func checkFiles(
        of backup: DatabaseBackup, hasKeys: Bool, _ progress: ((EncryptionProgress) throws -> Void)?
    ) throws -> BackupCheck {
        var problems: [String] = [], done: Int64 = 0
        let total = Int(backup.size / 4096) + 1
        for expected in backup.record.files {
            let path = backup.folder + "/" + expected.name
            do {
                let found = try BackupContent(path).file {
                    try progress?(
                        EncryptionProgress(
                            completedPageCount: min(Int(done / 4096), total), totalPageCount: total, phase: .checking))
                    done += 1 << 20
                }
                if found != expected { problems.append("\(expected.name) is not what was written") }
            } catch let error as DatabaseError where !error.isInterruptionError {
                problems.append("\(expected.name): \(error.failureReason ?? "it can't be read")")
            }
        }
        return BackupCheck(problems.isEmpty ? .intact : .damaged, hasKeys ? .unrecognized : nil, problems)
    }
}

extension DatabaseBackup {
    /// Returns an encryption with the format of the backup.
    func encryption(_ given: Encryption) -> Encryption {
        var encryption = given
        encryption.settings = settings
        let salt = given.plaintextHeader?.salt ?? .sidecar
        encryption.plaintextHeader =
            plaintextHeaderSize > 0 ? PlaintextHeader(size: plaintextHeaderSize, salt: salt) : nil
        return encryption
    }
}

extension BackupCheck {
    /// Creates the outcome for a backup that an error keeps from being opened.
    fileprivate init(damage error: DatabaseError, in backup: DatabaseBackup) {
        let unfit = backup.unfitFiles
        self.init(
            .damaged, .unrecognized, unfit.isEmpty ? [error.failureReason ?? "\(error.extendedResultCode)"] : unfit)
    }
}

extension DatabaseBackup {
    /// A line for each file that is absent, can't be read, or does not have the size that it was written with.
    fileprivate var unfitFiles: [String] {
        record.files.compactMap { file in
            let path = folder + "/" + file.name, size = NamedFile.size(path)
            if size == file.size {
                return FileManager.default.isReadableFile(atPath: path) ? nil : "can't read \(file.name)"
            }
            return size < 0 ? "\(file.name) is missing" : "\(file.name) has \(size) bytes instead of \(file.size)"
        }
    }
}

extension DatabaseError {
    /// True if the error is about the files of the backup. The files of keys, for example, concern all backups.
    fileprivate func saysDamage(to backup: DatabaseBackup) -> Bool {
        let reasons: [Reason] = [
            .missingSalt, .damagedSalt, .unfitSaltFile, .contradictoryHeader, .damagedSlotFile, .forgedSlotFile,
            .unfitSlotFile, .notDatabase, .encryptedWithoutKey, .notEncrypted,
        ]
        if isInterruptionError { return false }
        if resultCode == .SQLITE_CORRUPT || extendedResultCode == .SQLITE_IOERR_READ { return true }
        if let reason { return reasons.contains(reason) }
        return [.SQLITE_CANTOPEN, .SQLITE_IOERR].contains(resultCode) && !backup.unfitFiles.isEmpty
    }
}
