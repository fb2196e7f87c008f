// Functions, collations and tokenizers for connections that are open already, and for those that open later.

extension DatabaseQueue {
    /// Adds an SQL function, or replaces the one of that name and argument count.
    public func add(function: DatabaseFunction) {
        writer.reentrantSync { $0.add(function: function) }
    }

    /// Removes an SQL function.
    public func remove(function: DatabaseFunction) {
        writer.reentrantSync { $0.remove(function: function) }
    }

    /// Adds a collation, or replaces the one of that name.
    public func add(collation: DatabaseCollation) {
        writer.reentrantSync { $0.add(collation: collation) }
    }

    /// Removes a collation.
    public func remove(collation: DatabaseCollation) {
        writer.reentrantSync { $0.remove(collation: collation) }
    }

    /// Adds a tokenizer, or replaces the one of that name for the tables that are opened from now on.
    public func add(tokenizer: (some FTS5CustomTokenizer).Type) {
        writer.reentrantSync { $0.add(tokenizer: tokenizer) }
    }
}

extension DatabasePool {
    /// Adds an SQL function to all connections, or replaces the one of that name and argument count.
    ///
    /// Reads that run go on without it; snapshots made before never get it.
    public func add(function: DatabaseFunction) {
        setUpConnections(.function(function)) { $0.add(function: function) }
    }

    /// Removes an SQL function from all connections.
    public func remove(function: DatabaseFunction) {
        setUpConnections(.function(function)) { $0.remove(function: function) }
    }

    /// Adds a collation to all connections, or replaces the one of that name.
    ///
    /// Reads that run go on without it; snapshots made before never get it.
    public func add(collation: DatabaseCollation) {
        setUpConnections(.collation(collation.name.lowercased())) { $0.add(collation: collation) }
    }

    /// Removes a collation from all connections.
    public func remove(collation: DatabaseCollation) {
        setUpConnections(.collation(collation.name.lowercased())) { $0.remove(collation: collation) }
    }

    /// Adds a tokenizer to all connections, or replaces the one of that name for the tables that are opened from now
    /// on.
    ///
    /// Snapshots made before never get it.
    public func add(tokenizer: (some FTS5CustomTokenizer).Type) {
        setUpConnections(.tokenizer(tokenizer.name.lowercased())) { $0.add(tokenizer: tokenizer) }
    }

    private func setUpConnections(
        _ subject: ConnectionSetups.Subject, _ setup: @escaping @Sendable (Database) -> Void)
    {
        readers.addSetup(subject, setup)
        unsafeReentrantWrite(setup)
    }
}

/// The set-ups that the connections of a pool go through after the configured one, in the order in which they were
/// added.
///
/// A set-up replaces the former one of the same subject.
struct ConnectionSetups {
    typealias Setup = @Sendable (Database) throws -> Void

    /// The number of set-ups that were added up to some moment.
    typealias Version = Int

    /// The function, collation or tokenizer that a set-up adds or removes. Names are in lower case.
    enum Subject: Hashable {
        case function(String, argumentCount: CInt)
        case collation(String)
        case tokenizer(String)

        static func function(_ function: DatabaseFunction) -> Subject {
            .function(function.name.lowercased(), argumentCount: function.id.argumentCount)
        }
    }

    private var setups: [(subject: Subject, version: Version, setup: Setup)] = []
    private(set) var version: Version = 0

    var count: Int { setups.count }

    /// Adds a set-up, and returns the one that it replaces, which the caller releases.
    mutating func add(_ subject: Subject, _ setup: @escaping Setup) -> Setup? {
        version += 1
        let index = setups.firstIndex { $0.subject == subject }
        let former = index.map { setups.remove(at: $0).setup }
        setups.append((subject, version, setup))
        return former
    }

    /// Returns the set-ups that a connection lacks which was set up at that version.
    func missing(since version: Version) -> [Setup] {
        setups.filter { $0.version > version }.map(\.setup)
    }
}
