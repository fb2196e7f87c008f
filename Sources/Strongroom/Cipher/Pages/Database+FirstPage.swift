import CSQLCipher

// SQLCipher restores a page from a rollback journal before it decrypts it. In between, SQLite reads the layout of pages
// that are in use: of page 1, in a transaction. One of 6,000 encrypted pages has a possible layout, which SQLite keeps.
// It then reports the table of the schema as damaged. See <doc:Findings>.

extension Database {
    /// Makes SQLite read the layout of page 1 of all databases again, after changes were undone. Does nothing with a
    /// write-ahead log. Returns false if it has to wait for the end of a statement that runs.
    func rereadFirstPages() -> Bool {
        guard let sqliteConnection else { return true }
        let connection = RawConnection(sqliteConnection)
        if connection.isAutocommit {
            if connection.schemaNames.contains(where: connection.hasNoLog) { connection.releaseMemory() }
            return true
        }
        let schemas = connection.schemaNames.filter {
            connection.transactionState(of: $0) == SQLITE_TXN_WRITE && connection.hasRollbackJournal($0)
        }
        if schemas.isEmpty { return true }
        // A rollback can end cursors.
        if connection.hasRunningStatement { return false }
        stops.closing { untraced { connection.restoreFirstPages(of: schemas) } }
        return true
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

    /// Changes page 1 and undoes that: SQLite keeps its own copy for this in memory, in clear text.
    fileprivate func restoreFirstPages(of schemas: [String]) {
        guard execute("SAVEPOINT strongroom") == SQLITE_OK else { return }
        for schema in schemas {
            // Any number of the header will do.
            _ = execute("PRAGMA \(schema.quotedDatabaseIdentifier).user_version = 0")
        }
        _ = execute("ROLLBACK TO strongroom")
        _ = execute("RELEASE strongroom")
    }
}
