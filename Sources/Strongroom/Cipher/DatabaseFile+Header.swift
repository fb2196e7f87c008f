extension DatabaseFile {
    /// Turns the readable header of an encrypted database on, or off with nil, or changes its size. Nothing else may
    /// have the database open.
    ///
    /// The salt keeps its value: with `.sidecar` it goes to a file beside the database first, with `.provided` it must
    /// be the one in the database, which ``inspect(path:)`` shows. Whatever is killed or fails, the database opens
    /// with its key. The cancellation of the calling task and ``Database/suspendNotification`` stop the change as long
    /// as nothing has changed.
    ///
    /// - parameter encryption: what opens the database as it is now.
    /// - throws: `SQLITE_BUSY` when another connection has the database open; nothing has changed then.
    ///   `SQLITE_MISUSE` for a file with several names.
    public static func setPlaintextHeader(_ header: PlaintextHeader?, path: String, encryption: Encryption) throws {
        if let header { try PlaintextHeader.validate(size: header.size) }
        do {
            try withHeaderConnection(path, encryption) { try HeaderChange($0).run(header) }
        } catch {
            // Whichever header the file has now, opening finds it, and removes what a change that failed has left.
            try? withHeaderConnection(path, encryption) { try HeaderChange($0).removeUnusedSalt() }
            throw error
        }
    }

    private static func withHeaderConnection(
        _ path: String, _ encryption: Encryption, _ body: (Database) throws -> Void) throws
    {
        var configuration = Configuration()
        configuration.encryption = encryption
        configuration.busyMode = .timeout(5)
        try Database(path: path, description: "DatabaseFile", configuration: configuration).withSoleAccess { database in
            try database.setUp()
            try database.followingSuspensions { try body(database) }
        }
    }
}
