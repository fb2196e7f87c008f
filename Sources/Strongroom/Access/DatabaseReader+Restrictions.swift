extension DatabaseReader {
    /// Runs `value` in a transaction that can't write, and whose SQL can only read what the restrictions allow.
    ///
    /// All SQL of the connection is restricted while `value` runs, also the SQL of functions that `value` calls.
    /// Statements that were prepared before are refused. See <doc:RestrictedQueries>.
    ///
    /// - parameters:
    ///   - restrictions: the tables, columns and functions that the SQL may use, and its limits.
    ///   - value: the block.
    /// - throws: a ``DatabaseError`` with the reason `restricted` for SQL that breaks a rule: its
    ///   ``DatabaseError/refusal`` has the rule and the object. `SQLITE_MISUSE` with the reason `unfitRestrictions` if
    ///   the restrictions name an object that does not exist, or have a limit that is not greater than zero. The errors
    ///   of `value`.
    public func read<T>(restrictedTo restrictions: Restrictions, _ value: (Database) throws -> T) throws -> T {
        try read { db in try db.restricted(to: restrictions) { try value(db) } }
    }

    /// Suspends the task instead of blocking the thread. Cancelling the task stops the query.
    public func read<T: Sendable>(
        restrictedTo restrictions: Restrictions, _ value: @Sendable (Database) throws -> T
    ) async throws -> T {
        try await read { db in try db.restricted(to: restrictions) { try value(db) } }
    }

    /// Returns the schema that a restricted access can read, to show to those who write its SQL.
    ///
    /// - throws: `SQLITE_MISUSE` with the reason `unfitRestrictions` if the restrictions name an object that does not
    ///   exist, or have a limit that is not greater than zero.
    public func restrictedSchema(_ restrictions: Restrictions) throws -> RestrictedSchema {
        try read(restrictedTo: restrictions) { try $0.restrictedSchema }
    }
}
