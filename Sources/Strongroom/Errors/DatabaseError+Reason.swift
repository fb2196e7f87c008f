import Foundation

extension DatabaseError {
    /// The reason of an error, where the result code alone doesn't tell it, for programs to decide on.
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
    /// It is a struct and no enumeration, so that later versions can know more reasons: a `switch` has a `default`.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// The name of the reason, which never changes: fit for logs.
        public let description: String

        private init(_ name: String) { description = name }
    }

    /// The version of SQLCipher whose format the file has, from 1 to 4. Nil unless ``reason`` is
    /// ``Reason/olderFormat`` or ``Reason/newerFormat``.
    public var formatVersion: Int? { details?.formatVersion }

    /// The number of a page that is damaged, from 1. Nil where none is known.
    public var damagedPage: Int? { details?.damagedPage }

    /// A Boolean value that indicates whether the connection that threw the error can go on. Where it can't, close
    /// it, and open the database again.
    public var isConnectionUsable: Bool { details?.isConnectionUsable ?? true }

    /// The facts about a failure beyond code and message.
    final class Details: Sendable {
        let reason: Reason?
        let formatVersion: Int?
        let damagedPage: Int?
        let isConnectionUsable: Bool
        /// The cause and the remedy, in words.
        let explanation: String?
        let advice: String?

        init(
            reason: Reason?, formatVersion: Int? = nil, damagedPage: Int? = nil, isConnectionUsable: Bool = true,
            explanation: String? = nil, advice: String? = nil)
        {
            (self.reason, self.formatVersion, self.damagedPage) = (reason, formatVersion, damagedPage)
            (self.isConnectionUsable, self.explanation, self.advice) = (isConnectionUsable, explanation, advice)
        }
    }
}

extension DatabaseError.Reason {
    // MARK: Opening

    /// The key doesn't fit the database. Nobody can tell that from a file that was never a database.
    public static let wrongKey = Self("wrongKey")

    /// The key fits, and the salt that was given doesn't.
    public static let wrongSalt = Self("wrongSalt")

    /// The header of the database is plaintext, and its salt is neither beside it nor given.
    public static let missingSalt = Self("missingSalt")

    /// The file beside the database that holds its salt can't be understood.
    public static let damagedSalt = Self("damagedSalt")

    /// The file beside the database that would hold its salt is no regular file, or this user may not read or write
    /// it.
    public static let unfitSaltFile = Self("unfitSaltFile")

    /// The readable header of the database says something else than the settings: they are others, or it was changed.
    public static let contradictoryHeader = Self("contradictoryHeader")

    /// The name of the database leaves no room for those of the files beside it.
    public static let nameTooLong = Self("nameTooLong")

    /// A plaintext header was asked for, and the database is encrypted from its first byte.
    public static let missingPlaintextHeader = Self("missingPlaintextHeader")

    /// A key was given for a database in clear text.
    public static let notEncrypted = Self("notEncrypted")

    /// No key was given for a file that is not in clear text.
    public static let encryptedWithoutKey = Self("encryptedWithoutKey")

    /// The file is neither a database nor an encrypted one: a text, or too short.
    public static let notDatabase = Self("notDatabase")

    /// The key fits the database, which has the format of an older SQLCipher than the settings say. See
    /// ``DatabaseError/formatVersion``.
    public static let olderFormat = Self("olderFormat")

    /// The key fits the database, which has the format of a newer SQLCipher than the settings say. See
    /// ``DatabaseError/formatVersion``.
    public static let newerFormat = Self("newerFormat")

    /// A part of the database is damaged. See ``DatabaseError/damagedPage``. Every `SQLITE_CORRUPT` has this reason or
    /// a nearer one.
    public static let damaged = Self("damaged")

    /// The key is empty: SQLCipher would write clear text.
    public static let emptyKey = Self("emptyKey")

    /// The store of a managed key has none for a database that exists, or that may. No key was made.
    public static let missingKey = Self("missingKey")

    /// The store of a managed key is locked. Nothing was made or changed. The same call may succeed once it is unlocked.
    public static let keyStoreLocked = Self("keyStoreLocked")

    /// The store of a managed key can't be reached, refuses, or holds something else than a key.
    public static let keyStoreFailed = Self("keyStoreFailed")

    /// The connection has a key already, and another one was given.
    public static let otherKey = Self("otherKey")

    /// The SQLite library in the process isn't SQLCipher, or too old a version of it.
    public static let unfitLibrary = Self("unfitLibrary")

    /// Sorters and temporary tables would put clear text on the disk.
    public static let temporaryDataOnDisk = Self("temporaryDataOnDisk")

    /// The format of a database was to change that has pages in another one, or is open.
    public static let lateFormat = Self("lateFormat")

    /// A copy was to be written where there is a file already.
    public static let fileExists = Self("fileExists")

    /// A connection that only reads misses the files of the write-ahead log, and can't create them.
    public static let missingLog = Self("missingLog")

    // MARK: Key slots

    /// The key file beside the database can't be understood, or is longer than any that is one.
    public static let damagedKeyFile = Self("damagedKeyFile")

    /// The key file of an open database is gone; or it is no regular file, or this user may not read or write it.
    public static let unfitKeyFile = Self("unfitKeyFile")

    /// A later version of Strongroom wrote the key file.
    public static let newerKeyFile = Self("newerKeyFile")

    /// The key fits the key file, which was changed without the data key: no slot of it is used.
    public static let forgedKeyFile = Self("forgedKeyFile")

    /// The key file belongs to another database, or to this one before its data key was renewed.
    public static let foreignKeyFile = Self("foreignKeyFile")

    /// The key file is older than one that the caller or this program knows.
    public static let olderKeyFile = Self("olderKeyFile")

    /// The database has no key slots, or is to get them although it has some.
    public static let unfitKeySlots = Self("unfitKeySlots")

    /// A slot can't have that label, kind or derivation, or there are 32 already.
    public static let unfitKeySlot = Self("unfitKeySlot")

    /// There is no such slot.
    public static let missingKeySlot = Self("missingKeySlot")

    /// Without that slot, nothing would open the database.
    public static let lastKeySlot = Self("lastKeySlot")

    /// Slots would be dropped, because their secrets were not given.
    public static let droppedKeySlots = Self("droppedKeySlots")

    /// The derivation of a slot is cheaper than any that is allowed.
    public static let weakKeyCost = Self("weakKeyCost")

    /// The derivation of a slot, or that of all slots together, costs more than is allowed.
    public static let excessiveKeyCost = Self("excessiveKeyCost")

    /// The cryptographic provider has no such derivation, or refuses it for want of memory.
    public static let unsupportedDerivation = Self("unsupportedDerivation")

    /// A recovery code was mistyped.
    public static let mistypedRecoveryCode = Self("mistypedRecoveryCode")

    // MARK: Changing the key

    /// The key was not changed: the former one opens the database.
    public static let keyUnchanged = Self("keyUnchanged")

    /// The key was changed, and what came after failed: the new one opens the database.
    public static let keyChanged = Self("keyChanged")

    /// An earlier change of key is not finished: pages with its new key wait in the write-ahead log for readers to
    /// end. The key was not changed again. Try later.
    public static let checkpointPending = Self("checkpointPending")

    /// The file has several names (hard links), and its log and its salt belong to one of them: the key was not
    /// changed.
    public static let severalNames = Self("severalNames")

    // MARK: Accesses

    /// The database is suspended: it takes no lock until it is resumed.
    public static let suspended = Self("suspended")

    /// Somebody interrupted the statement. Every `SQLITE_INTERRUPT` has this reason.
    public static let interrupted = Self("interrupted")

    /// The transaction that the block relied on was rolled back before.
    public static let transactionAborted = Self("transactionAborted")

    /// The file at the path of the database was removed, renamed or replaced while it was open: what others write is not
    /// seen. Thrown by observations, where ``Configuration/observesExternalChanges`` is set.
    public static let fileGone = Self("fileGone")

    /// The connection is closed.
    public static let closed = Self("closed")

    /// The reason that follows from the code alone.
    init?(of code: ResultCode) {
        switch code.primaryResultCode {
        case .SQLITE_INTERRUPT: self = .interrupted
        case .SQLITE_CORRUPT: self = .damaged
        default: return nil
        }
    }
}

extension DatabaseError: LocalizedError {
    public var errorDescription: String? { description }

    /// The cause in words: SQLite's message, unless more is known.
    public var failureReason: String? { details?.explanation ?? message }

    /// The remedy in words, where one is known.
    public var recoverySuggestion: String? { details?.advice }
}

extension DatabaseError {
    /// An error with SQLite's message, and what is known beyond it.
    init(
        _ code: ResultCode, _ reason: Reason, _ explanation: String, advice: String? = nil, formatVersion: Int? = nil,
        damagedPage: Int? = nil, isConnectionUsable: Bool = true)
    {
        self.init(code, nil, Details(
            reason: reason, formatVersion: formatVersion, damagedPage: damagedPage,
            isConnectionUsable: isConnectionUsable, explanation: explanation, advice: advice))
    }

    /// An error where SQLite was not asked: what was refused is the message.
    init(
        _ code: ResultCode = .SQLITE_MISUSE, refusing message: String, advice: String? = nil, reason: Reason? = nil,
        isConnectionUsable: Bool = true)
    {
        self.init(code, message, Details(reason: reason, isConnectionUsable: isConnectionUsable, advice: advice))
    }

    /// The same error for that reason, unless it has one.
    func because(_ reason: Reason) -> DatabaseError {
        guard self.reason == nil else { return self }
        var error = self
        error.details = Details(reason: reason, explanation: details?.explanation, advice: details?.advice)
        return error
    }
}
