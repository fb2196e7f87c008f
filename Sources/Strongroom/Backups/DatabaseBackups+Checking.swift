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
        if let keys { check = try checkPages(of: backup, keys, progress) }
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
        } catch let error as DatabaseError where error.saysDamage {
            return BackupCheck(.damaged, .unrecognized, [error.failureReason ?? "\(error.extendedResultCode)"])
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

extension DatabaseError {
    /// True if the error is about the content of the files.
    fileprivate var saysDamage: Bool {
        if isInterruptionError { return false }
        let reasons: [Reason] = [
            .missingSalt, .damagedSalt, .contradictoryHeader, .damagedSlotFile, .forgedSlotFile, .notDatabase,
            .encryptedWithoutKey, .notEncrypted,
        ]
        return resultCode == .SQLITE_CORRUPT || reason.map(reasons.contains) ?? false
    }
}
