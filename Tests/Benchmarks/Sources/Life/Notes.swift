import Foundation
import Workload

/// The database of the application.
struct Notes: Sendable {
    let pool: DatabasePool
    private let passphrase: Passphrase

    init(path: String) throws {
        let passphrase = Passphrase(Day.passphrase)
        self.passphrase = passphrase
        pool = try DatabasePool(path: path, configuration: Self.configuration(passphrase))
        try Self.migrator.migrate(pool)
    }

    private static func configuration(_ passphrase: Passphrase) -> Configuration {
        var configuration = Configuration()
        configuration.observesSuspensionNotifications = true
        configuration.prepareDatabase { db in try db.usePassphrase(passphrase.value) }
        return configuration
    }

    private static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        // Has run: the application is not started for the first time.
        migrator.registerMigration("notes") { _ in fatalError("the database has no tables") }
        return migrator
    }

    func backup(to path: String) throws -> Int64 {
        let copy = try DatabaseQueue(path: path, configuration: Self.configuration(passphrase))
        try pool.backup(to: copy)
        let count = try copy.read { try Note.fetchCount($0) + Contact.fetchCount($0) }
        try copy.close()
        return Int64(count)
    }

    /// All pages are encrypted anew, and the next read opens a connection with the new passphrase.
    func changePassphrase() throws -> Int64 {
        try pool.barrierWriteWithoutTransaction { db in
            try db.changePassphrase(Day.newPassphrase)
            passphrase.value = Day.newPassphrase
        }
        pool.invalidateReadOnlyConnections()
        return try Int64(pool.read { try Note.fetchCount($0) })
    }
}

/// The passphrase of connections that are opened from now on.
private final class Passphrase: @unchecked Sendable {
    // `current` is behind the lock.
    private let lock = NSLock()
    private var current: String

    init(_ value: String) { current = value }

    var value: String {
        get { lock.withLock { current } }
        set { lock.withLock { current = newValue } }
    }
}
