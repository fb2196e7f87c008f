import Foundation

extension DatabaseError {
    /// The reason of an error that its result code alone doesn't identify, for programs to decide on.
    ///
    ///     do {
    ///         pool = try DatabasePool(path: path, configuration: configuration)
    ///     } catch let error as DatabaseError {
    ///         switch error.reason {
    ///         case .wrongKey: askAgain()
    ///         case .olderFormat: try migrate(from: error.formatVersion)
    ///         default: throw error
    ///         }
    ///     }
    ///
    /// A structure and not an enumeration, so that later versions can add reasons: a `switch` needs a `default`.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// The name of the reason. It never changes, and can be logged.
        public let description: String

        private init(_ name: String) { description = name }
    }

    /// The version of SQLCipher whose format the file has, from 1 to 4. Nil unless ``reason`` is ``Reason/olderFormat``
    /// or ``Reason/newerFormat``.
    public var formatVersion: Int? { details?.formatVersion }

    /// The number of a damaged page, from 1. Nil if none is known.
    public var damagedPage: Int? { details?.damagedPage }

    /// A Boolean value that indicates whether the connection that threw the error is still usable. If it is false,
    /// close the connection and open the database again.
    public var isConnectionUsable: Bool { details?.isConnectionUsable ?? true }

    /// The facts about a failure beyond its code and message.
    final class Details: Sendable {
        let reason: Reason?
        let formatVersion: Int?
        let damagedPage: Int?
        let isConnectionUsable: Bool
        /// The cause and the remedy, in words.
        let explanation: String?
        let advice: String?
        let refusal: Refusal?

        init(
            reason: Reason?, formatVersion: Int? = nil, damagedPage: Int? = nil, isConnectionUsable: Bool = true,
            explanation: String? = nil, advice: String? = nil, refusal: Refusal? = nil
        ) {
            (self.reason, self.formatVersion, self.damagedPage) = (reason, formatVersion, damagedPage)
            (self.isConnectionUsable, self.explanation, self.advice) = (isConnectionUsable, explanation, advice)
            self.refusal = refusal
        }
    }
}

extension DatabaseError.Reason {
    // MARK: Opening

    /// The key doesn't fit the database, or the file never was a database: without the key, the two look the same.
    public static let wrongKey = Self("wrongKey")

    /// The key fits, but the given salt doesn't.
    public static let wrongSalt = Self("wrongSalt")

    /// The header of the database is plaintext, and its salt is neither given nor in a file beside the database.
    public static let missingSalt = Self("missingSalt")

    /// The salt file beside the database is malformed.
    public static let damagedSalt = Self("damagedSalt")

    /// The salt file beside the database is not a regular file, or the user may not read or write it.
    public static let unfitSaltFile = Self("unfitSaltFile")

    /// The plaintext header of the database contradicts the cipher settings: the settings are wrong, or the header was
    /// changed.
    public static let contradictoryHeader = Self("contradictoryHeader")

    /// The name of the database is too long for the names of its sidecars.
    public static let nameTooLong = Self("nameTooLong")

    /// The configuration asks for a plaintext header, and the database is encrypted from its first byte.
    public static let missingPlaintextHeader = Self("missingPlaintextHeader")

    /// A key was given for a database in clear text.
    public static let notEncrypted = Self("notEncrypted")

    /// No key was given, and the file is not in clear text.
    public static let encryptedWithoutKey = Self("encryptedWithoutKey")

    /// The file is neither a database nor an encrypted one: it is text, or too short.
    public static let notDatabase = Self("notDatabase")

    /// The key fits, and the database has the format of an older SQLCipher than the cipher settings. See
    /// ``DatabaseError/formatVersion``.
    public static let olderFormat = Self("olderFormat")

    /// The key fits, and the database has the format of a newer SQLCipher than the cipher settings. See
    /// ``DatabaseError/formatVersion``.
    public static let newerFormat = Self("newerFormat")

    /// A part of the database is damaged. See ``DatabaseError/damagedPage``. Each `SQLITE_CORRUPT` has this reason or a
    /// more specific one.
    public static let damaged = Self("damaged")

    /// The key is empty. SQLCipher would write clear text with it.
    public static let emptyKey = Self("emptyKey")

    /// The store of a managed key has no key, and the database exists or may exist. No key was made.
    public static let missingKey = Self("missingKey")

    /// The store of a managed key is locked. Nothing was made or changed. Unlock the store and try again.
    public static let keyStoreLocked = Self("keyStoreLocked")

    /// The store of a managed key can't be reached, refuses access, or returns something other than a key.
    public static let keyStoreFailed = Self("keyStoreFailed")

    /// The key store has the key of another database. No database was created, encrypted or rotated with that key.
    public static let foreignKeyStore = Self("foreignKeyStore")

    /// The connection already has another key.
    public static let otherKey = Self("otherKey")

    /// The SQLite library in the process isn't SQLCipher, or is too old a version of it.
    public static let unfitLibrary = Self("unfitLibrary")

    /// Sorters and temporary tables would write clear text to the disk.
    public static let temporaryDataOnDisk = Self("temporaryDataOnDisk")

    /// The format can't be set: the database already has pages, or is open.
    public static let lateFormat = Self("lateFormat")

    /// The destination of a copy already exists.
    public static let fileExists = Self("fileExists")

    /// The write-ahead log beside the database has pages of another database, or of another key. Nothing was read from
    /// it or changed.
    public static let foreignLog = Self("foreignLog")

    /// A restore or a migration in place was interrupted, and this process can't finish it: the message says why.
    public static let replacementPending = Self("replacementPending")

    /// The file is no backup of this database, or the place is unfit for a restore: the message says why. Nothing was
    /// changed.
    public static let notRestorable = Self("notRestorable")

    /// The file, or one beside it, was changed or replaced while it was copied.
    public static let changedMeanwhile = Self("changedMeanwhile")

    /// A read-only connection needs the files of the write-ahead log. They are missing, and it can't create them.
    public static let missingLog = Self("missingLog")

    /// A folder or a stream of backups can't be used: it can't be read or written, or is not a whole backup of this
    /// library.
    public static let unfitBackup = Self("unfitBackup")

    // MARK: Key slots

    /// The slot file beside the database is malformed, or longer than any slot file.
    public static let damagedSlotFile = Self("damagedSlotFile")

    /// The slot file of an open database is missing, is not a regular file, or this user may not read or write it.
    public static let unfitSlotFile = Self("unfitSlotFile")

    /// A later version of Strongroom wrote the slot file.
    public static let newerSlotFile = Self("newerSlotFile")

    /// The key fits the slot file, but the file was changed without the data key. None of its slots is used.
    public static let forgedSlotFile = Self("forgedSlotFile")

    /// The slot file belongs to another database, or is from before the data key was renewed.
    public static let foreignSlotFile = Self("foreignSlotFile")

    /// The slot file is older than one that the caller or this process has seen.
    public static let olderSlotFile = Self("olderSlotFile")

    /// The operation needs a database with key slots, or one without, and the database is the other.
    public static let unfitKeySlots = Self("unfitKeySlots")

    /// The label, kind or derivation of a slot is not allowed, or the database already has 32 slots.
    public static let unfitKeySlot = Self("unfitKeySlot")

    /// The secret of a new slot has a slot already.
    public static let existingKeySlot = Self("existingKeySlot")

    /// The database has no such slot.
    public static let missingKeySlot = Self("missingKeySlot")

    /// The slot is the last one: without it, no secret opens the database.
    public static let lastKeySlot = Self("lastKeySlot")

    /// The rotation would drop slots, because their secrets were not given.
    public static let droppedKeySlots = Self("droppedKeySlots")

    /// The derivation of a slot is cheaper than the allowed minimum.
    public static let weakKeyCost = Self("weakKeyCost")

    /// The derivation of a slot, or that of all slots together, costs more than the allowed maximum.
    public static let excessiveKeyCost = Self("excessiveKeyCost")

    /// The cryptographic provider doesn't have the derivation, or has too little memory for it.
    public static let unsupportedDerivation = Self("unsupportedDerivation")

    /// A recovery code contains a typing mistake.
    public static let mistypedRecoveryCode = Self("mistypedRecoveryCode")

    // MARK: Changing the key

    /// The key was not changed. The former key opens the database.
    public static let keyUnchanged = Self("keyUnchanged")

    /// The key store can't keep the former key, which opens the copies of the database. The key was not changed.
    public static let unkeptFormerKey = Self("unkeptFormerKey")

    /// The key was changed, and a later step failed. The new key opens the database.
    public static let keyChanged = Self("keyChanged")

    /// An earlier rotation is not finished: its pages are still in the write-ahead log, because readers use older
    /// pages. The key was not changed again. Try again when the readers have ended.
    public static let checkpointPending = Self("checkpointPending")

    /// The file has several names (hard links), and its log and salt belong to one of them. The key was not changed.
    public static let severalNames = Self("severalNames")

    // MARK: Accesses

    /// The database is suspended. It takes no lock until it is resumed.
    public static let suspended = Self("suspended")

    /// The database is locked: its keys are wiped, and accesses throw `SQLITE_AUTH` until it is unlocked with its key.
    /// See <doc:LockingAndUnlocking>.
    public static let locked = Self("locked")

    /// The database is not locked, and can't be unlocked.
    public static let notLocked = Self("notLocked")

    /// The database can't be locked: it is in memory, has no key that `unlock(with:)` could give again, or the call is
    /// inside of an access or on the target queue. The message says which. Nothing was changed.
    public static let notLockable = Self("notLockable")

    /// The statement was interrupted. Each `SQLITE_INTERRUPT` has this reason.
    public static let interrupted = Self("interrupted")

    /// The transaction that the block relies on was rolled back before.
    public static let transactionAborted = Self("transactionAborted")

    /// The database file was removed, renamed or replaced while it was open. Thrown by writes with a rollback journal,
    /// and by all writes and observations if ``Configuration/observesExternalChanges`` is set. Other connections use
    /// the former file.
    public static let fileGone = Self("fileGone")

    /// The statement breaks a rule of the access's ``Restrictions``: see ``DatabaseError/refusal``. Nothing was
    /// changed. Rows that the statement returned before it reached a limit were read.
    public static let restricted = Self("restricted")

    /// The ``Restrictions`` name a table, column or function that does not exist, or have a limit that is not greater
    /// than zero. Nothing was read.
    public static let unfitRestrictions = Self("unfitRestrictions")

    /// An access computes outside of SQLite, so that an interruption can't end it. The database is closed when the
    /// access ends.
    public static let accessRunning = Self("accessRunning")

    /// The service was stopped while it opened its database. Nothing was read or written by accesses.
    public static let stoppedWhileOpening = Self("stoppedWhileOpening")

    /// The connection is closed.
    public static let closed = Self("closed")

    /// Creates the reason that follows from the code alone. Nil if none does.
    init?(of code: ResultCode) {
        switch code.primaryResultCode {
        case .SQLITE_INTERRUPT: self = .interrupted
        case .SQLITE_CORRUPT: self = .damaged
        default: return nil
        }
    }
}

extension DatabaseError: LocalizedError {
    /// The description, for Foundation.
    public var errorDescription: String? { description }

    /// The cause in words: SQLite's message, or a more precise explanation.
    public var failureReason: String? { details?.explanation ?? message }

    /// The remedy in words, if one is known.
    public var recoverySuggestion: String? { details?.advice }
}

extension DatabaseError {
    /// Creates an error with SQLite's message, a reason and an explanation.
    init(
        _ code: ResultCode, _ reason: Reason, _ explanation: String, advice: String? = nil, formatVersion: Int? = nil,
        damagedPage: Int? = nil, isConnectionUsable: Bool = true
    ) {
        self.init(
            code, nil,
            Details(
                reason: reason, formatVersion: formatVersion, damagedPage: damagedPage,
                isConnectionUsable: isConnectionUsable, explanation: explanation, advice: advice))
    }

    /// Creates an error with a message, or SQLite's for the code.
    init(_ code: ResultCode, message: String?) {
        self.init(code, message, nil)
    }

    /// Creates an error for what the library refuses without a call of SQLite.
    init(
        _ code: ResultCode = .SQLITE_MISUSE, refusing message: String, advice: String? = nil, reason: Reason? = nil,
        isConnectionUsable: Bool = true
    ) {
        self.init(code, message, Details(reason: reason, isConnectionUsable: isConnectionUsable, advice: advice))
    }

    /// Returns a copy of the error with the reason, unless it has one already.
    func because(_ reason: Reason) -> DatabaseError {
        guard self.reason == nil else { return self }
        var error = self
        error.details = Details(reason: reason, explanation: details?.explanation, advice: details?.advice)
        return error
    }
}
