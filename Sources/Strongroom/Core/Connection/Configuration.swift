import Dispatch
import Foundation

/// The settings of connections.
public struct Configuration: Sendable {
    // MARK: - What connections may do

    /// A Boolean value that indicates whether the database is opened for reading only. Default: false.
    public var readonly: Bool = false

    /// A Boolean value that indicates whether foreign keys are enforced. Default: true.
    /// <https://www.sqlite.org/foreignkeys.html>
    public var foreignKeysEnabled: Bool = true

    /// The reaction of a connection to a lock that another one holds. Default: `.immediateError`.
    public var busyMode: Database.BusyMode = .immediateError

    /// The journal of a writable database. Default: WAL for pools, whatever the file has for queues.
    public var journalMode: JournalModeConfiguration = .default

    /// A Boolean value that indicates whether the write-ahead log and its index stay when the last connection closes,
    /// so that processes that may only read can open the database at any time. Default: false.
    ///
    /// Source: <https://www.sqlite.org/c3ref/c_fcntl_begin_atomic_write.html#sqlitefcntlpersistwal>.
    public var persistentWAL: Bool = false

    /// A Boolean value that indicates whether `"text"` in double quotes may be a string. Default: false.
    /// <https://www.sqlite.org/quirks.html#dblquote>
    public var acceptsDoubleQuotedStringLiterals: Bool = false

    /// A Boolean value that indicates whether a database access may leave a transaction open. Default: false.
    public var allowsUnsafeTransactions: Bool = false

    // MARK: - Set-up

    /// The encryption of the database; nil when the key is set in ``prepareDatabase(_:)``, or for clear text.
    ///
    /// Default: nil.
    public var encryption: Encryption?

    /// The derived keys that the connections of one access share; each connection for itself when nil.
    private(set) var keyring: Keyring?

    /// The same settings, for the connections of a new access, or for one more of an access that has derived keys
    /// already.
    func sharingKeys(_ keyring: Keyring = Keyring()) -> Configuration {
        var configuration = self
        configuration.keyring = keyring
        return configuration
    }

    /// The way in which a reading connection leaves files as they were; nil for connections without that care.
    var trace: ReadingTrace?

    private(set) var setups: [@Sendable (Database) throws -> Void] = []

    /// Adds a function that every new connection runs before its first use: set the key, add functions.
    public mutating func prepareDatabase(_ setup: @escaping @Sendable (Database) throws -> Void) {
        setups.append(setup)
    }

    // MARK: - What is shown

    /// The source of facts that the schema doesn't tell, such as the keys of views. Default: nil.
    public var schemaSource: (any DatabaseSchemaSource)?

    /// A name for the connections' queues and descriptions. Default: nil.
    public var label: String?

    /// A Boolean value that indicates whether the arguments of statements appear in errors and traces. They may be
    /// secrets. Default: false.
    public var publicStatementArguments: Bool = false

    // MARK: - Transactions

    /// The kind of write transactions that name none. Default: `.immediate`, which waits for the lock as
    /// ``busyMode`` says; a deferred transaction may fail to get it later, when it can't be waited for.
    ///
    /// Transactions of read-only connections are always deferred.
    public var defaultTransactionKind: Database.TransactionKind = .immediate

    /// The clock of ``Database/transactionDate``. Default: the system's.
    public var transactionClock: any TransactionClock = .default

    // MARK: - Concurrency

    /// The number of readers of a pool. Default: 5.
    public var maximumReaderCount: Int = 5

    /// A Boolean value that indicates whether a pool keeps its readers for good, instead of closing them under memory
    /// pressure. Default: false.
    public var persistentReadOnlyConnections: Bool = false

    /// A Boolean value that indicates whether the database lets go of its locks at ``Database/suspendNotification``.
    /// Default: false.
    public var observesSuspensionNotifications: Bool = false

    /// How the files are watched for changes of others; nil where nobody wants to know of them.
    var fileWatching: FileWatching?

    /// The quality of service of database work. Default: `.userInitiated`.
    public var qos: DispatchQoS = .userInitiated

    /// The quality of service of reads.
    public var readQoS: DispatchQoS { targetQueue?.qos ?? qos }

    /// The quality of service of writes.
    public var writeQoS: DispatchQoS { writerTargetQueue?.qos ?? qos }

    /// The queue under the connections' queues. Default: nil.
    public var targetQueue: DispatchQueue?

    /// The queue under the writer's queue, instead of `targetQueue`. Default: nil. Where ``readonly`` is set, nobody
    /// writes, and it is not used.
    public var writeTargetQueue: DispatchQueue?

    /// The queue under that of the connection that writes, or could.
    var writerTargetQueue: DispatchQueue? { readonly ? targetQueue : writeTargetQueue ?? targetQueue }

    /// The default settings.
    public init() {}

    /// The journal of writable connections.
    public enum JournalModeConfiguration: Sendable {
        /// WAL for pools, whatever the file has for queues.
        case `default`

        /// WAL. <https://www.sqlite.org/wal.html>
        case wal
    }
}
