extension DatabaseFile {
    /// Adds a plaintext header to an encrypted database, removes it, or changes its size. No other connection may have
    /// the database open.
    ///
    /// The salt of the database stays. With `.sidecar`, the salt is first written into a file beside the database. With
    /// `.provided`, the given salt must be that of the database, which ``inspect(path:)`` returns. Even if the process
    /// is killed or a step fails, the database opens with its key. The cancellation of the calling task and
    /// ``Database/suspendNotification`` stop the change as long as the file is unchanged.
    ///
    /// - parameters:
    ///   - header: the new header. Nil to remove the header.
    ///   - path: the path of the database.
    ///   - encryption: the encryption that opens the database now.
    /// - throws: `SQLITE_BUSY` when another connection has the database open; nothing has changed. `SQLITE_MISUSE` for
    ///   a file with several names.
    public static func setPlaintextHeader(_ header: PlaintextHeader?, path: String, encryption: Encryption) throws {
        if let header { try PlaintextHeader.validate(size: header.size) }
        var wasWAL = false
        do {
            try withHeaderConnection(path, encryption) { database in
                wasWAL = try database.log.isUsed
                try HeaderChange(database).run(header)
            }
        } catch {
            // Opening finds the header that the file has now, and removes what a failed change has left.
            try? withHeaderConnection(path, encryption, isStoppable: false) {
                try HeaderChange($0).cleanUp(wasWAL: wasWAL)
            }
            throw error
        }
    }

    private static func withHeaderConnection(
        _ path: String, _ encryption: Encryption, isStoppable: Bool = true, _ body: (Database) throws -> Void
    ) throws {
        var configuration = Configuration()
        configuration.encryption = encryption
        configuration.busyMode = .timeout(5)
        configuration.observesSuspensionNotifications = true
        let database = try Database(path: path, description: "DatabaseFile", configuration: configuration)
        try database.withSoleAccess(isStoppable: isStoppable) { database in
            try database.setUp()
            try body(database)
        }
    }
}
