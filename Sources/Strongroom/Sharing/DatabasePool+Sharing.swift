import Foundation

// Several processes that open one database, possibly at the same time, and before it exists.

extension DatabasePool {
    /// Opens a database that several processes share, for reading and writing. Creates the database and migrates it.
    ///
    /// One process at a time opens the database, while the others wait. The write-ahead log is kept for processes that
    /// only read: see ``Configuration/persistentWAL``. Opening and writes wait for the lock of another process. If
    /// ``Configuration/busyMode`` is `.immediateError`, they wait for five seconds.
    ///
    /// On Linux, a file whose name ends in `-lock` stays beside the database. On Apple's platforms a file coordinator
    /// replaces it.
    ///
    /// - parameters:
    ///   - path: the path of the database.
    ///   - configuration: the configuration of the pool, which is opened for writing in any case.
    ///   - migrator: the migrations of the schema. Default: none.
    ///   - setUp: further set-up, while other processes wait. Default: none.
    /// - throws: ``SupersededDatabaseError`` if a later version of the program has migrated the database; `SQLITE_BUSY`
    ///   after that time, with the process that opens the database in the message; the errors of opening, of a
    ///   migration, and of `setUp`.
    public static func openShared(
        path: String, configuration: Configuration = Configuration(), migrator: DatabaseMigrator = DatabaseMigrator(),
        setUp: (DatabasePool) throws -> Void = { _ in }
    ) throws -> DatabasePool {
        var configuration = configuration
        configuration.readonly = false
        configuration.persistentWAL = true
        if case .immediateError = configuration.busyMode { configuration.busyMode = .timeout(5) }
        return try OpeningLock.hold(for: .writing, at: path, configuration) {
            let pool = try DatabasePool(path: path, configuration: configuration)
            if !migrator.migrations.isEmpty {
                // Checked before migrating, because this version must not change the schema of a later one.
                if try !pool.read(migrator.recognizes), !migrator.eraseDatabaseOnSchemaChange {
                    throw SupersededDatabaseError(path: path)
                }
                try migrator.migrate(pool)
            }
            try setUp(pool)
            return pool
        }
    }

    /// Opens a database that several processes share, for reading only.
    ///
    /// - parameters:
    ///   - path: the path of the database.
    ///   - configuration: the configuration of the pool.
    ///   - migrator: the migrations that the database must have. Default: none.
    /// - returns: the pool. Nil if the database does not exist yet, or its migrations are not those of the migrator.
    /// - throws: `SQLITE_BUSY` with the process that opens the database in the message, after the time of
    ///   ``Configuration/busyMode``, or after five seconds if it is `.immediateError`; the errors of opening.
    public static func openSharedReadOnly(
        path: String, configuration: Configuration = Configuration(),
        migrator: DatabaseMigrator = DatabaseMigrator()
    ) throws
        -> DatabasePool?
    {
        var configuration = configuration
        configuration.readonly = true
        var patient = configuration
        if case .immediateError = patient.busyMode { patient.busyMode = .timeout(5) }
        return try OpeningLock.hold(for: .reading, at: path, patient) {
            // A killed process may have left an empty file. The size is read without opening the file.
            guard NamedFile.size(path) > 0 else { return nil }
            let pool = try DatabasePool(path: path, configuration: configuration)
            if migrator.migrations.isEmpty { return pool }
            let isExpected = try pool.read { db in
                try migrator.hasCompletedMigrations(db) && !migrator.hasBeenSuperseded(db)
            }
            return isExpected ? pool : nil
        }
    }
}

/// An error for a database that a later version of the program has migrated: this version does not know its schema.
public struct SupersededDatabaseError: Error, CustomStringConvertible {
    /// The path of the database.
    public let path: String

    /// The error in words, with the remedy.
    public var description: String {
        "\(path) was migrated by a later version of the program: update this one, or open the database for reading only"
    }
}
