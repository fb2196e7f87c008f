import CSQLCipher

// Functions and collations of a connection.

extension Database {
    /// Adds a function, or replaces the function with that name and number of arguments.
    ///
    /// It is a fatal error while a statement runs, and if the name or the number of arguments exceeds SQLite's limits.
    public func add(function: DatabaseFunction) {
        register(
            "The function \(function.name) can't be added",
            limits: "Names have at most 255 bytes, functions at most 127 arguments"
        ) {
            function.install(on: $0)
        }
    }

    /// Removes a function.
    ///
    /// It is a fatal error while a statement runs.
    public func remove(function: DatabaseFunction) {
        register("The function \(function.name) can't be removed") { function.uninstall(from: $0) }
    }

    /// Registers or removes a function or collation. If SQLite refuses, it is a fatal error that begins with `problem`.
    func register(_ problem: @autoclosure () -> String, limits: String? = nil, _ change: (SQLiteConnection) -> CInt) {
        requireAccess()
        guard let sqliteConnection else { return }
        let code = change(sqliteConnection)
        guard code != SQLITE_OK else { return }
        let rules = (limits.map { $0 + ", and no" } ?? "No") + " statement may run meanwhile."
        fatalError("\(problem()): \(DatabaseError(code, on: sqliteConnection)). \(rules)")
    }

    // MARK: - Collations

    /// Adds a collation, or replaces the collation with that name.
    ///
    /// It is a fatal error while a statement runs.
    public func add(collation: DatabaseCollation) {
        register("The collation \(collation.name) can't be added") { collation.install(on: $0) }
    }

    /// Removes a collation.
    ///
    /// It is a fatal error while a statement runs.
    public func remove(collation: DatabaseCollation) {
        register("The collation \(collation.name) can't be removed") { collation.uninstall(from: $0) }
    }

    /// Rebuilds all indexes that use the collation. <https://www.sqlite.org/lang_reindex.html>
    public func reindex(collation: CollationName) throws {
        try execute(sql: "REINDEX \(collation.rawValue.sqlCollationName)")
    }

    /// Rebuilds all indexes that use the collation. <https://www.sqlite.org/lang_reindex.html>
    public func reindex(collation: DatabaseCollation) throws {
        try reindex(collation: CollationName(rawValue: collation.name))
    }
}
