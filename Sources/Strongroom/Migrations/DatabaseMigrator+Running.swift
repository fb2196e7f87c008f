import Foundation

extension DatabaseMigrator {
    // MARK: - Migrating

    /// Runs the migrations that have not run yet.
    ///
    /// Blocks until all have run. Reads wait. A migration that fails is rolled back; those before it stay.
    ///
    /// When several processes migrate simultaneously, each migration runs in one of them: set
    /// ``Configuration/busyMode`` for the others to wait.
    ///
    /// - throws: the errors of the migrations; `SQLITE_CONSTRAINT_FOREIGNKEY` if one leaves a broken foreign key.
    public func migrate(_ writer: any DatabaseWriter) throws {
        guard let last = registered.last else { return }
        try migrate(writer, upTo: last.identifier)
    }

    /// Runs the migrations that have not run yet, up to a given one.
    ///
    /// An unknown identifier is a fatal error, and so is a database with a later migration.
    public func migrate(_ writer: any DatabaseWriter, upTo targetIdentifier: String) throws {
        try writer.barrierWriteWithoutTransaction { try migrate($0, upTo: targetIdentifier) }
    }

    /// Schedules the migrations. `completion` is called after them, before any other write.
    public func asyncMigrate(
        _ writer: any DatabaseWriter, completion: @escaping @Sendable (Result<Database, any Error>) -> Void
    ) {
        writer.asyncBarrierWriteWithoutTransaction { db in
            completion(
                Result {
                    let db = try db.get()
                    if let last = registered.last { try migrate(db, upTo: last.identifier) }
                    return db
                })
        }
    }

    /// Runs `body` without the schema source of the configuration, which describes the schema after the migrations.
    private func migrate(_ db: Database, upTo target: String) throws {
        try db.withSchemaSource(nil) { try run(db, upTo: target) }
    }

    private func run(_ db: Database, upTo target: String) throws {
        guard let end = registered.firstIndex(where: { $0.identifier == target }) else {
            fatalError("The migration \"\(target)\" is unknown: register it before migrating up to it.")
        }
        if eraseDatabaseOnSchemaChange, try hasSchemaChanges(db) { try db.erase() }
        let applied = try MigrationHistory.identifiers(db)
        if let beyond = registered[(end + 1)...].first(where: { applied.contains($0.identifier) }) {
            fatalError(
                """
                The database can't be migrated up to "\(target)": the later migration "\(beyond.identifier)" has run.
                """)
        }
        for migration in registered[...end] {
            if !applied.contains(migration.identifier) {
                try migration.run(db)
            } else if !migration.mergedIdentifiers.isDisjoint(with: applied) {
                // An earlier version of the program ran the migration under the same name, beside those that it merges
                // now.
                try MigrationHistory.forget(migration.mergedIdentifiers, db)
            }
        }
    }

    // MARK: - What has run

    /// Returns the identifiers of all migrations that have run, including unregistered ones.
    public func appliedIdentifiers(_ db: Database) throws -> Set<String> {
        try MigrationHistory.identifiers(db)
    }

    /// Returns the registered migrations that have run, in the order of registration.
    public func appliedMigrations(_ db: Database) throws -> [String] {
        let applied = try MigrationHistory.identifiers(db)
        return migrations.filter(applied.contains)
    }

    /// Returns the registered migrations up to the first that has not run.
    public func completedMigrations(_ db: Database) throws -> [String] {
        let applied = try MigrationHistory.identifiers(db)
        return Array(migrations.prefix(while: applied.contains))
    }

    /// Returns a Boolean value that indicates whether all registered migrations have run.
    public func hasCompletedMigrations(_ db: Database) throws -> Bool {
        try completedMigrations(db).count == registered.count
    }

    /// Returns a Boolean value that indicates whether an unregistered migration has run: a later version of the program
    /// has migrated the database.
    public func hasBeenSuperseded(_ db: Database) throws -> Bool {
        try !MigrationHistory.identifiers(db).isSubset(of: migrations)
    }

    /// Returns true if each migration that has run is registered, or merged into a registered one: the database has not
    /// been superseded, or only seems to be until it is migrated.
    func recognizes(_ db: Database) throws -> Bool {
        let known = Set(migrations).union(registered.flatMap(\.mergedIdentifiers))
        return try MigrationHistory.identifiers(db).isSubset(of: known)
    }

    // MARK: - Schema changes

    /// Returns true if the schema differs from the one that the same migrations create in an empty database.
    ///
    /// The migrations run in a temporary file with the same configuration. Data does not count.
    ///
    /// - throws: the errors of the migrations.
    public func hasSchemaChanges(_ db: Database) throws -> Bool {
        if try hasBeenSuperseded(db) { return true }
        guard let last = try appliedMigrations(db).last else { return false }
        return try schema(upTo: last, db.configuration) != Self.schema(db)
    }

    private struct SchemaObject: Hashable {
        let type: String
        let name: String
        let table: String
        let sql: String?
    }

    /// Returns the schema that the migrations create in an empty database.
    private func schema(upTo target: String, _ configuration: Configuration) throws -> Set<SchemaObject> {
        var migrator = self
        migrator.eraseDatabaseOnSchemaChange = false
        var configuration = configuration
        configuration.label = "Strongroom.DatabaseMigrator"
        configuration.targetQueue = nil
        configuration.writeTargetQueue = nil
        configuration.observesSuspensionNotifications = false
        configuration.readonly = false
        // A file, because the set-up of the configuration may need one.
        let files = FileManager.default
        let folder = files.temporaryDirectory.appendingPathComponent("Strongroom-\(UUID().uuidString)")
        try files.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        defer { try? files.removeItem(at: folder) }
        let path = folder.appendingPathComponent("schema.sqlite").path
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try migrator.migrate(queue, upTo: target)
        defer { try? queue.close() }
        return try queue.read(Self.schema)
    }

    private static func schema(_ db: Database) throws -> Set<SchemaObject> {
        let rows = try Row.fetchAll(db, sql: "SELECT type, name, tbl_name, sql FROM main.sqlite_master")
        return Set(
            rows.map { SchemaObject(type: $0["type"], name: $0["name"], table: $0["tbl_name"], sql: $0["sql"]) }
                .filter { !Database.isSQLiteInternalTable($0.name) && !Database.isGRDBInternalTable($0.table) })
    }
}
