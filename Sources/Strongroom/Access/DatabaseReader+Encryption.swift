import Dispatch

// Encryption of queues and pools.

extension DatabaseReader {
    /// Checks the whole database: the authenticity of each page, b-trees and indexes, foreign keys.
    ///
    /// Includes pages in the write-ahead log. A page that was replaced by an older version of itself is authentic: no
    /// check finds it.
    ///
    /// - throws: the errors of opening, such as `SQLITE_NOTADB`. The report lists damage to pages and structure.
    ///
    /// Source: <https://www.zetetic.net/sqlcipher/sqlcipher-api/#cipher_integrity_check>.
    public func checkIntegrity() throws -> IntegrityReport {
        // A connection of SQLCipher reports further errors after a bad page: the check of a file uses a connection of
        // its own.
        guard try read({ $0.isFileStored }) else { return try read { try $0.integrityReport() } }
        return try duringWork { try Database.integrityReport(path: path, configuration: configuration) }
    }

    /// Suspends the task instead of blocking the thread.
    ///
    /// - throws: also `CancellationError`, if the task is cancelled before the check has ended.
    public func checkIntegrity() async throws -> IntegrityReport {
        guard try await read({ $0.isFileStored }) else { return try await read { try $0.integrityReport() } }
        let (path, configuration) = (path, configuration)
        return try await awaitAccess({ try $0.wholeReport() }) { job in
            Workers.shared.run(qos: DispatchQoS.QoSClass(job.priority)) {
                do {
                    let performed = try self.duringWork {
                        let database = try Database.forIntegrityCheck(path: path, configuration: configuration)
                        return try database.withSoleAccess { job.perform(on: $0) }
                    }
                    performed?.wake()
                } catch {
                    job.fail(error)
                }
            }
        }
    }
}

extension DatabaseReader {
    /// Returns the key slots of the database, to list and change them. Changing slots doesn't need an access.
    ///
    /// - throws: `SQLITE_MISUSE` with the reason `unfitKeySlots` if the database has none; the errors of the slot file.
    public func keySlots() throws -> KeySlots {
        try read { try $0.keySlots() }
    }
}

extension DatabaseWriter {
    /// Changes the key: waits for running accesses, encrypts every page with the new key and a new salt, and verifies
    /// each.
    ///
    /// At every instant, even when the process is killed or the disk is full, exactly one of the two keys opens the
    /// database, and no committed row is lost. Connections of other processes fail with `SQLITE_NOTADB` until they open
    /// the database again. An interruption or a suspension stops the rotation between two pages.
    ///
    /// With ``DatabaseKey/managed(by:formerKeys:)``, the new key is random. The store keeps the new key beside the
    /// current one. When the database has the new key, it becomes the current key of the store.
    ///
    /// Copies that were made before, such as backups, open with the former key only. A store keeps a former managed
    /// key. The program must keep a former passphrase or raw key.
    ///
    /// - parameters:
    ///   - key: the new key.
    ///   - progress: called as pages are written. An error that it throws stops the rotation, and nothing has changed.
    ///     After the last call, when the rotation is complete, its error is ignored.
    /// - returns: the outcome, which indicates whether the former key is gone. While a connection reads pages of the
    ///   former key, the file without its log still opens with it.
    /// - throws: `SQLITE_BUSY` when another process writes, or with the reason `checkpointPending` while readers use
    ///   pages from before an earlier rotation; `SQLITE_FULL` or `SQLITE_IOERR` when the file can't grow;
    ///   `SQLITE_MISUSE` for an empty key, for a database without a key, and for a file with several names. After
    ///   these, the key is unchanged. An error with the reason `keyChanged` comes after the change: the new key opens
    ///   the database.
    @discardableResult
    public func rotateKey(
        to key: DatabaseKey, progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws -> RotationOutcome {
        try barrierWriteWithoutTransaction { db in
            try invalidatingReaders(progress) { try db.rotation.rotateKey(to: key, progress: $0) }
        }
    }

    /// Suspends the task instead of blocking the thread. Cancelling the task stops the rotation between two pages, as
    /// long as nothing has changed.
    @discardableResult
    public func rotateKey(
        to key: DatabaseKey,
        progress: (@Sendable (EncryptionProgress) throws -> Void)? = nil
    ) async throws -> RotationOutcome {
        try await barrierWriteWithoutTransaction { db in
            try self.invalidatingReaders(progress) { try db.rotation.rotateKey(to: key, progress: $0) }
        }
    }

    /// Renews the data key of a database with key slots, or adds or removes the slots. Every page is encrypted again.
    ///
    /// To change one passphrase, use ``KeySlots/change(_:to:kind:derivation:)``, which does not write pages.
    ///
    /// At every instant, even when the process is killed or the disk is full, either the secrets from before the
    /// rotation open the database, or those from after it.
    ///
    /// - parameters:
    ///   - change: the change of the slots.
    ///   - progress: called as pages are written. An error that it throws stops the rotation, and nothing has changed.
    /// - returns: the outcome, which indicates whether the former data key is gone.
    /// - throws: the errors of a change of key; `SQLITE_MISUSE` with the reason `droppedKeySlots` if the rotation would
    ///   drop slots without permission, and `unfitKeySlots` if the database has no slots, or already has them.
    @discardableResult
    public func rotateKey(
        _ change: KeySlotRotation, progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws -> RotationOutcome {
        try barrierWriteWithoutTransaction { db in
            try invalidatingReaders(progress) { try db.rotation.rotateKey(change, progress: $0) }
        }
    }

    /// Suspends the task instead of blocking the thread.
    @discardableResult
    public func rotateKey(
        _ change: KeySlotRotation,
        progress: (@Sendable (EncryptionProgress) throws -> Void)? = nil
    ) async throws -> RotationOutcome {
        try await barrierWriteWithoutTransaction { db in
            try self.invalidatingReaders(progress) { try db.rotation.rotateKey(change, progress: $0) }
        }
    }

    /// Runs a rotation, and invalidates the readers. Neither open readers nor those that `progress` has used can read
    /// the new pages.
    private func invalidatingReaders(
        _ progress: ((EncryptionProgress) throws -> Void)?,
        _ rotate: (((EncryptionProgress) throws -> Void)?) throws -> RotationOutcome
    ) throws -> RotationOutcome {
        defer { invalidateReadOnlyConnections() }
        return try rotate(
            progress.map { progress in
                { state in
                    if state.isCompleted { self.invalidateReadOnlyConnections() }
                    try progress(state)
                }
            })
    }

    /// Removes the pages of the former key that a change of key has left, if no connection reads them. Waits for
    /// readers and writers as long as ``Configuration/busyMode`` allows. Does nothing if no page is left.
    ///
    /// Opening the database does the same, without waiting.
    ///
    /// - returns: the outcome, which indicates whether the former key is gone.
    /// - throws: `SQLITE_BUSY` when another connection keeps a lock; the errors of reading and writing the files.
    @discardableResult
    public func finishKeyRotation() throws -> RotationOutcome {
        try barrierWriteWithoutTransaction { try $0.rotation.finishKeyRotation() }
    }

    /// Suspends the task instead of blocking the thread.
    @discardableResult
    public func finishKeyRotation() async throws -> RotationOutcome {
        try await barrierWriteWithoutTransaction { try $0.rotation.finishKeyRotation() }
    }

    /// Writes a copy in another encryption into a new file.
    ///
    /// Does not write to this database, which may be read-only. ``DatabaseFile/encrypt(path:to:encryption:progress:)``
    /// documents what is copied and verified.
    ///
    /// - parameters:
    ///   - filePath: the path of the copy.
    ///   - encryption: the encryption of the copy. Nil for clear text.
    ///   - progress: called as pages are copied. An error that it throws stops the copy and removes the new file.
    /// - throws: `SQLITE_CANTOPEN` with the reason `fileExists` if the file or one of its sidecars exists.
    public func vacuum(
        into filePath: String, encryption: Encryption?, progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws {
        try writeWithoutTransaction { try DatabaseFile.copy($0, to: filePath, encryption, progress) }
    }

    /// Suspends the task instead of blocking the thread.
    public func vacuum(into filePath: String, encryption: Encryption?) async throws {
        try await writeWithoutTransaction { try DatabaseFile.copy($0, to: filePath, encryption, nil) }
    }
}
