import Foundation

extension Database {
    /// Applies the journal mode that the configuration asks for.
    ///
    /// - throws: `SQLITE_BUSY` when another connection keeps the file from changing to WAL.
    func setUpJournal(requiresWAL: Bool) throws {
        try untraced { try applyJournalMode(requiresWAL: requiresWAL) }
    }

    private func applyJournalMode(requiresWAL: Bool) throws {
        var wantsWAL = requiresWAL
        switch configuration.journalMode {
        case .default: break
        case .wal: wantsWAL = true
        }
        if configuration.persistentWAL, !configuration.readonly { try log.makePersistent() }
        if wantsWAL, !configuration.readonly {
            let mode = try String.fetchOne(self, sql: "PRAGMA main.journal_mode = WAL") ?? ""
            guard mode == "wal" else {
                throw DatabaseError(message: "\(path) can't have a write-ahead log: its journal mode is \(mode)")
            }
            // Durable against crashes of the program, and of the system up to the last checkpoint; never corrupt.
            try execute(sql: "PRAGMA synchronous = NORMAL")
            // The first read makes the log and its index, which a program that only reads may not be able to make.
            try takeSnapshot()
        }
    }
}

/// Suspends and resumes a database when notifications are posted, as long as it lives.
final class SuspensionObserver: @unchecked Sendable {
    /// For each database that follows the notifications, a function that returns true if it holds a lock.
    private static let lockHolders = Mutex<[ObjectIdentifier: @Sendable () -> Bool]>([:])

    /// The registrations with the notification center. Written while the observer is initialized.
    private var tokens: [any NSObjectProtocol] = []

    /// Follows the notifications; nil when the configuration does not ask for it. Keeps no connection alive.
    init?(of writer: SerializedConnection, readers: ReaderPool? = nil) {
        guard writer.configuration.observesSuspensionNotifications else { return nil }
        observe(Database.suspendNotification) { [weak writer, weak readers] in
            writer?.suspend()
            readers?.setSuspended(true)
        }
        observe(Database.resumeNotification) { [weak writer, weak readers] in
            readers?.setSuspended(false)
            writer?.resume()
        }
        let identifier = ObjectIdentifier(self)
        Self.lockHolders.withLock { holders in
            holders[identifier] = { [weak writer, weak readers] in
                writer?.holdsLock == true || readers?.holdsLock == true
            }
        }
    }

    private func observe(_ name: Notification.Name, _ react: @escaping @Sendable () -> Void) {
        tokens.append(NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in react() })
    }

    /// A Boolean value that indicates whether a database that follows the notifications holds a lock that keeps others
    /// out.
    static var isLockHeld: Bool {
        let holders = lockHolders.withLock { Array($0.values) }
        return holders.contains { $0() }
    }

    deinit {
        for token in tokens { NotificationCenter.default.removeObserver(token) }
        _ = Self.lockHolders.withLock { $0.removeValue(forKey: ObjectIdentifier(self)) }
    }
}
