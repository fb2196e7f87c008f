/// A list of migrations, each of which runs once in the life of a database.
///
/// ```swift
/// var migrator = DatabaseMigrator()
/// migrator.registerMigration("Create players") { db in
///     try db.create(table: "player") { t in
///         t.autoIncrementedPrimaryKey("id")
///         t.column("name", .text).notNull()
///     }
/// }
/// try migrator.migrate(pool)
/// ```
///
/// Each migration runs in a transaction of its own, in the order of registration. The table `grdb_migrations` lists
/// the migrations that have run. It is GRDB's, so that a database can change between the two libraries.
public struct DatabaseMigrator: Sendable {
    /// The time at which a migration checks foreign keys.
    public enum ForeignKeyChecks: Sendable {
        /// At the end of the migration, so that it can recreate tables.
        /// <https://www.sqlite.org/lang_altertable.html#otheralter>
        case deferred

        /// At each statement.
        case immediate
    }

    /// A Boolean value that indicates whether a database with another schema than the migrations define is erased and
    /// migrated again.
    ///
    /// Use it only while migrations are being written: **all data is lost.** Default: false.
    public var eraseDatabaseOnSchemaChange = false

    private(set) var registered: [Migration] = []
    private var checksDeferredForeignKeys = true

    /// Creates a migrator without migrations.
    public init() {}

    /// The identifiers of the migrations, in the order of registration.
    public var migrations: [String] { registered.map(\.identifier) }

    // MARK: - Registration

    /// Adds a migration. Registering an identifier twice is a fatal error.
    ///
    /// - parameters:
    ///   - identifier: the identifier of the migration.
    ///   - foreignKeyChecks: the time of the foreign key checks. Default: `.deferred`.
    ///   - migrate: runs in a transaction.
    public mutating func registerMigration(
        _ identifier: String, foreignKeyChecks: ForeignKeyChecks = .deferred,
        migrate: @escaping @Sendable (Database) throws -> Void
    ) {
        registerMigration(identifier, foreignKeyChecks: foreignKeyChecks, merging: []) { db, _ in try migrate(db) }
    }

    /// Adds a migration that replaces former ones, which are no longer registered.
    ///
    /// - parameters:
    ///   - identifier: the identifier of the migration.
    ///   - foreignKeyChecks: the time of the foreign key checks. Default: `.deferred`.
    ///   - mergedIdentifiers: the former migrations; once this one has run, they are forgotten. The one that this one
    ///     has the name of may be among them, and stays.
    ///   - migrate: receives the former migrations that have run in this database, and does the work of the others.
    public mutating func registerMigration(
        _ identifier: String, foreignKeyChecks: ForeignKeyChecks = .deferred,
        merging mergedIdentifiers: Set<String> = [],
        migrate: @escaping @Sendable (Database, _ appliedIdentifiers: Set<String>) throws -> Void
    ) {
        let known = Set(migrations)
        if known.contains(identifier) {
            fatalError(
                """
                The migration "\(identifier)" is registered twice: give each migration an identifier of its own.
                """)
        }
        if let merged = mergedIdentifiers.first(where: known.contains) {
            fatalError(
                """
                The migration "\(identifier)" merges "\(merged)", which is registered: stop registering the merged \
                migration, and give the merging one a new identifier.
                """)
        }
        registered.append(
            Migration(
                identifier: identifier,
                mergedIdentifiers: mergedIdentifiers.subtracting([identifier]),
                foreignKeyChecks: migrationChecks(foreignKeyChecks),
                migrate: migrate))
    }

    private func migrationChecks(_ checks: ForeignKeyChecks) -> Migration.ForeignKeyChecks {
        switch checks {
        case .immediate: .immediate
        case .deferred: checksDeferredForeignKeys ? .deferred : .none
        }
    }

    /// Returns a migrator that does not check foreign keys after the migrations registered from now on.
    ///
    /// The check reads the whole database. Without it, the program must check foreign keys itself, for example with
    /// ``Database/checkForeignKeys()`` in a migration.
    public func disablingDeferredForeignKeyChecks() -> DatabaseMigrator {
        var migrator = self
        migrator.checksDeferredForeignKeys = false
        return migrator
    }
}
