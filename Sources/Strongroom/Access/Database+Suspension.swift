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
        if configuration.persistentWAL, !configuration.readonly { try keepLog() }
        if wantsWAL, !configuration.readonly {
            let mode = try String.fetchOne(self, sql: "PRAGMA main.journal_mode = WAL") ?? ""
            guard mode == "wal" else {
                throw DatabaseError(message: "\(path) can't have a write-ahead log: its journal mode is \(mode)")
            }
            // Durable against crashes of the program, and of the system up to the last checkpoint; never corrupt.
            try execute(sql: "PRAGMA synchronous = NORMAL")
            // The first read makes the log and its index, which a program that only reads may not be able to make.
            try holdState()
        }
    }
}

/// Suspends and resumes a database when notifications are posted, as long as it lives.
final class SuspensionObserver: @unchecked Sendable {
    /// Which of the databases that follow the notifications hold locks.
    nonisolated(unsafe) private static var lockHolders: [ObjectIdentifier: @Sendable () -> Bool] = [:]
    private static let lock = NSLock()

    /// Set once and only given back.
    private var tokens: [any NSObjectProtocol] = []

    /// Nil when the configuration does not want it. The connections are not kept alive by what they listen to.
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
        Self.lock.withLock {
            Self.lockHolders[identifier] = { [weak writer, weak readers] in
                writer?.holdsLock == true || readers?.holdsLock == true
            }
        }
    }

    private func observe(_ name: Notification.Name, _ react: @escaping @Sendable () -> Void) {
        tokens.append(NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { _ in react() })
    }

    /// Whether one of the databases that follow the notifications holds a lock that keeps others out.
    static var isLockHeld: Bool {
        let holders = lock.withLock { Array(lockHolders.values) }
        return holders.contains { $0() }
    }

    deinit {
        for token in tokens { NotificationCenter.default.removeObserver(token) }
        _ = Self.lock.withLock { Self.lockHolders.removeValue(forKey: ObjectIdentifier(self)) }
    }
}
