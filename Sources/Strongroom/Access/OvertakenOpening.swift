// Openings that meet a change of the key by another connection.

extension Configuration {
    /// Opens the first connection of a queue or pool. Opens it again if another connection has changed meanwhile which
    /// key the secret stands for: it has given slots to the database, removed them, or renewed the key of a store. So a
    /// wrong key is one that was wrong from the first look to the last one.
    func opening(
        at path: String, _ open: (Configuration) throws -> SerializedConnection
    ) throws -> SerializedConnection {
        var count = 1
        while true {
            do {
                // The keys of an earlier attempt may be former ones.
                let configuration = sharingKeys().counting().owningKey()
                return try configuration.explainingMissingLog(at: path) {
                    try configuration.migratingOlderFormat(at: path) { try open(configuration) }
                }
            } catch let overtaken as OvertakenOpening {
                guard count < SlotLook.most else { throw overtaken.error }
                count += 1
            }
        }
    }
}

extension Database {
    /// Runs the end of an opening. Throws ``OvertakenOpening`` if the key does not fit, and may be another one by now.
    func detectingChangedKey(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch let error as DatabaseError where error.mayBeAboutKey {
            guard keySetup.isOvertaken() else { throw error }
            throw OvertakenOpening(error: error)
        }
    }
}

/// An opening whose secret stood for a former key.
struct OvertakenOpening: Error {
    let error: DatabaseError
}

extension DatabaseError {
    /// True if pages of another key may be the cause.
    fileprivate var mayBeAboutKey: Bool {
        [.SQLITE_NOTADB, .SQLITE_CORRUPT, .SQLITE_ERROR, .SQLITE_AUTH].contains(resultCode)
    }
}
