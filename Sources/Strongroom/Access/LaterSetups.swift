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
        setUpConnections { $0.add(function: function) }
    }

    /// Removes an SQL function from all connections.
    public func remove(function: DatabaseFunction) {
        setUpConnections { $0.remove(function: function) }
    }

    /// Adds a collation to all connections, or replaces the one of that name.
    ///
    /// Reads that run go on without it; snapshots made before never get it.
    public func add(collation: DatabaseCollation) {
        setUpConnections { $0.add(collation: collation) }
    }

    /// Removes a collation from all connections.
    public func remove(collation: DatabaseCollation) {
        setUpConnections { $0.remove(collation: collation) }
    }

    /// Adds a tokenizer to all connections, or replaces the one of that name for the tables that are opened from now on.
    ///
    /// Snapshots made before never get it.
    public func add(tokenizer: (some FTS5CustomTokenizer).Type) {
        setUpConnections { $0.add(tokenizer: tokenizer) }
    }

    private func setUpConnections(_ setup: @escaping @Sendable (Database) -> Void) {
        readers.addSetup(setup)
        writer.reentrantSync(setup)
    }
}
