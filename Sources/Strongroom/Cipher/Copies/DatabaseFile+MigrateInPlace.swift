import Foundation

extension DatabaseFile {
    /// Gives a database another encrypted format in its place: the present one after SQLCipher 1, 2 or 3, another page
    /// size, or a plaintext header.
    ///
    /// The rows, including those in a log that was left, are copied into a new database, which is opened and checked in
    /// a folder beside the former one. Then the new database takes the place of the former one as a unit with its
    /// sidecars, under the same name, with the same owner and mode. At every instant, also when the process is killed,
    /// an opening finds the former database or the migrated one. Call the function again after a kill: it does not
    /// change a database that already has the new format.
    ///
    /// The migration needs room for one copy beside the database. No other connection may have the database open. The
    /// cancellation of the calling task and ``Database/suspendNotification`` stop the migration before the replacement
    /// begins.
    ///
    /// - parameters:
    ///   - path: the path of the database.
    ///   - old: the encryption that opens the database now.
    ///   - new: the encryption that it gets. Default: the format of SQLCipher 4 with the same key.
    ///   - progress: called as pages are written and checked. An error that it throws stops the migration.
    /// - throws: `SQLITE_BUSY` when another connection has the database open; `SQLITE_FULL` before anything is written
    ///   if there is too little room; `SQLITE_MISUSE` for a file with several names; the errors of opening. After
    ///   these, the database is unchanged. An error with the reason `replacementPending` is about the replacement: the
    ///   next opening finishes the migration.
    public static func migrateInPlace(
        path: String, from old: Encryption, as new: Encryption? = nil,
        progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws {
        let migration = InPlaceMigration(
            path: realPath(path), name: path, old: old, new: new ?? Encryption(key: old.key), progress: progress)
        do {
            try migration.run()
        } catch let error as DatabaseError where error.resultCode == .SQLITE_NOTADB {
            // After a kill, it may be done.
            guard (try? details(path: path, encryption: migration.new)) != nil else { throw error }
        }
    }
}

/// A migration of one database in its place.
private struct InPlaceMigration {
    let path: String
    /// The path as it was given, for messages.
    let name: String
    let old: Encryption
    let new: Encryption
    let progress: ((EncryptionProgress) throws -> Void)?

    func run() throws {
        // A killed process may have left the former database in its folder.
        try Replacement.settle(path)
        CopyStaging.removeLeftOvers(beside: path)
        try DatabaseFile.withDatabase(path, old) { source in
            guard try source.fileSize() > 0 else { throw DatabaseError.notDatabase(name, "it is empty") }
            try source.requireSingleName()
            try keepOthersOut(source)
            do {
                try replace(source)
            } catch let error where (error as? DatabaseError)?.reason != .replacementPending {
                // The log is still that of this database.
                source.log.setCheckpointsAtClose(true)
                throw error
            }
        }
    }

    private func replace(_ source: Database) throws {
        let destination = RestoreDestination(path: path, name: name)
        _ = try destination.fill(.discarded, size: size(of: source), like: nil, isLocked: true) { copy in
            try naming(copy) { try fill(copy, from: source) }
        }
    }

    /// Locks the database until the connection is closed, which then leaves the log to the next one.
    private func keepOthersOut(_ source: Database) throws {
        do {
            try source.runUnseen("PRAGMA main.locking_mode = EXCLUSIVE")
            try source.inTransaction(.exclusive) { .commit }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            throw DatabaseError(
                .SQLITE_BUSY, refusing: "another connection has \(name) open", advice: "close it first")
        }
        // The log that the name leads to at the end is that of the migrated database.
        source.log.setCheckpointsAtClose(false)
    }

    private func size(of source: Database) throws -> Int64 {
        let log = NamedFile.size(CompanionFile.log.path(of: path))
        return try source.fileSize() + max(0, log)
    }

    private func fill(_ copy: String, from source: Database) throws {
        let watch = try CopyProgress(of: source, progress)
        let new = try DatabaseFile.settled(new, forCopyOf: source, at: path)
        let slotFile = try new.flatMap { try source.slotFile(forCopyWith: $0.key) }
        let error = StagedCopy.create(copy, of: path)
        guard error == 0 else { throw CopyStaging.failure("create a copy of \(name)", error) }
        let counts = try DatabaseFile.withDatabase(copy, new) {
            try ContentCopy(from: source, to: $0, progress: watch).run()
        }
        if let slotFile, let new { try slotFile.give(to: copy, new) }
        try DatabaseFile.withDatabase(copy, new) { database in
            try database.stopping(by: watch) { try DatabaseFile.verify(database, counts, watch) }
        }
        try watch.complete()
    }

    /// Runs `body`, and names the database in its errors.
    private func naming(_ copy: String, _ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DatabaseError {
            throw error.naming(name, insteadOf: copy)
        }
    }
}
