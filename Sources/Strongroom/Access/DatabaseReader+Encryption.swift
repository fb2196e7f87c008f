import Dispatch

// Encryption as queues and pools offer it.

extension DatabaseReader {
    /// Checks the whole database: the authenticity of each page, b-trees and indexes, foreign keys.
    ///
    /// Pages in the write-ahead log are checked too. A page that was put back in an old version is authentic: no check
    /// finds it.
    ///
    /// - throws: `SQLITE_NOTADB` and its kin where the database can't be opened at all.
    ///   <https://www.zetetic.net/sqlcipher/sqlcipher-api/#cipher_integrity_check>
    public func checkIntegrity() throws -> IntegrityReport {
        // SQLCipher stays confused after a bad page: the check gets a connection of its own where the database has a
        // file.
        guard try read({ $0.isFileStored }) else { return try read { try $0.integrityReport() } }
        return try Database.integrityReport(path: path, configuration: configuration)
    }

    /// Suspends the task instead of blocking the thread.
    ///
    /// - throws: `CancellationError` as well, when the task is cancelled before the end of the check.
    public func checkIntegrity() async throws -> IntegrityReport {
        guard try await read({ $0.isFileStored }) else { return try await read { try $0.integrityReport() } }
        let (path, configuration) = (path, configuration)
        return try await awaitAccess({ try $0.wholeReport() }) { job in
            DispatchQueue.global().async(priority: job.priority) {
                do {
                    let database = try Database.forIntegrityCheck(path: path, configuration: configuration)
                    try database.withSoleAccess { job.perform(on: $0) }?.wake()
                } catch {
                    job.fail(error)
                }
            }
        }
    }
}

extension DatabaseReader {
    /// Returns the key slots of the database, to list and change them. Changes of slots need no access.
    ///
    /// - throws: `SQLITE_MISUSE` with the reason `unfitKeySlots` where the database has none; the errors of
    ///   the key file.
    public func keySlots() throws -> KeySlots {
        try read { try $0.keySlots() }
    }
}

extension DatabaseWriter {
    /// Changes the key: waits for running accesses, encrypts every page anew with a fresh salt, and checks each of
    /// them.
    ///
    /// At every instant, whatever is killed or full, one of the two keys opens the database and no committed row is
    /// lost; opening tells which. Connections of other processes fail with `SQLITE_NOTADB` until they open the
    /// database anew. `progress` hears of pages as they are written; throwing from it stops the rotation, and nothing
    /// has changed. At the last call, when all is done, what it throws is ignored. An interruption or a suspension
    /// stops it between two pages, too.
    ///
    /// With ``DatabaseKey/managed(by:)``, the new key is a random one that the store keeps: beside the present one until
    /// the database has it, and in its place from then on.
    ///
    /// - returns: the outcome, which says whether the former key is gone. While a connection reads pages of it, the
    ///   file without its log still opens with it.
    /// - throws: `SQLITE_BUSY` when another process writes, `SQLITE_FULL` or `SQLITE_IOERR` when the file can't grow:
    ///   nothing has changed. `SQLITE_MISUSE` for an empty key, for a database without a key, and for a file with
    ///   several names.
    @discardableResult
    public func rotateKey(
        to key: DatabaseKey, progress: ((EncryptionProgress) throws -> Void)? = nil) throws -> RotationOutcome
    {
        try barrierWriteWithoutTransaction { db in
            try invalidatingReaders(progress) { try db.rotation.rotateKey(to: key, progress: $0) }
        }
    }

    /// Suspends the task instead of blocking the thread. Cancelling it stops the rotation between two pages, as long
    /// as nothing has changed.
    @discardableResult
    public func rotateKey(
        to key: DatabaseKey,
        progress: (@Sendable (EncryptionProgress) throws -> Void)? = nil) async throws -> RotationOutcome
    {
        try await barrierWriteWithoutTransaction { db in
            try self.invalidatingReaders(progress) { try db.rotation.rotateKey(to: key, progress: $0) }
        }
    }

    /// Renews the data key of a database with key slots, or gives or removes the slots, as ``rotateKey(to:progress:)``
    /// changes a key. To change a passphrase, use ``KeySlots/change(_:to:kind:derivation:)``, which writes no page.
    ///
    /// At every instant, whatever is killed or full, the secrets from before the rotation open the database, or those
    /// from after it.
    ///
    /// - throws: what ``rotateKey(to:progress:)`` throws; `SQLITE_MISUSE` with the reason `droppedKeySlots` where slots
    ///   would be dropped that may not, and `unfitKeySlots` where the database has no slots, or has them already.
    @discardableResult
    public func rotateKey(
        _ change: KeySlotRotation, progress: ((EncryptionProgress) throws -> Void)? = nil) throws -> RotationOutcome
    {
        try barrierWriteWithoutTransaction { db in
            try invalidatingReaders(progress) { try db.rotation.rotateKey(change, progress: $0) }
        }
    }

    /// Suspends the task instead of blocking the thread.
    @discardableResult
    public func rotateKey(
        _ change: KeySlotRotation,
        progress: (@Sendable (EncryptionProgress) throws -> Void)? = nil) async throws -> RotationOutcome
    {
        try await barrierWriteWithoutTransaction { db in
            try self.invalidatingReaders(progress) { try db.rotation.rotateKey(change, progress: $0) }
        }
    }

    /// Runs a rotation. Readers of the old pages can't read the new ones: neither those that were open, nor those that
    /// `progress` has used.
    private func invalidatingReaders(
        _ progress: ((EncryptionProgress) throws -> Void)?,
        _ rotate: (((EncryptionProgress) throws -> Void)?) throws -> RotationOutcome) throws -> RotationOutcome
    {
        defer { invalidateReadOnlyConnections() }
        return try rotate(progress.map { progress in
            { state in
                if state.isCompleted { self.invalidateReadOnlyConnections() }
                try progress(state)
            }
        })
    }

    /// Removes what a change of key has left of the former key, if no connection reads it any more: waits for readers
    /// and writers as long as ``Configuration/busyMode`` says. Nothing happens when nothing is left.
    ///
    /// Opening does the same, without waiting.
    ///
    /// - throws: what the files say.
    @discardableResult
    public func finishKeyRotation() throws -> RotationOutcome {
        try barrierWriteWithoutTransaction { try $0.rotation.finishKeyRotation() }
    }

    /// Suspends the task instead of blocking the thread.
    @discardableResult
    public func finishKeyRotation() async throws -> RotationOutcome {
        try await barrierWriteWithoutTransaction { try $0.rotation.finishKeyRotation() }
    }

    /// Writes a copy in another encryption, in clear text for nil, into a new file; see
    /// ``DatabaseFile/encrypt(path:to:encryption:progress:)`` for what is kept and checked.
    ///
    /// Nothing is written to this database, which may be read-only. Throwing from `progress` stops, and leaves no
    /// copy.
    ///
    /// - throws: `SQLITE_CANTOPEN` when the file exists.
    public func vacuum(
        into filePath: String, encryption: Encryption?, progress: ((EncryptionProgress) throws -> Void)? = nil) throws
    {
        try writeWithoutTransaction { try DatabaseFile.copy($0, to: filePath, encryption, progress) }
    }

    /// Suspends the task instead of blocking the thread.
    public func vacuum(into filePath: String, encryption: Encryption?) async throws {
        try await writeWithoutTransaction { try DatabaseFile.copy($0, to: filePath, encryption, nil) }
    }
}
