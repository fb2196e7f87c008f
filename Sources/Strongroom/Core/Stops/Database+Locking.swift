import CSQLCipher

// A connection that is closed, and opened again as the same object: its observers stay.

extension Database {
    /// Closes the connection, and forgets everything except its observers. Each use throws `refusal` until
    /// ``reopen()``.
    ///
    /// - throws: `SQLITE_BUSY` if a statement is alive. The connection stays open.
    func closeForReopening(_ refusal: DatabaseError) throws {
        guard sqliteConnection != nil else { return }
        if !isAutocommit {
            // An access has left it open. The next one must not take it for its own.
            interruptRuns()
            try? rollback()
            connection.setUndone(true)
        }
        try closeConnection()
        self.refusal = refusal
        parts.renew(for: self)
    }

    /// Closes the connection for good, and forgets everything: its key, too.
    func close(refusing refusal: DatabaseError) throws {
        try close()
        self.refusal = refusal
        parts.renew(for: self)
    }

    /// Opens the connection again, if there still is a file. It is ready for use after `setUp()`.
    ///
    /// - throws: `SQLITE_CANTOPEN` and its kin.
    func reopen() throws {
        if let file = NamedFile.databasePath(of: path) { try Replacement.settle(file) }
        let (name, flags) = configuration.opening(path)
        let openingFlags = SQLITE_OPEN_NOMUTEX | flags & ~SQLITE_OPEN_CREATE
        let (code, message) = LockableHandle(handle: connection).reopen(
            name, flags: openingFlags, vfs: SQLiteURI(path: path)?.vfs)
        guard code == SQLITE_OK else {
            throw DatabaseError(resultCode: ResultCode(rawValue: code), message: message)
        }
        sqliteConnection = connection.sqliteConnection
        refusal = .closed
    }

    /// Calls the parts when the connection, which was reopened, is ready for use.
    func noteReopening() {
        restoreTrace()
        stops.notifying {
            transactions.outsideBlocks {
                for part in parts.all { part.didReopen(in: self) }
            }
        }
    }

    /// Ends the observers of a connection that is not reopened.
    func closeWhileLocked() {
        refusal = .closed
        for part in parts.all { part.didClose() }
    }

    /// Closes the connection after a failure to reopen it.
    func endReopening(_ refusal: DatabaseError) {
        if sqliteConnection != nil {
            forgetStatements()
            sqliteConnection = nil
            stops.closing { connection.abandon() }
        }
        self.refusal = refusal
        parts.renew(for: self)
    }
}
