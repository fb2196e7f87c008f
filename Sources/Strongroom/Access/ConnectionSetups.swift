// Functions, collations and tokenizers for connections that are open, and for those that are opened later.

extension DatabaseQueue {
    /// Adds an SQL function, or replaces the function with that name and number of arguments.
    /// <https://www.sqlite.org/c3ref/create_function.html>
    public func add(function: DatabaseFunction) {
        setUpConnection(.function(function)) { $0.add(function: function) }
    }

    /// Removes an SQL function.
    public func remove(function: DatabaseFunction) {
        setUpConnection(.function(function)) { $0.remove(function: function) }
    }

    /// Adds a collation, or replaces the collation with that name.
    public func add(collation: DatabaseCollation) {
        setUpConnection(.collation(collation.name.foldedSQLName)) { $0.add(collation: collation) }
    }

    /// Removes a collation.
    public func remove(collation: DatabaseCollation) {
        setUpConnection(.collation(collation.name.foldedSQLName)) { $0.remove(collation: collation) }
    }

    /// Adds a tokenizer, or replaces the tokenizer with that name in tables that are opened from now on.
    public func add(tokenizer: (some FTS5CustomTokenizer).Type) {
        setUpConnection(.tokenizer(tokenizer.name.foldedSQLName)) { $0.add(tokenizer: tokenizer) }
    }

    private func setUpConnection(
        _ subject: ConnectionSetups.Subject, _ setup: @escaping @Sendable (Database) -> Void
    ) {
        let former = setups.withLock { $0.add(subject, setup) }
        withExtendedLifetime(former) {}
        writer.reentrantSync(by: .inLineUnlessLocked, setup)
    }
}

extension DatabasePool {
    /// Adds an SQL function to all connections, or replaces the function with that name and number of arguments.
    ///
    /// Running reads go on without it. Existing snapshots don't get it.
    /// <https://www.sqlite.org/c3ref/create_function.html>
    public func add(function: DatabaseFunction) {
        setUpConnections(.function(function)) { $0.add(function: function) }
    }

    /// Removes an SQL function from all connections.
    public func remove(function: DatabaseFunction) {
        setUpConnections(.function(function)) { $0.remove(function: function) }
    }

    /// Adds a collation to all connections, or replaces the collation with that name.
    ///
    /// Running reads go on without it. Existing snapshots don't get it.
    public func add(collation: DatabaseCollation) {
        setUpConnections(.collation(collation.name.foldedSQLName)) { $0.add(collation: collation) }
    }

    /// Removes a collation from all connections.
    public func remove(collation: DatabaseCollation) {
        setUpConnections(.collation(collation.name.foldedSQLName)) { $0.remove(collation: collation) }
    }

    /// Adds a tokenizer to all connections, or replaces the tokenizer with that name in tables that are opened from now
    /// on.
    ///
    /// Existing snapshots don't get it.
    public func add(tokenizer: (some FTS5CustomTokenizer).Type) {
        setUpConnections(.tokenizer(tokenizer.name.foldedSQLName)) { $0.add(tokenizer: tokenizer) }
    }

    private func setUpConnections(
        _ subject: ConnectionSetups.Subject, _ setup: @escaping @Sendable (Database) -> Void
    ) {
        readers.addSetup(subject, setup)
        if readers.isAccessed { return unsafeReentrantWrite(setup) }
        writer.reentrantSync(by: .inLineUnlessLocked, setup)
    }
}

/// The set-ups that a pool's connections run after the configured one, in the order in which they were added.
///
/// A set-up replaces the former one for the same subject.
struct ConnectionSetups {
    typealias Setup = @Sendable (Database) throws -> Void

    /// The number of set-ups that had been added at some moment.
    typealias Version = Int

    /// The function, collation or tokenizer that a set-up adds or removes. Names are in lower case.
    enum Subject: Hashable {
        case function(String, argumentCount: CInt)
        case collation(String)
        case tokenizer(String)

        static func function(_ function: DatabaseFunction) -> Subject {
            .function(function.name.foldedSQLName, argumentCount: function.id.argumentCount)
        }
    }

    private var setups: [(subject: Subject, version: Version, setup: Setup)] = []
    private(set) var version: Version = 0

    var count: Int { setups.count }

    /// Adds a set-up. Returns the one that it replaces, for the caller to release.
    mutating func add(_ subject: Subject, _ setup: @escaping Setup) -> Setup? {
        version += 1
        let index = setups.firstIndex { $0.subject == subject }
        let former = index.map { setups.remove(at: $0).setup }
        setups.append((subject, version, setup))
        return former
    }

    /// Returns the set-ups that were added after `version`.
    func missing(since version: Version) -> [Setup] {
        setups.filter { $0.version > version }.map(\.setup)
    }
}
