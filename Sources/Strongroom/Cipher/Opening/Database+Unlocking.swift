// What a connection needs so that its database can be locked, and unlocked again.

extension Database {
    /// The error of locking the database. Nil if it can be locked.
    var lockObstacle: DatabaseError? {
        guard isFileStored else {
            return .notLockable("its content is in memory, and would be lost", "copy it into a file first")
        }
        guard cipher.isKeyed else {
            return .notLockable("it has no key that would unlock it", "encrypt it, or close it instead")
        }
        guard configuration.encryption != nil else {
            return .notLockable(
                "prepareDatabase sets its key, and so keeps it", "set the key with Configuration.encryption")
        }
        return nil
    }

    /// Reads the reopened database as ``setUp()`` does, and refuses a key that nothing confirms.
    ///
    /// - parameter former: the key that the database had, as far as it can be compared.
    func setUpUnlocked(former: [UInt8]?) throws {
        try setUp()
        guard try hasNoPage(), let former, let key = cipher.key, key.source.isImmediate else { return }
        if key.source.identity != former {
            throw DatabaseError(
                .SQLITE_NOTADB, .wrongKey, "the database has no content yet, and was opened with another key")
        }
    }

    /// Identifies the key of the connection without revealing it. Nil if it can't be compared with others.
    var keyIdentity: [UInt8]? {
        cipher.key.flatMap { $0.source.isImmediate ? $0.source.identity : nil }
    }
}

extension DatabaseError {
    static func notLockable(_ cause: String, _ advice: String) -> DatabaseError {
        DatabaseError(refusing: "the database can't be locked: \(cause)", advice: advice, reason: .notLockable)
    }
}
