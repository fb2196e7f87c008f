/// A part of a connection: the state of a layer above the core, and its work around statements and transactions.
///
/// The core only uses parts through this protocol. A part is created at its first use. A part that needs another one
/// uses it in its initializer, and is called after it.
protocol ConnectionPart: AnyObject {
    init(_ database: Database)

    /// The frequent events for which the part is called. Call ``ConnectionParts/update()`` after a change. Default:
    /// ``PartConcerns/ends``.
    var concerns: PartConcerns { get }

    // MARK: Compiling

    /// Called before SQL is compiled, with its comments and spaces. An error refuses the SQL.
    func willCompile(_ text: SQLText, in db: Database) throws

    func didCompile(_ compilation: StatementCompilation, in db: Database) throws

    /// Returns an explanation of a failure that is more precise than SQLite's message. Called once for each failure.
    func explanation(of code: CInt, in db: Database) -> DatabaseError?

    /// Calls the parts before the file is read by other means than a statement.
    func willReadFile(in db: Database) throws

    // MARK: Running

    /// Called before a statement runs, if it concerns a part, or opens or creates databases. An error refuses the
    /// statement.
    func willRun(_ statement: Statement, in db: Database) throws

    /// Called after a statement with effects if it concerns a part, or opens or creates databases, after each rollback,
    /// and after the failure of any statement. An error is the reason why the part has undone the statement.
    func didRun(_ statement: Statement, isDone: Bool, in db: Database) throws

    /// Returns true if the part must be called at the end of a statement that only changed rows inside a transaction.
    func isConcerned(by statement: Statement) -> Bool

    /// Returns true if the part, which was just called before a run of the statement, need not be called for its runs
    /// until ``ConnectionParts/concernsDidChange()`` is.
    func ignores(_ statement: Statement) -> Bool

    // MARK: Transactions

    /// True if the transaction has changes that SQLite doesn't report. Asked if its end concerns a part.
    var hasUnseenChanges: Bool { get }

    /// Called inside of SQLite before a transaction is committed. An error rolls it back.
    func willCommit() throws

    /// Called after each transaction if its end concerns a part.
    ///
    /// - parameter notifiesObservers: true if observers are notified; false after transactions that only read.
    func transactionDidEnd(isCommitted: Bool, notifiesObservers: Bool, in db: Database)

    /// Called when a statement outside of transactions has failed, and its changes were undone.
    func changesWereUndone(in db: Database)

    /// Calls the parts after all content was replaced by other means than statements.
    func contentWasReplaced(in db: Database) throws

    // MARK: Closing

    /// True if the part stays when the connection is closed to be reopened. Others are made anew.
    var outlivesConnection: Bool { get }

    /// Called when the connection was closed to be reopened, if the part stays.
    func connectionDidLeave()

    /// Called when the connection was reopened. It is ready for use, and others may have changed the content.
    func didReopen(in db: Database)

    /// Called before the connection is closed, after its last statement.
    func willClose(_ db: Database)

    func didClose()

    /// Called when the connection is released without being closed.
    func willFree()
}

/// The frequent events for which a part of a connection is called.
struct PartConcerns: OptionSet {
    let rawValue: Int

    /// Each statement, including those that only read.
    static let reads = PartConcerns(rawValue: 1)

    /// Statements with effects: see ``Statement/hasEffects``.
    static let effects = PartConcerns(rawValue: 2)

    /// Commits.
    static let transactions = PartConcerns(rawValue: 4)

    /// The ends of statements with effects, and of transactions, including those that only read.
    static let ends = PartConcerns(rawValue: 8)
}

/// The notes of a connection's parts on a statement.
struct PartNotes {
    /// The record of the observers' part.
    var observation: AnyObject?

    /// The state of the parts in which all of them ignored the statement.
    var ignored: (generation: Int, recompilationCount: CInt)?
}

extension ConnectionPart {
    var concerns: PartConcerns { .ends }
    var hasUnseenChanges: Bool { false }

    func willCompile(_ text: SQLText, in db: Database) throws {}
    func didCompile(_ compilation: StatementCompilation, in db: Database) throws {}
    func explanation(of code: CInt, in db: Database) -> DatabaseError? { nil }
    func willReadFile(in db: Database) throws {}
    func willRun(_ statement: Statement, in db: Database) throws {}
    func didRun(_ statement: Statement, isDone: Bool, in db: Database) throws {}
    func isConcerned(by statement: Statement) -> Bool { false }
    func ignores(_ statement: Statement) -> Bool { false }
    func willCommit() throws {}
    func transactionDidEnd(isCommitted: Bool, notifiesObservers: Bool, in db: Database) {}
    func changesWereUndone(in db: Database) {}
    func contentWasReplaced(in db: Database) throws {}
    func willClose(_ db: Database) {}
    var outlivesConnection: Bool { false }
    func connectionDidLeave() {}
    func didReopen(in db: Database) {}
    func didClose() {}
    func willFree() {}
}

/// The parts of one connection, in the order in which they are called.
final class ConnectionParts {
    // Unchecked exclusivity: see <doc:Layers>.
    @exclusivity(unchecked) private(set) var all: [any ConnectionPart] = []
    @exclusivity(unchecked) private var types: [ObjectIdentifier] = []

    /// The union of the events that the parts are called for.
    @exclusivity(unchecked) private(set) var concerns: PartConcerns = []

    /// The parts that are called for each statement. Calling the others, too, would slow down observed connections.
    @exclusivity(unchecked) private(set) var concernedByRuns: [any ConnectionPart] = []

    /// A number that grows with each change after which a part may no longer ignore a statement.
    @exclusivity(unchecked) private var generation = 0

    /// Returns the part with a type, which is created at the first call.
    @inline(__always)
    func part<Part: ConnectionPart>(_ type: Part.Type, of database: Database) -> Part {
        let id = ObjectIdentifier(type)
        for index in types.indices where types[index] == id { return unsafeDowncast(all[index], to: type) }
        return add(Part(database), id)
    }

    /// Calls `body` with a part that exists, without counting a reference to it. Returns nil if there is none.
    ///
    /// `body` must not run code that may end the part, such as a statement.
    @inline(__always)
    func with<Part: ConnectionPart, R>(_ type: Part.Type, _ body: (Part) -> R?) -> R? {
        let id = ObjectIdentifier(type)
        for index in types.indices where types[index] == id {
            let part = Unmanaged.passUnretained(unsafeDowncast(all[index], to: type))
            return part._withUnsafeGuaranteedRef(body)
        }
        return nil
    }

    private func add<Part: ConnectionPart>(_ part: Part, _ id: ObjectIdentifier) -> Part {
        all.append(part)
        types.append(id)
        update()
        return part
    }

    /// Updates what depends on the parts' concerns.
    func update() {
        concernsDidChange()
        concerns = all.reduce(into: []) { $0.formUnion($1.concerns) }
        concernedByRuns = all.filter { !$0.concerns.isDisjoint(with: [.reads, .effects]) }
    }

    /// Records that a part may no longer ignore the statements that it ignored.
    func concernsDidChange() {
        generation += 1
    }

    /// True if the transaction has changes that SQLite doesn't report.
    var haveUnseenChanges: Bool { concerns.contains(.ends) && all.contains(where: \.hasUnseenChanges) }

    /// Returns true if all parts ignore the runs of a statement: one check in place of two calls of each.
    @inline(__always)
    func ignore(_ statement: Statement) -> Bool {
        guard let ignored = statement.notes.ignored else { return false }
        return ignored.generation == generation && ignored.recompilationCount == statement.recompilationCount
    }

    /// Remembers that all parts ignore a statement, if that is so.
    func noteIgnored(_ statement: Statement) {
        let isIgnored = concernedByRuns.allSatisfy { $0.ignores(statement) }
        statement.notes.ignored = isIgnored ? (generation, statement.recompilationCount) : nil
    }

    /// Replaces the parts that know something of the connection that was closed.
    func renew(for database: Database) {
        for index in all.indices {
            if all[index].outlivesConnection {
                all[index].connectionDidLeave()
            } else {
                all[index] = type(of: all[index]).init(database)
            }
        }
        update()
    }

    func explanation(of code: CInt, in db: Database) -> DatabaseError? {
        for part in all {
            if let explanation = part.explanation(of: code, in: db) { return explanation }
        }
        return nil
    }
}

extension Database {
    /// Returns the part with a type, which is created at the first call.
    @inline(__always)
    func part<Part: ConnectionPart>(_ type: Part.Type) -> Part { parts.part(type, of: self) }

    /// Calls `body` with a part that exists, without counting a reference to it. Returns nil if there is none.
    @inline(__always)
    func withPart<Part: ConnectionPart, R>(_ type: Part.Type, _ body: (Part) -> R?) -> R? { parts.with(type, body) }

    /// True if a part records the reads of statements.
    var recordsReads: Bool { parts.concerns.contains(.reads) }

    /// Calls the parts before the file is read by other means than a statement.
    func prepareToReadFile() throws {
        for part in parts.all { try part.willReadFile(in: self) }
    }

    /// Calls the parts after all content was replaced by other means than statements.
    func contentWasReplaced() throws {
        guard parts.concerns.contains(.transactions) else {
            // For observations that are about to start.
            return connection.countCommit()
        }
        for part in parts.all { try part.contentWasReplaced(in: self) }
    }
}
