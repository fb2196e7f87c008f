extension Database {
    /// Makes the connection ready for use. Encryption comes first, because nothing can be read before.
    func setUp() throws {
        try setUpConnection()
        try leaveCutCreation()
        defer { formatControl.releaseDefaults() }
        try keySetup.setUpEncryption()
        do {
            try explainingFailures {
                for setup in configuration.setups { try setup(self) }
                try untraced { try keySetup.verifyEncryption() }
            }
        } catch {
            // Another connection may have created the database meanwhile.
            keySetup.endCreation()
            throw error
        }
    }

    /// Opens the connection again if a creation of the database was cut off. When SQLite opened the file, it read a
    /// page that was never committed. It would give that page's reserve and mode of vacuum to the new database.
    private func leaveCutCreation() throws {
        guard !configuration.readonly, isFileStored else { return }
        let size = try fileSize()
        guard size > 0, hasNoPage(ofSize: size) else { return }
        do {
            // Waits for a creation that goes on, and rolls back one that doesn't.
            try untraced { try readSchema() }
        } catch let error as DatabaseError {
            if [.SQLITE_BUSY, .SQLITE_INTERRUPT, .SQLITE_ABORT].contains(error.resultCode) { throw error }
            // The database was created meanwhile, and has a key, or the next read fails, too.
        }
        try closeForReopening(.closed)
        try reopen()
        try setUpConnection()
    }
}
