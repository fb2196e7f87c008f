import Foundation

extension Database {
    /// Sets the journal mode that the configuration asks for.
    ///
    /// - throws: `SQLITE_BUSY` when another connection prevents the change to WAL.
    func setUpJournal(requiresWAL: Bool) throws {
        try untraced { try applyJournalMode(requiresWAL: requiresWAL) }
    }

    private func applyJournalMode(requiresWAL: Bool) throws {
        var needsWAL = requiresWAL
        switch configuration.journalMode {
        case .default: break
        case .wal: needsWAL = true
        }
        if configuration.persistentWAL, !configuration.readonly { try log.makePersistent() }
        if needsWAL, !configuration.readonly {
            let mode = try String.fetchOne(self, sql: "PRAGMA main.journal_mode = WAL") ?? ""
            guard mode == "wal" else {
                throw DatabaseError(message: "\(path) can't have a write-ahead log: its journal mode is \(mode)")
            }
            // Survives crashes of the program. A crash of the system may lose commits since the last checkpoint, and
            // never corrupts.
            try execute(sql: "PRAGMA synchronous = NORMAL")
            // The first read creates the log and its index. A program that only reads may not be able to.
            try takeSnapshot()
        }
    }
}

/// Suspends and resumes a database when notifications are posted, for as long as the observer lives.
final class SuspensionObserver: @unchecked Sendable {
    /// For each database that follows the notifications, a function that returns true if the database holds a lock.
    private static let lockHolders = Mutex<[ObjectIdentifier: @Sendable () -> Bool]>([:])

    /// The registrations with the notification center. Written while the observer is initialized.
    private var tokens: [any NSObjectProtocol] = []

    /// Registers for the notifications. Nil if the configuration does not ask for it. Holds no reference to a
    /// connection.
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
