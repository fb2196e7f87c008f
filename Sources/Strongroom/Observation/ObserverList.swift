import CSQLCipher
import CStrongroom
import Foundation

/// The transaction observers of one connection, and who of them is told what. Used with access to the connection only.
///
/// Writers pay for what is watched: who wants to know of a statement is remembered with the statement, and SQLite is asked
/// to tell of rows only while a statement runs that somebody wants to know of.
final class ObserverList: ConnectionPart {
    // Unchecked exclusivity: see `Database`.

    /// Whether there is anybody.
    @exclusivity(unchecked) private(set) var isActive = false

    private unowned let database: Database
    private let connection: UnsafeMutablePointer<strongroom_connection>

    /// Whether the transaction has changes that SQLite knows nothing of.
    private(set) var hasUnseenChanges = false

    /// Whether somebody was told of a row or of a commit that may still be undone.
    @exclusivity(unchecked) private(set) var hasTold = false

    /// A statement that runs. SQL functions run statements inside of others.
    private struct Run {
        let statement: ObjectIdentifier
        let audience: Audience
    }

    private var registrations: [ObserverRegistration] = [] {
        didSet {
            generation += 1
            isActive = !registrations.isEmpty
            database.parts.update()
            asksEachTime = registrations.contains { !$0.watchesRegion }
        }
    }

    /// Counts what may change the answer to who wants to know.
    @exclusivity(unchecked) private var generation = 0
    @exclusivity(unchecked) private var asksEachTime = false
    @exclusivity(unchecked) private var runs: [Run] = []
    @exclusivity(unchecked) private var savepoints = SavepointLog()
    @exclusivity(unchecked) private var watchesRows = false
    private var secretiveTables: [String: Bool] = [:]

    init(_ database: Database) {
        self.database = database
        connection = database.connection
        // What the schema is said to be is up to date before observers ask for it.
        _ = database.schemaCache
        for name in database.transactions.savepoints { savepoints.begin(name) }
    }

    var concerns: PartConcerns { isActive ? [.effects, .transactions] : [] }

    // MARK: - Observers

    func add(_ observer: any TransactionObserver, _ extent: Database.TransactionObservationExtent) {
        registrations.append(ObserverRegistration(observer, extent, on: connection))
    }

    func remove(_ observer: any TransactionObserver) {
        // As often as it was added.
        registrations.first { $0.observer === observer }?.end()
        registrations.removeAll { $0.observer == nil }
    }

    func didClose() {
        for registration in registrations { registration.end() }
        registrations = []
        savepoints.removeAll()
    }

    /// Declares that region observers have changed their minds.
    func regionsDidChange() {
        generation += 1
    }

    // MARK: - Statements

    func willRun(_ statement: Statement, in db: Database) {
        guard isActive, statement.hasEffects else { return }
        let audience = audience(of: statement, on: db)
        let isObserved = !audience.listeners.isEmpty
        if isObserved != watchesRows, isObserved || runs.isEmpty {
            watchesRows = isObserved
            watchRows(isObserved, on: db.sqliteConnection)
        }
        // A statement that nobody wants to know of is noted inside of one that is watched.
        if isObserved || !runs.isEmpty { runs.append(Run(statement: ObjectIdentifier(statement), audience: audience)) }
    }

    func didRun(_ statement: Statement, isDone: Bool, in db: Database) {
        if isActive { concludeRun(of: statement, isDone: isDone) }
        if isDone { followSavepoint(statement.compilation.transaction) }
    }

    private func concludeRun(of statement: Statement, isDone: Bool) {
        if !runs.isEmpty, let index = runs.lastIndex(where: { $0.statement == ObjectIdentifier(statement) }) {
            runs.remove(at: index)
        }
        guard isDone else { return }
        if statement.compilation.changesSchema {
            schemaDidChange()
        } else if let audience = audience(knownFor: statement) {
            if audience.recompilationCount != statement.recompilationCount {
                // There may be new triggers, of which nobody was asked.
                statement.observation = nil
                let news = statement.eventKinds.filter { kind in !audience.kinds.contains(where: kind.isSame(as:)) }
                tellRegionObservers { observer in news.contains(where: observer.observes(eventsOfKind:)) }
            } else if audience.mayHideChanges {
                for listener in audience.listeners where listener.registration.watchesRegion {
                    listener.registration.tellOfChanges()
                }
            }
        }
    }

    func isConcerned(by statement: Statement) -> Bool {
        guard isActive else { return false }
        guard runs.isEmpty, let audience = audience(knownFor: statement) else { return true }
        return !audience.listeners.isEmpty || audience.recompilationCount != statement.recompilationCount
    }

    /// Has SQLite tell of each row that changes, or not anymore. <https://www.sqlite.org/c3ref/update_hook.html>
    private func watchRows(_ isWatching: Bool, on connection: SQLiteConnection?) {
        let context = isWatching ? Unmanaged.passUnretained(self).toOpaque() : nil
        sqlite3_update_hook(connection, isWatching ? tellRow : nil, context)
    }

    fileprivate func rowDidChange(_ event: DatabaseEvent) {
        guard let audience = runs.last?.audience else { return }
        guard savepoints.isEmpty else {
            return savepoints.append(.init(event: event.copy(), listeners: audience.listeners))
        }
        hasTold = true
        for listener in audience.listeners { listener.tell(event, event.tableName) }
    }

    /// Nobody else keeps anything there, and a checked cast would cost each run.
    private func audience(knownFor statement: Statement) -> Audience? {
        statement.observation.map { unsafeDowncast($0, to: Audience.self) }
    }

    private func audience(of statement: Statement, on db: Database) -> Audience {
        let count = statement.recompilationCount
        if let audience = audience(knownFor: statement), audience.generation == generation, audience.recompilationCount == count,
            !asksEachTime || audience.isConfirmed(by: registrations)
        {
            return audience
        }
        let kinds = statement.eventKinds
        let audience = Audience(
            generation: generation, recompilationCount: count, kinds: kinds, registrations: registrations,
            mayHideChanges: { self.mayHideChanges(statement, kinds, db) })
        statement.observation = audience
        if !audience.listeners.isEmpty, !statement.compilation.changesSchema { watchDeletions(kinds, on: db) }
        return audience
    }

    /// `DELETE` without `WHERE` tells of no row unless it was compiled to do so.
    private func watchDeletions(_ kinds: [DatabaseEventKind], on db: Database) {
        for case .delete(let table) in kinds { db.authorizer.watchDeletions(in: table, on: db.sqliteConnection) }
    }

    // MARK: - What SQLite doesn't tell

    private func mayHideChanges(_ statement: Statement, _ kinds: [DatabaseEventKind], _ db: Database) -> Bool {
        if statement.sql.range(of: "replace", options: .caseInsensitive) != nil { return true }
        // The program did not ask these questions: its trace is not to show them.
        return db.untraced { kinds.contains { isSecretive($0.tableName, db) || movesRows($0, db) } }
    }

    /// Whether rows get other rowids: SQLite tells the new ones only, and nobody who watches the former.
    private func movesRows(_ kind: DatabaseEventKind, _ db: Database) -> Bool {
        guard case .update(let table, let columns) = kind else { return false }
        let rowID = try? db.primaryKey(table).rowIDColumn
        return columns.contains { ["rowid", "oid", "_rowid_", rowID?.lowercased()].contains($0.lowercased()) }
    }

    /// Whether a table changes without events: it has no rowid, is virtual, or its constraints or triggers replace rows.
    private func isSecretive(_ table: String, _ db: Database) -> Bool {
        if let known = secretiveTables[table] { return known }
        let isSecretive = try? Bool.fetchOne(db, sql: """
            SELECT EXISTS (SELECT 1 FROM pragma_table_list WHERE name = ?1 COLLATE NOCASE AND (wr OR type = 'virtual'))
                OR EXISTS (SELECT 1 FROM sqlite_master WHERE tbl_name = ?1 COLLATE NOCASE AND sql LIKE '%replace%')
            """, arguments: [table])
        // In doubt it does.
        secretiveTables[table] = isSecretive ?? true
        return isSecretive ?? true
    }

    private func schemaDidChange() {
        secretiveTables = [:]
        generation += 1
        tellRegionObservers { _ in true }
    }

    private func tellRegionObservers(where isConcerned: (any TransactionObserver) -> Bool) {
        for registration in registrations where registration.watchesRegion {
            if let observer = registration.observer, isConcerned(observer) { registration.tellOfChanges() }
        }
    }

    /// Tells who watches any of the kinds that something changed.
    ///
    /// - parameter isEverything: whether the kinds are all there are: tables that are gone are missing among them.
    func tellOfChanges(_ kinds: [DatabaseEventKind], isEverything: Bool) {
        hasUnseenChanges = true
        for registration in registrations {
            guard let observer = registration.observer else { continue }
            if isEverything && registration.watchesRegion || kinds.contains(where: observer.observes(eventsOfKind:)) {
                registration.tellOfChanges()
            }
        }
    }

    // MARK: - Transactions

    func followSavepoint(_ transaction: StatementCompilation.Transaction?) {
        switch transaction {
        case .beginSavepoint(let name):
            savepoints.begin(name)
        case .releaseSavepoint(let name):
            savepoints.release(name)
            if savepoints.isEmpty { tellOfSavepoints() }
        case .rollbackSavepoint(let name):
            savepoints.rollBack(to: name)
        case .begin, .commit, .rollback, nil:
            break
        }
    }

    private func tellOfSavepoints() {
        for entry in savepoints.takeEntries() {
            for listener in entry.listeners { listener.tell(entry.event, entry.event.tableName) }
        }
    }

    /// A commit releases all savepoints.
    func willCommit() throws {
        guard isActive else { return }
        tellOfSavepoints()
        hasTold = true
        let barred = strongroom_bar(connection, ("databaseWillCommit" as StaticString).cString)
        defer { strongroom_unbar(connection, barred) }
        for registration in registrations { try registration.observer?.databaseWillCommit() }
    }

    func transactionDidEnd(isCommitted: Bool, isTold: Bool, in db: Database) {
        if isTold, isActive || hasUnseenChanges { return tellOfEnd(isCommitted: isCommitted, in: db) }
        hasTold = false
        savepoints.removeAll()
    }

    /// Who heard of nothing has nothing to take back.
    func changesWereUndone(in db: Database) {
        if isActive, hasTold { tellOfEnd(isCommitted: false, in: db) }
    }

    func contentWasReplaced(in db: Database) throws {
        try db.notifyChanges(in: .fullDatabase)
    }

    private func tellOfEnd(isCommitted: Bool, in db: Database) {
        db.stops.telling { db.outsideOfBlocks { tellOfEnd(isCommitted: isCommitted, db) } }
    }

    private func tellOfEnd(isCommitted: Bool, _ db: Database) {
        hasTold = false
        savepoints.removeAll()
        hasUnseenChanges = false
        let told = registrations
        for registration in told where registration.isPaused { registration.isPaused = false }
        if told.contains(where: { $0.extent == .nextTransaction || $0.observer == nil }) {
            registrations.removeAll { $0.extent == .nextTransaction || $0.observer == nil }
        }
        if !isActive { db.authorizer.forgetWatchedDeletions(on: db.sqliteConnection) }
        for registration in told {
            guard let observer = registration.observer else { continue }
            if registration.extent == .nextTransaction { registration.end() }
            isCommitted ? observer.databaseDidCommit(db) : observer.databaseDidRollback(db)
        }
    }
}

extension Database {
    /// Who is told of changes.
    var observers: ObserverList { part(ObserverList.self) }
}

private func tellRow(
    _ context: UnsafeMutableRawPointer?,
    _ kind: CInt,
    _ database: UnsafePointer<CChar>?,
    _ table: UnsafePointer<CChar>?,
    _ rowID: sqlite3_int64)
{
    guard let kind = DatabaseEvent.Kind(rawValue: kind), let database, let table else { return }
    let event = DatabaseEvent(kind: kind, rowID: rowID, lentDatabaseName: database, lentTableName: table)
    Unmanaged<ObserverList>.fromOpaque(context!).takeUnretainedValue().rowDidChange(event)
}
