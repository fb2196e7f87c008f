import CStrongroom

/// A part of a connection: the state that a layer above the core keeps for it, and its work around statements and
/// transactions.
///
/// The core knows parts by this protocol only. A part is made when it is first asked for. A part that needs another
/// one asks for it in its initializer, and is called after it.
protocol ConnectionPart: AnyObject {
    init(_ database: Database)

    /// The frequent events that the part is called for now. Call ``ConnectionParts/update()`` after a change.
    var concerns: PartConcerns { get }

    // MARK: Compiling

    /// SQL is about to be compiled, comments and space included. What is thrown refuses it.
    func willCompile(_ text: SQLText, in db: Database) throws

    func didCompile(_ compilation: StatementCompilation, in db: Database) throws

    /// Returns what SQLite's message doesn't tell of a failure that has just happened. Asked once for each failure.
    func explanation(of code: CInt, in db: Database) -> DatabaseError?

    /// The file is about to be read by other means than a statement.
    func willReadFile(in db: Database) throws

    // MARK: Running

    /// A statement is about to run: one that concerns a part, or one that opens or makes databases. What is thrown
    /// refuses it.
    func willRun(_ statement: Statement, in db: Database) throws

    /// A statement with effects has run, or any statement has failed. What is thrown says why the part has undone it.
    func didRun(_ statement: Statement, isDone: Bool, in db: Database) throws

    /// Returns true if the part has to hear of the end of a statement that changed rows inside a transaction, and
    /// nothing else.
    func isConcerned(by statement: Statement) -> Bool

    // MARK: Transactions

    /// True if the transaction has changes that SQLite knows nothing of.
    var hasUnseenChanges: Bool { get }

    /// A transaction is about to be committed: called inside of SQLite. What is thrown rolls it back.
    func willCommit() throws

    /// - parameter notifiesObservers: true if observers are notified; false after transactions that only read.
    func transactionDidEnd(isCommitted: Bool, notifiesObservers: Bool, in db: Database)

    /// A statement outside of transactions has failed, and its changes were undone.
    func changesWereUndone(in db: Database)

    /// All content was replaced by other means than statements.
    func contentWasReplaced(in db: Database) throws

    // MARK: The end

    /// The connection is about to be closed. Statements run no more.
    func willClose(_ db: Database)

    func didClose()

    /// The connection is freed without having been closed.
    func willFree()
}

/// The frequent events that a part of a connection is called for.
struct PartConcerns: OptionSet {
    let rawValue: Int

    /// Each statement, those that only read included.
    static let reads = PartConcerns(rawValue: 1)

    /// Statements with effects: see ``Statement/hasEffects``.
    static let effects = PartConcerns(rawValue: 2)

    /// Commits, and the ends of transactions.
    static let transactions = PartConcerns(rawValue: 4)
}

extension ConnectionPart {
    var concerns: PartConcerns { [] }
    var hasUnseenChanges: Bool { false }

    func willCompile(_ text: SQLText, in db: Database) throws {}
    func didCompile(_ compilation: StatementCompilation, in db: Database) throws {}
    func explanation(of code: CInt, in db: Database) -> DatabaseError? { nil }
    func willReadFile(in db: Database) throws {}
    func willRun(_ statement: Statement, in db: Database) throws {}
    func didRun(_ statement: Statement, isDone: Bool, in db: Database) throws {}
    func isConcerned(by statement: Statement) -> Bool { false }
    func willCommit() throws {}
    func transactionDidEnd(isCommitted: Bool, notifiesObservers: Bool, in db: Database) {}
    func changesWereUndone(in db: Database) {}
    func contentWasReplaced(in db: Database) throws {}
    func willClose(_ db: Database) {}
    func didClose() {}
    func willFree() {}
}

/// The parts of one connection, in the order in which they are called.
final class ConnectionParts {
    // Unchecked exclusivity: see the article *Layers*.
    @exclusivity(unchecked) private(set) var all: [any ConnectionPart] = []
    @exclusivity(unchecked) private var types: [ObjectIdentifier] = []

    /// The union of the events that the parts are called for.
    @exclusivity(unchecked) private(set) var concerns: PartConcerns = []

    /// The part of that type, made if it isn't there.
    @inline(__always)
    func part<Part: ConnectionPart>(_ type: Part.Type, of database: Database) -> Part {
        let id = ObjectIdentifier(type)
        for index in types.indices where types[index] == id { return unsafeDowncast(all[index], to: type) }
        return add(Part(database), id)
    }

    private func add<Part: ConnectionPart>(_ part: Part, _ id: ObjectIdentifier) -> Part {
        all.append(part)
        types.append(id)
        update()
        return part
    }

    /// Gathers what the parts are concerned with.
    func update() {
        concerns = all.reduce(into: []) { $0.formUnion($1.concerns) }
    }

    func explanation(of code: CInt, in db: Database) -> DatabaseError? {
        for part in all {
            if let explanation = part.explanation(of: code, in: db) { return explanation }
        }
        return nil
    }
}

extension Database {
    /// Returns the part of that type, made if it isn't there.
    @inline(__always)
    func part<Part: ConnectionPart>(_ type: Part.Type) -> Part { parts.part(type, of: self) }

    /// True if somebody wants to know what statements read.
    var recordsReads: Bool { parts.concerns.contains(.reads) }

    /// Called before the file is read by other means than a statement.
    func prepareToReadFile() throws {
        for part in parts.all { try part.willReadFile(in: self) }
    }

    /// Called when all content was replaced by other means than statements.
    func contentWasReplaced() throws {
        guard parts.concerns.contains(.transactions) else {
            // For those who are about to observe.
            return strongroom_count_commit(connection)
        }
        for part in parts.all { try part.contentWasReplaced(in: self) }
    }
}
