// The end of the creation of a database.

extension KeySetup {
    /// Ends the creation after the first transaction that this connection committed to an empty file, and at closing,
    /// because a program may end without it.
    ///
    /// The salt file stays if the database doesn't open without it. The next opening checks again.
    func endCreation() {
        guard cipher.isCreationPending, let size = try? database.fileSize(), size > 0 else { return }
        withdrawUnusedKey()
        guard cipher.isCreationPending else { return }
        guard (try? database.recovery.settleCreations()) != false, cipher.creation.isAnnounced else { return }
        cipher.creation.isAnnounced = false
        guard (try? opensFromFiles()) == true else { return }
        try? SaltFile.remove(.creation, of: database.filePath)
    }

    /// Removes the key that this connection has made from its store, if another connection has created the database
    /// with another key. Page 1 proves it, while no other process makes or changes keys.
    private func withdrawUnusedKey() {
        guard let (store, key) = cipher.creation.storedKey else { return }
        cipher.creation.storedKey = nil
        guard database.connection.commits == 0 else { return }
        try? store.locked(milliseconds: 1000) {
            guard try store.load(.current)?.hasSameBytes(as: key) == true, try database.keyProof.wasKeyChanged()
            else { return }
            try store.remove(.current)
        }
    }

    /// Returns true if a new connection, which has the key and the settings, finds the salt and the header by itself,
    /// and reads.
    private func opensFromFiles() throws -> Bool {
        guard let key = cipher.key, let derived = cipher.derived else { return true }
        let file = SaltFile(salt: derived.salt, header: cipher.header)
        if cipher.header > 0, !cipher.isSaltProvided { try file.write(.permanent, of: database.filePath) }
        let salt = cipher.saltOrigin == .caller ? PlaintextHeader.SaltPlace.provided(derived.salt.bytes) : .sidecar
        let header = cipher.header > 0 ? PlaintextHeader(size: cipher.header, salt: salt) : nil
        let location = try database.saltSearch.locateSalt(requestedHeader: header)
        guard SaltFile(salt: location.salt, header: location.header) == file else { return false }
        var plain = Configuration()
        plain.encryption = Encryption(key: key, settings: derived.settings, plaintextHeader: header)
        plain.readonly = true
        do {
            let fresh = try Database(
                path: database.filePath, description: database.description + ".verification",
                // A derivation that was made already has the same result.
                configuration: plain.sharingKeys(cipher.keyring))
            try fresh.withSoleAccess { try $0.setUpPlainly(derived: nil, header: 0) }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
            // A connection that excludes all others has read the salt from the files.
        }
        return true
    }
}
