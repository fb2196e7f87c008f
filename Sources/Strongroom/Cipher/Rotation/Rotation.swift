import CSQLCipher
import Foundation
import Logging

/// The state of a database after a change of its key. The new key opens it in any case.
public enum RotationOutcome: String, Sendable, Equatable {
    /// Nothing of the former key is left: no page in the file, and no frame in the write-ahead log.
    case complete

    /// Another connection reads pages of the former key, or writes: the file without its log may still open with the
    /// former key.
    ///
    /// The next opening without readers removes these pages, and so does `DatabaseWriter.finishKeyRotation()`.
    case formerKeyRemains

    /// A file could not be written, for example for lack of space, or the database was suspended: parts of the former
    /// key may be left.
    ///
    /// The next opening tries again, and so does `DatabaseWriter.finishKeyRotation()`, which throws the error. The
    /// error is logged.
    case unfinished
}

extension Database {
    /// Changes the passphrase of the database: encrypts every page with the new key and a new salt, and verifies it.
    ///
    /// Other connections must be opened again. Those of the same queue or pool get the new key automatically.
    /// `DatabaseWriter.rotateKey(to:progress:)` handles its pool's connections.
    ///
    /// - throws: `SQLITE_BUSY` when another connection writes, `SQLITE_FULL` and `SQLITE_IOERR` when the file can't
    ///   grow; nothing has changed. `SQLITE_MISUSE` for an empty passphrase, without a current key, and in a
    ///   transaction in which a statement has run. The reason ``DatabaseError/Reason/keyChanged`` marks failures after
    ///   the change. <https://www.zetetic.net/sqlcipher/sqlcipher-api/#sqlite3_rekey>
    public func changePassphrase(_ passphrase: String) throws {
        try rotation.rotateKey(to: .passphrase(passphrase))
    }

    /// Changes the passphrase of the database, as bytes. See ``changePassphrase(_:)-(String)``.
    public func changePassphrase(_ passphrase: Data) throws {
        try rotation.rotateKey(to: .passphrase(passphrase))
    }
}

/// The change of a connection's key: see <doc:Rotation>.
struct Rotation {
    let database: Database

    var cipher: CipherState { database.cipher }

    var stops: Stops { database.stops }

    /// Encrypts every page under `key`, in place and in one transaction. It succeeds only after the file was opened
    /// with the new key and each page authenticated, and a connection that has only the key has opened it.
    ///
    /// `progress` is called as pages are written. An error that it throws stops the rotation, and nothing has changed.
    /// After the last call, when the rotation is complete, its error is ignored.
    ///
    /// - throws: errors with the ``DatabaseError/reason`` `keyChanged` if the new key opens the database, and
    ///   `wrongKey` if another process has changed the key. After all other errors, the former key opens it.
    @discardableResult
    func rotateKey(
        to key: DatabaseKey, _ slotFile: SlotFileChange = .none,
        progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws -> RotationOutcome {
        do {
            return try outsideOfUntouchedTransaction {
                try database.withoutObservers { try changeKey(to: key, slotFile, progress: progress) }
            }
        } catch let error as DatabaseError {
            // Failures after the change have a reason already. With a plaintext header, SQLCipher 4.19 reports pages of
            // another key as damage.
            guard error.reason == nil || error.reason == .damaged else { throw error }
            let changed = database.keyProof.explanationOfChangedKey(error.extendedResultCode.rawValue)
            throw changed ?? (error.reason == nil ? error.because(.keyUnchanged) : error)
        }
    }

    private func changeKey(
        to key: DatabaseKey, _ slotFile: SlotFileChange,
        progress: ((EncryptionProgress) throws -> Void)?
    ) throws -> RotationOutcome {
        let old = try requireRotatable(slotFile)
        try stops.refuseLocks()
        if let (store, formerKeys) = key.source.managed {
            return try renewKey(in: store, formerKeys) { try changeKey(to: $0, slotFile, progress: progress) }
        }
        let new = try newKey(key, replacing: old)
        try naming(damageFor: old) { try database.writeUnwrittenPages() }
        let attempt = RotationAttempt(of: database, totalPageCount: try database.pageCount, progress: progress)
        var outcome = RotationOutcome.unfinished
        try database.check(RawConnection(database.openConnection).sync())
        try withWriteAheadLog {
            try beginRotation(from: old, to: new, slotFile)
            let report = try rewritePages(from: old, to: new, attempt)
            guard report.isCommitted else { throw stops.closing { failure(report, attempt, from: old) } }
            cipher.changeKey(to: key, new)
            // The change has happened: stops do not apply.
            try stops.closing {
                try verifyRotation(report, new)
                outcome = outcomeOfFinishing()
            }
        }
        do {
            // With the derived key, so that a provider is asked once.
            try database.requireOpening(bareEncryption, cipher.keyring)
        } catch {
            let error = error as? DatabaseError
            throw DatabaseError(
                error?.extendedResultCode ?? .SQLITE_ERROR, .keyChanged,
                "the key was changed, but a new connection does not open \(database.path) with it",
                advice: error?.failureReason)
        }
        attempt.complete()
        return outcome
    }

    /// The encryption that opens the database now, from its files alone.
    var bareEncryption: Encryption {
        let derived = cipher.derived!
        let header =
            cipher.saltOrigin == .caller
            ? PlaintextHeader(size: cipher.header, salt: .provided(derived.salt.bytes)) : nil
        return Encryption(key: cipher.key!, settings: derived.settings, plaintextHeader: header)
    }

    private func rewritePages(
        from old: DerivedKey, to new: DerivedKey, _ attempt: RotationAttempt
    ) throws -> RekeyReport {
        let rollback = try database.rollbackStatement
        // Releases the lock if the rotation ends before the rewriting, which always releases it.
        defer { _ = database.raw.cancelRekey(rollback) }
        let oldFormat = try PageFormat(old, header: cipher.header)
        let newFormat = try PageFormat(new, header: cipher.header)
        return try database.formatControl.holdingDefaults {
            try stops.checking { check in
                try attempt.run(check) { context, callBack in
                    try old.withPageKey(oldFormat) { oldKey in
                        try new.withPageKey(newFormat) { newKey in
                            database.raw.rekey(from: oldKey, to: newKey, callBack, context, rollback)
                        }
                    }
                }
            }
        }
    }

    /// Runs `body` in WAL mode, in which the pages of both keys exist side by side until the commit.
    ///
    /// In a rollback journal, SQLCipher writes the new salt into the copy of the former first page: after a crash, no
    /// passphrase would open the restored file.
    private func withWriteAheadLog(_ body: () throws -> Void) throws {
        let mode = try database.answer(to: "PRAGMA main.journal_mode") ?? "delete"
        // Such a journal contains pages of the former key.
        if mode == "persist" { _ = try database.answer(to: "PRAGMA main.journal_mode = delete") }
        if mode != "wal" {
            try database.repeatingWhileBusy { try database.runUnseen("PRAGMA main.journal_mode = wal") }
            guard try database.log.isUsed else {
                throw DatabaseError(refusing: "the key of \(database.path) can't be changed without a write-ahead log")
            }
        }
        defer { restoreJournalMode(mode) }
        // A power failure must not undo the commit.
        let synchronous = try database.answer(to: "PRAGMA main.synchronous") ?? "2"
        try database.runCipherPragma("main.synchronous = FULL")
        // If it can't be restored, the setting is slower and no less safe.
        defer { try? database.runCipherPragma("main.synchronous = \(synchronous)") }
        try body()
    }

    /// Goes back to a rollback journal. If other connections have the database open by now, it keeps its log. So does a
    /// suspended one with a large log, which takes long to remove under a lock.
    private func restoreJournalMode(_ mode: String) {
        guard mode != "wal" else { return }
        func restore() { _ = try? database.answer(to: "PRAGMA main.journal_mode = \(mode)") }
        var size: Int64 = 0
        let isSmall = database.raw.logSize(&size) == SQLITE_OK && size <= 8 << 20
        isSmall ? stops.undoing(restore) : stops.closing(restore)
    }

    // MARK: - Before

    private func requireRotatable(_ slotFile: SlotFileChange) throws -> DerivedKey {
        database.requireAccess()
        guard let derived = cipher.derived, database.isFileStored else {
            throw DatabaseError(
                refusing: "there is no key to change",
                advice: "encrypt the database with DatabaseFile.encrypt(path:to:encryption:)", reason: .notEncrypted)
        }
        guard try database.answer(to: "PRAGMA main.locking_mode") == "normal" else {
            throw DatabaseError(
                refusing: "a key can't be changed in exclusive locking mode",
                advice: "set PRAGMA locking_mode = NORMAL")
        }
        guard !database.configuration.readonly else {
            throw DatabaseError(.SQLITE_READONLY, refusing: "a read-only connection can't change the key")
        }
        try SaltFile.requireWritable(.rotation, of: database.filePath)
        try requireChangeable(slotFile)
        // With a plaintext header, the new salt ends up in this file.
        if cipher.header > 0 { try SaltFile.requireWritable(.permanent, of: database.filePath) }
        try database.requireSingleName()
        return derived
    }

    private func newKey(_ key: DatabaseKey, replacing old: DerivedKey) throws -> DerivedKey {
        let salt: Salt
        if let own = key.source.salt {
            salt = own
        } else if cipher.saltOrigin == .caller {
            salt = old.salt
        } else {
            salt = try .random()
        }
        return try cipher.keyring.derivedKey(for: key, salt: salt, settings: old.settings)
    }

    /// Takes the write lock and writes the new salt beside the file.
    private func beginRotation(from old: DerivedKey, to new: DerivedKey, _ slotFile: SlotFileChange) throws {
        // Finishes an earlier rotation: the file can hold one pending salt only.
        try database.recovery.finishRotation(waits: true)
        try requireRoom()
        let rollback = try database.rollbackStatement
        try database.check(RawConnection(database.openConnection).beginRekey())
        do {
            try database.readSchema()
            if let pending = try SaltFile.read(.rotation, of: database.filePath), pending.salt == old.salt {
                throw DatabaseError(
                    .SQLITE_BUSY, refusing: "connections still read pages from before an earlier rotation",
                    advice: "try again when they have ended",
                    reason: .checkpointPending)
            }
            try SaltFile(salt: new.salt, header: cipher.header).write(.rotation, of: database.filePath)
            try announce(slotFile, new)
        } catch {
            _ = database.raw.cancelRekey(rollback)
            throw error
        }
    }

    /// Throws if the disk is too full: the log contains the whole database for a while. A check is cheaper than a
    /// rollback.
    private func requireRoom() throws {
        let needed = try Int64(database.pageCount) * Int64(cipher.derived!.settings.pageSize + 32) + 4096
        let room = NamedFile.room(database.filePath)
        guard room.free > needed, room.largestFile > needed else {
            throw DatabaseError(
                .SQLITE_FULL, .keyUnchanged, "changing the key needs \(needed) bytes beside \(database.path)",
                advice: "make room")
        }
    }

    // MARK: - After

    /// Verifies the new key: a new connection has read with it, and each page is authenticated.
    private func verifyRotation(_ report: RekeyReport, _ new: DerivedKey) throws {
        guard report.result == ResultCode.SQLITE_OK.rawValue else {
            throw DatabaseError(
                ResultCode(rawValue: report.result), .keyChanged,
                "the key was changed, but this connection can't go on",
                advice: "close it and open the database again with the new key", isConnectionUsable: false)
        }
        let bad: [Int]
        do {
            bad = try database.withPlainConnection(derived: new, header: cipher.header) {
                try PageAuthentication($0).badPages()
            }
        } catch {
            throw DatabaseError(
                (error as? DatabaseError)?.extendedResultCode ?? .SQLITE_ERROR, .keyChanged,
                "the key was changed, but its check could not be finished",
                advice: "run checkIntegrity()")
        }
        guard bad.isEmpty else {
            throw DatabaseError(
                .SQLITE_CORRUPT, .keyChanged, "the key was changed, and page \(bad[0]) of \(database.path) is damaged",
                damagedPage: bad[0])
        }
    }

    /// Returns the error of a rotation that failed while the former key is valid.
    private func failure(
        _ report: RekeyReport, _ attempt: RotationAttempt, from old: DerivedKey
    ) -> any Error {
        // If this connection is lost, another one makes sure that nothing of the new key is left.
        if report.isLost {
            _ = try? database.withPlainConnection(derived: old, header: cipher.header) {
                try $0.recovery.finishRotation()
            }
        } else {
            _ = try? database.recovery.finishRotation()
        }
        if let stopped = attempt.stopped, !report.isLost { return stopped }
        return unchanged(ResultCode(rawValue: report.result), old, isLost: report.isLost)
    }

    /// Runs `body`, whose errors name the page that SQLCipher can't decrypt.
    private func naming(damageFor old: DerivedKey, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DatabaseError where Self.isVague(error.extendedResultCode) {
            throw unchanged(error.extendedResultCode, old, isLost: false)
        }
    }

    /// True for the codes that SQLCipher gives, without a message, when it can't decrypt a page.
    private static func isVague(_ code: ResultCode) -> Bool {
        [.SQLITE_NOMEM, .SQLITE_ERROR, .SQLITE_CORRUPT].contains(code.primaryResultCode)
    }

    private func unchanged(_ code: ResultCode, _ old: DerivedKey, isLost: Bool) -> DatabaseError {
        let page = Self.isVague(code) ? damagedPage(old) : nil
        return DatabaseError(
            page == nil ? code : .SQLITE_CORRUPT, .keyUnchanged,
            "the key was not changed" + (page.map { ": page \($0) of \(database.path) is damaged" } ?? ""),
            advice: isLost
                ? "this connection can't go on: close it and open the database again with the old key" : nil,
            damagedPage: page, isConnectionUsable: !isLost)
    }

    func finishKeyRotation() throws -> RotationOutcome {
        try database.stops.refuseLocks()
        return try database.recovery.finishRotation(waits: true) ? .complete : .formerKeyRemains
    }

    /// Finishes a rotation that has just been committed. A failure does not undo it: the next opening of the database
    /// tries again.
    func outcomeOfFinishing() -> RotationOutcome {
        do {
            return try database.recovery.finishRotation(waits: true) ? .complete : .formerKeyRemains
        } catch {
            Logger(label: "Strongroom").warning(
                "the key of \(database.path) was changed, and the rotation could not be finished: \(error)")
            return .unfinished
        }
    }

    private func damagedPage(_ derived: DerivedKey) -> Int? {
        let bad = try? database.withPlainConnection(derived: derived, header: cipher.header) {
            try PageAuthentication($0).badPages()
        }
        return bad?.first
    }
}

extension Database {
    /// The change of the connection's key.
    var rotation: Rotation { Rotation(database: self) }
}

extension DerivedKey {
    fileprivate func withPageKey<R>(
        _ format: PageFormat, _ body: (PageKey) throws -> R
    ) throws -> R {
        try withSpec { spec in
            try format.withFormat { format in
                try body(PageKey(spec: spec, format: format))
            }
        }
    }
}
