import Foundation

/// The transaction observers of one connection. Only used with access to the connection.
///
/// Only observed writes cost more: the observers of a statement are stored with the statement, and SQLite's update hook
/// is set only while an observed statement runs.
final class ObserverList: ConnectionPart {
    /// A running statement. SQL functions can run statements inside of others.
    private struct Run {
        let statement: ObjectIdentifier
        let observers: StatementObservers
    }

    /// The variables that each statement or each row reads or writes.
    private struct State {
        var isActive = false
        var hasNotified = false

        /// A number that grows with each change after which other observers may observe a statement.
        var generation = 0

        /// True if an observer may return another answer for each run of a statement.
        var asksEachTime = false
        var runs: [Run] = []
        var savepoints = SavepointLog()
        var hasUpdateHook = false
    }

    private unowned let database: Database
    private let connection: ConnectionHandle

    // Unchecked exclusivity: one thread at a time has access to the connection, and each changed row uses the variable.
    @exclusivity(unchecked) private var state = State()

    /// True if there are observers.
    var isActive: Bool { state.isActive }

    /// True if the transaction has changes that SQLite doesn't report.
    private(set) var hasUnseenChanges = false

    private var registrations: [ObserverRegistration] = [] {
        didSet {
            observersDidChange()
            state.isActive = !registrations.isEmpty
            database.parts.update()
            state.asksEachTime = registrations.contains { !$0.isOfRegion }
        }
    }

    private let hiddenChanges = HiddenChanges()

    init(_ database: Database) {
        self.database = database
        connection = database.connection
        // Made first, and so called first: the schema is current before observers use it.
        _ = database.schemaCache
        for name in database.transactions.savepoints { state.savepoints.begin(name) }
    }

    // Without observers, too, the list follows the savepoints of the transaction.
    var concerns: PartConcerns { isActive ? [.effects, .transactions, .ends] : .ends }

    // MARK: - Observers

    func add(_ observer: any TransactionObserver, _ extent: Database.TransactionObservationExtent) {
        registrations.append(ObserverRegistration(observer, extent, on: connection))
    }

    func remove(_ observer: any TransactionObserver) {
        // An observer is removed as often as it was added.
        registrations.first { $0.observer === observer }?.end()
        registrations.removeAll { $0.observer == nil }
    }

    /// The observers of a locked database observe it again when it is unlocked.
    var outlivesConnection: Bool { true }

    func connectionDidLeave() {
        state.runs = []
        state.savepoints.removeAll()
        (state.hasUpdateHook, state.hasNotified, hasUnseenChanges) = (false, false, false)
        observersDidChange()
        hiddenChanges.schemaDidChange()
        for registration in registrations { (registration.isPaused, registration.awaitsReopening) = (false, true) }
    }

    func didReopen(in db: Database) {
        // Observers that were added to the new connection have missed nothing.
        let notified = registrations.filter(\.awaitsReopening)
        for registration in notified {
            registration.awaitsReopening = false
            registration.regionObserver?.databaseWasReopened(db)
        }
    }

    func didClose() {
        for registration in registrations { registration.end() }
        registrations = []
        state.savepoints.removeAll()
    }

    /// Records that a region observer observes another region.
    func regionsDidChange() {
        observersDidChange()
    }

    /// Records that other observers may observe a statement.
    private func observersDidChange() {
        state.generation += 1
        database.parts.concernsDidChange()
    }

    // MARK: - Statements

    func willRun(_ statement: Statement, in db: Database) {
        guard state.isActive, statement.hasEffects else { return }
        let observers = observers(of: statement, on: db)
        let isObserved = !observers.isEmpty
        if isObserved != state.hasUpdateHook, isObserved || state.runs.isEmpty {
            state.hasUpdateHook = isObserved
            setUpdateHook(isObserved, on: db.sqliteConnection)
            // The next run of an ignored statement removes the hook, or is recorded inside of this one.
            if isObserved { db.parts.concernsDidChange() }
        }
        // A statement inside of an observed one is recorded even without observers, to keep their rows apart.
        if isObserved || !state.runs.isEmpty {
            state.runs.append(Run(statement: ObjectIdentifier(statement), observers: observers))
        }
    }

    func didRun(_ statement: Statement, isDone: Bool, in db: Database) {
        if state.isActive { concludeRun(of: statement, isDone: isDone, in: db) }
        if isDone { updateSavepoints(statement.compilation.transaction) }
    }

    private func concludeRun(of statement: Statement, isDone: Bool, in db: Database) {
        let id = ObjectIdentifier(statement)
        if let index = state.runs.lastIndex(where: { $0.statement == id }) { state.runs.remove(at: index) }
        // A statement that fails may have changed rows before, which stay changed with OR FAIL.
        let mayHaveChanged = isDone || !db.isAutocommit || db.transactions.isCommitted
        if statement.compilation.changesSchema {
            if isDone { schemaDidChange() }
        } else if mayHaveChanged, let observers = storedObservers(of: statement) {
            if observers.recompilationCount != statement.recompilationCount {
                wasRecompiled(statement, for: observers, in: db)
            } else if observers.hiddenChanges?.mayExist == true {
                observers.notifyRegionObservers()
            }
        }
    }

    /// Looks up the observers again after another process may have changed the schema: there may be new constraints,
    /// and new triggers whose changes no observer was asked about.
    private func wasRecompiled(_ statement: Statement, for observers: StatementObservers, in db: Database) {
        statement.notes.observation = nil
        hiddenChanges.schemaDidChange()
        let kinds = hiddenChanges.kinds(of: statement, db)
        if observers.haveRegionObservers,
            hiddenChanges.update(nil, for: statement, kinds, hasRun: true, db).mayExist
        {
            observers.notifyRegionObservers()
        }
        let newKinds = kinds.filter { kind in !observers.kinds.contains(where: kind.isSame(as:)) }
        notifyRegionObservers { observer in newKinds.contains(where: observer.observes(eventsOfKind:)) }
    }

    func isConcerned(by statement: Statement) -> Bool {
        guard state.isActive else { return false }
        guard state.runs.isEmpty, let observers = storedObservers(of: statement) else { return true }
        return !observers.isEmpty || observers.recompilationCount != statement.recompilationCount
    }

    func ignores(_ statement: Statement) -> Bool {
        !state.hasUpdateHook && state.runs.isEmpty && !state.asksEachTime
            && storedObservers(of: statement)?.isEmpty == true
    }

    /// Sets SQLite's update hook, or removes it. <https://www.sqlite.org/c3ref/update_hook.html>
    private func setUpdateHook(_ isSet: Bool, on connection: SQLiteConnection?) {
        let context = isSet ? Unmanaged.passUnretained(self).toOpaque() : nil
        RawConnection(connection).setUpdateHook(isSet ? updateHook : nil, context)
    }

    fileprivate func rowDidChange(_ event: DatabaseEvent) {
        guard let observers = state.runs.last?.observers else { return }
        guard state.savepoints.isEmpty else {
            return state.savepoints.append(.init(event: event.copy(), observers: observers))
        }
        state.hasNotified = true
        observers.notify(of: event)
    }

    /// Returns the observers of the last run. A checked cast would cost each run, and the statement stores nothing else
    /// there.
    private func storedObservers(of statement: Statement) -> StatementObservers? {
        statement.notes.observation.map { unsafeDowncast($0, to: StatementObservers.self) }
    }

    private func observers(of statement: Statement, on db: Database) -> StatementObservers {
        let count = statement.recompilationCount
        let former = storedObservers(of: statement)
        if let former, former.generation == state.generation, former.recompilationCount == count,
            !state.asksEachTime || former.isConfirmed(by: registrations)
        {
            return former
        }
        let kinds = hiddenChanges.kinds(of: statement, db)
        var hidden: HiddenChanges.OfStatement?
        if kinds.contains(where: isInRegions) {
            let known = former?.recompilationCount == count ? former?.hiddenChanges : nil
            hidden = hiddenChanges.update(known, for: statement, kinds, db)
        }
        let observers = StatementObservers(
            generation: state.generation, recompilationCount: count, kinds: kinds, hiddenChanges: hidden,
            registrations: registrations)
        statement.notes.observation = observers
        if !observers.isEmpty, !statement.compilation.changesSchema { watchDeletions(kinds, on: db) }
        return observers
    }

    /// Returns true if an observed region contains a part of the table.
    private func isInRegions(_ kind: DatabaseEventKind) -> Bool {
        let removal = DatabaseEventKind.delete(tableName: kind.tableName)
        return registrations.contains { $0.isOfRegion && $0.observer?.observes(eventsOfKind: removal) == true }
    }

    /// Makes `DELETE` without `WHERE` compile so that it reports each row.
    private func watchDeletions(_ kinds: [DatabaseEventKind], on db: Database) {
        for case .delete(let table) in kinds { db.authorizer.watchDeletions(in: table, on: db.sqliteConnection) }
    }

    // MARK: - Changes without events

    private func schemaDidChange() {
        hiddenChanges.schemaDidChange()
        observersDidChange()
        notifyRegionObservers { _ in true }
    }

    private func notifyRegionObservers(where isConcerned: (any TransactionObserver) -> Bool) {
        for registration in registrations where registration.isOfRegion {
            if let observer = registration.observer, isConcerned(observer) { registration.notifyOfChanges() }
        }
    }

    /// Notifies the observers of any of the kinds of an unreported change.
    ///
    /// - parameter isEverything: true if the kinds are all that exist. Dropped tables are not among them.
    func notifyOfChanges(_ kinds: [DatabaseEventKind], isEverything: Bool) {
        hasUnseenChanges = true
        for registration in registrations {
            guard let observer = registration.observer else { continue }
            if isEverything && registration.isOfRegion || kinds.contains(where: observer.observes(eventsOfKind:)) {
                registration.notifyOfChanges()
            }
        }
    }

    // MARK: - Transactions

    func updateSavepoints(_ transaction: StatementCompilation.Transaction?) {
        switch transaction {
        case .beginSavepoint(let name):
            state.savepoints.begin(name)
        case .releaseSavepoint(let name):
            state.savepoints.release(name)
            if state.savepoints.isEmpty { notifyOfSavepoints() }
        case .rollbackSavepoint(let name):
            state.savepoints.rollBack(to: name)
            for registration in registrations { registration.regionObserver?.savepointWasRolledBack() }
        case .begin, .commit, .rollback, nil:
            break
        }
    }

    private func notifyOfSavepoints() {
        for entry in state.savepoints.takeEntries() { entry.observers.notify(of: entry.event) }
    }

    /// Notifies of the changes in savepoints, which the commit releases, and then of the commit.
    func willCommit() throws {
        guard state.isActive else { return }
        notifyOfSavepoints()
        state.hasNotified = true
        let barred = connection.bar("databaseWillCommit")
        defer { connection.unbar(barred) }
        for registration in registrations { try registration.observer?.databaseWillCommit() }
    }

    func transactionDidEnd(isCommitted: Bool, notifiesObservers: Bool, in db: Database) {
        if notifiesObservers, state.isActive || hasUnseenChanges {
            return notifyOfEnd(isCommitted: isCommitted, in: db)
        }
        state.hasNotified = false
        state.savepoints.removeAll()
    }

    /// Notifies of a rollback, if observers were notified of the changes that it undoes.
    func changesWereUndone(in db: Database) {
        if state.isActive, state.hasNotified { notifyOfEnd(isCommitted: false, in: db) }
    }

    func contentWasReplaced(in db: Database) throws {
        try db.notifyChanges(in: .fullDatabase)
    }

    private func notifyOfEnd(isCommitted: Bool, in db: Database) {
        db.stops.notifying { db.transactions.outsideBlocks { notifyOfEnd(isCommitted: isCommitted, db) } }
    }

    private func notifyOfEnd(isCommitted: Bool, _ db: Database) {
        state.hasNotified = false
        state.savepoints.removeAll()
        hasUnseenChanges = false
        let notified = registrations
        for registration in notified where registration.isPaused { registration.isPaused = false }
        if notified.contains(where: { $0.extent == .nextTransaction || $0.observer == nil }) {
            registrations.removeAll { $0.extent == .nextTransaction || $0.observer == nil }
        }
        for registration in notified { registration.regionObserver?.transactionDidEnd(isCommitted: isCommitted) }
        if !state.isActive { db.authorizer.forgetWatchedDeletions(on: db.sqliteConnection) }
        for registration in notified {
            guard let observer = registration.observer else { continue }
            if registration.extent == .nextTransaction { registration.end() }
            isCommitted ? observer.databaseDidCommit(db) : observer.databaseDidRollback(db)
        }
    }
}

extension Database {
    /// The transaction observers of the connection.
    var observers: ObserverList { part(ObserverList.self) }
}

/// SQLite's update hook, called for each row that changes.
private func updateHook(
    _ context: UnsafeMutableRawPointer?,
    _ kind: CInt,
    _ database: UnsafePointer<CChar>?,
    _ table: UnsafePointer<CChar>?,
    _ rowID: Int64
) {
    guard let kind = DatabaseEvent.Kind(rawValue: kind), let database, let table else { return }
    let event = DatabaseEvent(kind: kind, rowID: rowID, lentDatabaseName: database, lentTableName: table)
    Unmanaged<ObserverList>.fromOpaque(context!).takeUnretainedValue().rowDidChange(event)
}
