// The keys and slot files of copies.

extension DatabaseFile {
    /// Returns the encryption of a copy, with the key that its store has for it.
    ///
    /// - throws: `SQLITE_CANTOPEN` with the reason `foreignKeyStore` if the key is that of another database, of which
    ///   this is no copy.
    static func settled(
        _ encryption: Encryption?, forCopyOf source: Database, at destination: String
    ) throws -> Encryption? {
        guard var encryption else { return nil }
        encryption.key = source.cipher.keyring.current(encryption.key)
        if let store = encryption.key.source.managed?.store {
            let managed = ManagedKey(store: store, path: realPath(destination))
            if try source.cipher.key.map(managed.has) != true { try managed.claim() }
        }
        return try settled(encryption, at: destination)
    }

    /// Returns the encryption of a new database, with the key that its store has for it.
    static func settled(_ encryption: Encryption, at destination: String) throws -> Encryption {
        guard let store = encryption.key.source.managed?.store else { return encryption }
        var encryption = encryption
        let managed = ManagedKey(store: store, path: realPath(destination))
        encryption.key =
            try managed.loaded()?.key ?? managed.make { try SlotFiles(database: managed.path).requireNone() }.key
        return encryption
    }
}

extension Database {
    /// Returns the slot file for a copy with `copyKey`. Nil if the copy gets a key other than the data key, or if there
    /// are no slots.
    ///
    /// - throws: the errors of the slot file, if a slot of it has opened the database: nothing else opens the copy.
    func slotFile(forCopyWith copyKey: DatabaseKey) throws -> SlotFile? {
        guard isFileStored, let source = cipher.key?.source, source.form == .raw, let derived = cipher.derived,
            copyKey.source.identity == source.identity
        else { return nil }
        let files = SlotFiles(database: filePath)
        guard let file = try files.read(for: derived.salt) else {
            guard source.slotID != nil else { return nil }
            let path = files.path(.current)
            throw files.exists(.current) ? .foreignSlotFile(path) : DatabaseError.missingSlotFile(path)
        }
        guard try file.isAuthentic(with: derived.key) else { throw DatabaseError.forgedSlotFile }
        return file
    }
}

extension SlotFile {
    /// Writes a slot file with these slots beside a copy with the same data key.
    func give(to copy: String, _ encryption: Encryption) throws {
        let derived = try DatabaseFile.withDatabase(copy, encryption) { $0.cipher.derived }
        guard let derived else { return }
        let copied = try SlotFile(salt: derived.salt, epoch: epoch, entries: entries, dataKey: derived.key)
        try SlotFiles(database: copy).changing { try $0.write(copied, as: .current) }
    }
}
