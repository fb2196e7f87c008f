/// A file beside a database that belongs to it. Its name is that of the database, and an ending.
///
/// The one list of these files. <doc:Sidecars> has the rules for those of this library. Copies in progress are in
/// folders of their own (`Shim/CStrongroom/staging.c`).
package enum CompanionFile: String, CaseIterable, Sendable {
    // MARK: Pages

    /// Pages that a transaction replaces, until it ends. <https://www.sqlite.org/fileformat.html#the_rollback_journal>
    case journal = "-journal"
    /// Pages that transactions have written. <https://www.sqlite.org/fileformat.html#the_write_ahead_log>
    case log = "-wal"
    /// The index of the log, which is shared memory. <https://www.sqlite.org/walformat.html#the_wal_index_file_format>
    case logIndex = "-shm"

    // MARK: Salts

    /// The salt of a database with a plaintext header, for the lifetime of the database.
    case salt = "-salt"
    /// The salt on which all processes that find the database empty agree.
    case newSalt = "-salt-new"
    /// The salt of a rotation in progress.
    case nextSalt = "-salt-next"

    // MARK: Key slots

    /// The slots of the data key that the database has.
    case keys = "-keys"
    /// The slots of the new data key of a rotation in progress.
    case nextKeys = "-keys-next"
    /// The next content of either.
    case newKeys = "-keys-new"

    // MARK: Replacements

    /// The record of a replacement of the database and of all files beside it, which each opening finishes.
    case replacement = "-replacing"

    // MARK: Locks

    /// The lock of processes that make or change a managed key.
    case keyLock = "-key-lock"
    /// The lock of processes that open the database by `openShared`.
    case openingLock = "-lock"

    /// A program that writes and removes a file.
    package enum Owner: Sendable {
        case sqlite, strongroom
    }

    /// The event after which a file is removed.
    package enum Removal: Sendable {
        /// SQLite removes it when its transaction ends, or with the last connection.
        case bySQLite
        /// It is removed when the database contains what it says, or was found not to need it.
        case whenMerged
        /// A change removes it, of the header or to a database without slots.
        case byChange
        /// The next change takes it over.
        case byNextWriter
        /// Never: with two files, two processes would both hold a lock.
        case never
    }

    /// The program that writes and removes the file.
    package var owner: Owner {
        switch self {
        case .journal, .log, .logIndex: .sqlite
        case .salt, .newSalt, .nextSalt, .keys, .nextKeys, .newKeys, .replacement, .keyLock, .openingLock:
            .strongroom
        }
    }

    /// The event after which the file is removed.
    package var removal: Removal {
        switch self {
        case .journal, .log, .logIndex: .bySQLite
        case .newSalt, .nextSalt, .nextKeys, .replacement: .whenMerged
        case .salt, .keys: .byChange
        case .newKeys: .byNextWriter
        case .keyLock, .openingLock: .never
        }
    }

    /// True for files with a state of the database: a file with the name would be taken for one of its own. Locks have
    /// no content.
    package var hasState: Bool { removal != .never }

    /// True for files without which no key may open the database: nothing replaces them.
    package var isNeeded: Bool { hasState && owner == .strongroom }

    /// True for files that a copy gets, too, and that are published with it: they get their name before the database.
    package var isPublished: Bool { removal == .byChange }

    /// True for files that a replacement takes away and brings in: all with a state but its own record.
    package var isReplaced: Bool { hasState && self != .replacement }

    /// True for files that are restored with a backup. The index of a log is made anew, and others of a creation or a
    /// change that did not end are not needed.
    package var isRestored: Bool { isReplaced && ![.logIndex, .newSalt, .newKeys].contains(self) }

    /// The files with a state of the database.
    package static var withState: [CompanionFile] { allCases.filter(\.hasState) }

    /// The files that SQLite writes.
    package static var ofSQLite: [CompanionFile] { allCases.filter { $0.owner == .sqlite } }

    /// Returns the path of the file beside a database.
    package func path(of database: String) -> String { database + rawValue }
}

/// The part that one kind of companion file plays.
protocol CompanionRole: RawRepresentable<String>, CaseIterable, Sendable {
    var file: CompanionFile { get }
}

extension CompanionRole {
    var rawValue: String { file.rawValue }

    init?(rawValue: String) {
        guard let role = Self.allCases.first(where: { $0.rawValue == rawValue }) else { return nil }
        self = role
    }
}
