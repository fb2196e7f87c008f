import Dispatch
import Foundation

/// The configuration of a database's connections.
public struct Configuration: Sendable {
    // MARK: - What connections may do

    /// A Boolean value that indicates whether the database is opened read-only. Default: false.
    public var readonly: Bool = false

    /// A Boolean value that indicates whether foreign keys are enforced. Default: true.
    /// <https://www.sqlite.org/foreignkeys.html>
    public var foreignKeysEnabled: Bool = true

    /// The reaction of a connection to a lock that another one holds. Default: `.immediateError`.
    public var busyMode: Database.BusyMode = .immediateError

    /// The journal of a writable database. Default: WAL for pools, the file's own mode for queues.
    public var journalMode: JournalModeConfiguration = .default

    /// A Boolean value that indicates whether the write-ahead log and its index stay when the last connection is
    /// closed, so that processes without write access can open the database at any time. Default: false.
    ///
    /// Source: <https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntlpersistwal>.
    public var persistentWAL: Bool = false

    /// A Boolean value that indicates whether `"text"` in double quotes can be a string. Default: false.
    /// <https://www.sqlite.org/quirks.html#dblquote>
    public var acceptsDoubleQuotedStringLiterals: Bool = false

    /// A Boolean value that indicates whether an access may leave a transaction open. Default: false.
    public var allowsUnsafeTransactions: Bool = false

    // MARK: - Set-up

    /// The encryption of the database. Nil, the default, for clear text, and if ``prepareDatabase(_:)`` sets the key.
    public var encryption: Encryption?

    /// The treatment of a database that has the format of an older SQLCipher, for example at the first start after an
    /// update of an application. Default: `.refuse`.
    public var olderFormats: OlderFormatPolicy = .refuse

    /// The permissions of the file of a new encrypted database, whatever the process's `umask`. Its log, its journal
    /// and its sidecars have the same. Default: `0o600`, for its owner only. It has no effect on files that exist, and
    /// none on databases in clear text, whose permissions follow the `umask`.
    ///
    /// Source: <https://www.sqlite.org/tempfiles.html> names the files; their modes are those of the database.
    public var posixPermissions: UInt16 = 0o600

    /// The derived keys that the connections of one queue or pool share. Nil if each connection has its own.
    private(set) var keyring: Keyring?

    /// The figures of one queue or pool. Nil for connections that the library opens for its own work.
    private(set) var tally: Tally?

    /// The recorder of accesses. Nil if they are not traced.
    var accessTracer: (any AccessTracer)?

    /// Returns the configuration for the connections of a new access, or for a further one of an access with derived
    /// keys.
    func sharingKeys(_ keyring: Keyring = Keyring()) -> Configuration {
        var configuration = self
        configuration.keyring = keyring
        configuration.tally = nil
        return configuration
    }

    /// Returns the configuration for the connections of a queue or pool, which count together.
    func counting() -> Configuration {
        var configuration = self
        configuration.tally = Tally()
        return configuration
    }

    /// The way in which a read leaves the files unchanged. Nil for connections without this restriction.
    var trace: ReadingTrace?

    /// True for a snapshot: it reads one state of a write-ahead log, which a suspension allows.
    var isSnapshot = false

    private(set) var setups: [@Sendable (Database) throws -> Void] = []

    /// Adds a function that each new connection runs before its first use, for example to set the key or to add
    /// functions.
    public mutating func prepareDatabase(_ setup: @escaping @Sendable (Database) throws -> Void) {
        setups.append(setup)
    }

    // MARK: - Schema, names and arguments

    /// The source of facts that the schema doesn't contain, such as the keys of views. Default: nil.
    public var schemaSource: (any DatabaseSchemaSource)?

    /// A name for the queues and descriptions of connections. Default: nil.
    public var label: String?

    /// A Boolean value that indicates whether errors and traces contain the arguments of statements, which may be
    /// secrets. Default: false.
    public var publicStatementArguments: Bool = false

    // MARK: - Transactions

    /// The kind of write transactions without an explicit one. Default: `.immediate`, which waits for the lock as
    /// ``busyMode`` defines. A deferred transaction takes the lock later, when waiting is not possible, and may fail.
    ///
    /// Transactions of read-only connections are always deferred.
    public var defaultTransactionKind: Database.TransactionKind = .immediate

    /// The clock of ``Database/transactionDate``. Default: the system's clock.
    public var transactionClock: any TransactionClock = .default

    // MARK: - Concurrency

    /// The number of readers of a pool. Default: 5.
    public var maximumReaderCount: Int = 5

    /// A Boolean value that indicates whether a pool keeps its readers open, instead of closing them under memory
    /// pressure. Default: false.
    public var persistentReadOnlyConnections: Bool = false

    /// A Boolean value that indicates whether the database releases its locks at ``Database/suspendNotification``.
    /// Default: false.
    public var observesSuspensionNotifications: Bool = false

    /// The treatment of accesses while the database is locked by `lock()`. Default: `.refuse`.
    public var lockedAccesses: LockedAccesses = .refuse

    /// A Boolean value that indicates whether SQLite's memory is wiped when it is freed: pages, rows, statements and
    /// their arguments. After `lock()`, none of them is left. Default: false.
    ///
    /// It applies to the whole process, from the first connection that sets it until the process ends, and makes
    /// SQLite's work on memory about five times as slow. Opening throws `SQLITE_MISUSE` if the library can't do it.
    /// <https://www.zetetic.net/sqlcipher/sqlcipher-api/#cipher_memory_security>
    public var wipesFreedMemory: Bool = false

    /// The watch over the files for changes by others. Nil if they are not observed.
    var fileWatching: FileWatching?

    /// The quality of service of database work. Default: `.userInitiated`.
    public var qos: DispatchQoS = .userInitiated

    /// The quality of service of reads.
    public var readQoS: DispatchQoS { targetQueue?.qos ?? qos }

    /// The quality of service of writes.
    public var writeQoS: DispatchQoS { writerTargetQueue?.qos ?? qos }

    /// The queue on which accesses run. Default: nil, for queues of the library.
    public var targetQueue: DispatchQueue?

    /// The queue on which writes run, instead of `targetQueue`. Default: nil. Not used if ``readonly`` is set.
    public var writeTargetQueue: DispatchQueue?

    /// The queue on which the writer's accesses run.
    var writerTargetQueue: DispatchQueue? { readonly ? targetQueue : writeTargetQueue ?? targetQueue }

    /// Creates the default configuration.
    public init() {}

    /// The treatment of accesses while the database is locked.
    public enum LockedAccesses: Sendable, Hashable {
        /// They throw an error with the reason ``DatabaseError/Reason/locked`` immediately.
        case refuse

        /// They wait until the database is unlocked. After so many seconds they throw the same error.
        case wait(TimeInterval)
    }

    /// Returns the configuration with a key of its own, which can be taken away when the database is locked.
    func owningKey() -> Configuration {
        var configuration = self
        if let key = encryption?.key {
            configuration.encryption?.key = DatabaseKey(source: KeySource(sharing: key.source))
        }
        return configuration
    }

    /// The treatment of a database that has the format of SQLCipher 1, 2 or 3.
    public enum OlderFormatPolicy: Sendable {
        /// Opening fails with the reason ``DatabaseError/Reason/olderFormat``, and nothing changes.
        case refuse

        /// Opening for writing migrates the database in its place, as
        /// ``DatabaseFile/migrateInPlace(path:from:as:progress:)`` does, and then opens it. It needs
        /// ``Configuration/encryption`` with the key of the database and the format that it is to have, and pages of
        /// the usual size of the former format. Connections that only read refuse.
        ///
        /// `progress` is called on the thread that opens the database.
        case migrate(progress: (@Sendable (EncryptionProgress) -> Void)? = nil)
    }

    /// The journal of writable connections.
    public enum JournalModeConfiguration: Sendable {
        /// WAL for pools, the file's own mode for queues.
        case `default`

        /// WAL. <https://www.sqlite.org/wal.html>
        case wal
    }
}
