import CSQLCipher

// SQLCipher restores a page from a rollback journal before it decrypts it. In between, SQLite reads the layout of pages
// that are in use: of page 1, in a transaction. One of 6,000 encrypted pages has a possible layout, which SQLite keeps.
// It then reports the table of the schema as damaged. See <doc:Findings>.

extension Database {
    /// Makes SQLite read the layout of page 1 of all databases again, after a rollback or a failed statement. Does
    /// nothing with a write-ahead log.
    func rereadFirstPages(afterRollback isRollback: Bool) {
        guard let sqliteConnection else { return }
        let connection = RawConnection(sqliteConnection)
        let schemas = connection.schemaNames.filter(connection.hasNoLog)
        if schemas.isEmpty { return }
        stops.closing {
            untraced {
                if connection.isAutocommit {
                    connection.releaseFirstPages(of: schemas)
                } else if isRollback {
                    // SQLite may have to read the schema, which the check needs.
                    connection.restoreFirstPages(of: schemas.filter(connection.isJournaled))
                } else {
                    connection.checkFirstPages(of: schemas.filter(connection.isJournaled))
                }
            }
        }
    }
}

extension RawConnection {
    /// The names of the databases except `temp`, which is not encrypted.
    fileprivate var schemaNames: [String] {
        var (names, index) = (["main"], CInt(2))
        while let name = schemaName(at: index) { (names, index) = (names + [name], index + 1) }
        return names
    }

    fileprivate func hasNoLog(_ schema: String) -> Bool {
        fileName(of: schema).map { !NamedFile.exists(CompanionFile.log.path(of: $0)) } ?? false
    }

    /// Frees the pages that no statement uses, and reads page 1 again where one does.
    fileprivate func releaseFirstPages(of schemas: [String]) {
        releaseMemory()
        checkFirstPages(of: schemas.filter { transactionState(of: $0) != SQLITE_TXN_NONE })
    }

    /// Checks the table of the schema, for which SQLite reads the layout of page 1 again.
    fileprivate func checkFirstPages(of schemas: [String]) {
        for schema in schemas { _ = execute("PRAGMA \(schema.quotedDatabaseIdentifier).quick_check(sqlite_master)") }
    }

    /// Changes page 1 and undoes that: SQLite restores a page that was in the journal before from a copy in memory, in
    /// clear text. The first time may write page 1 to the journal, and restore it from there. A full-text table writes
    /// what it holds back at a savepoint, so that this must not follow its writes.
    fileprivate func restoreFirstPages(of schemas: [String]) {
        if schemas.isEmpty { return }
        // Any number of the header will do.
        let changes = schemas.map { "PRAGMA \($0.quotedDatabaseIdentifier).user_version = 0" }
        for _ in 0..<2 {
            guard execute("SAVEPOINT strongroom") == SQLITE_OK else { return }
            for sql in changes + ["ROLLBACK TO strongroom", "RELEASE strongroom"] { _ = execute(sql) }
        }
    }
}
