import CStrongroom

// A database with key slots has a random key, which the key file beside it contains once for each secret. The secret of
// a connection first opens one of the slots. From then on the connection has a raw key.

extension Database {
    /// Returns the key slots of the database, to list and change them.
    ///
    /// - throws: `SQLITE_MISUSE` with the reason `unfitKeySlots` if the database has none; the errors of the key file.
    public func keySlots() throws -> KeySlots {
        requireAccess()
        try keySetup.settlePendingKey()
        guard isFileStored, let derived = cipher.derived else { throw DatabaseError.noKeySlots(path) }
        let files = KeyFiles(database: filePath)
        if let file = try files.read(for: derived.salt) {
            let opened = file.slots.first { $0.id == cipher.key?.source.slotID }
            return try KeySlots(files, file, dataKey: derived.key, opened: opened)
        }
        throw files.exists(.current) ? .foreignKeyFile(files.path(.current)) : DatabaseError.noKeySlots(path)
    }
}

extension KeySetup {
    /// Runs `establish` with the given key, or with the data key that it unlocks.
    func unlockingKeySlots(_ requested: PlaintextHeader?, _ establish: () throws -> Void) throws {
        guard let given = cipher.key, given.source.form == .passphrase else { return try establish() }
        let files = KeyFiles(database: database.filePath), isEmpty = try database.hasNoPage()
        let creating = isEmpty && !configuration.readonly ? slotOptions.creating : nil
        guard creating != nil || files.exists(.current) || files.exists(.rotation) else { return try establish() }
        try given.source.withSecret { secret in
            // A provider may return the data key itself.
            guard try KeySource.specifiedKey(secret) == nil else { return try establish() }
            let unlocking = KeyUnlocking(database: database, files: files, given: given, secret: secret)
            defer { cipher.keyring.countDerivations(unlocking.deriver.runCount) }
            if isEmpty {
                try unlocking.useForCreation(creating)
                try establish()
            } else if SaltFile.exists(.rotation, of: database.filePath) || files.exists(.rotation) {
                try unlocking.useFirstReadable(establish)
            } else {
                let file = try requireOwnKeyFile(files, requested)
                try unlocking.use(file)
                try establish()
                guard cipher.gate != nil, try files.exists(.rotation) || files.read(.current) != file else { return }
                // Another connection has renewed the data key during the derivation.
                cipher.key = given
                try unlockingKeySlots(requested, establish)
            }
        }
    }

    private var slotOptions: KeySlotOptions { configuration.encryption?.keySlots ?? KeySlotOptions() }

    /// Returns the key file. Throws if its salt is not the database's.
    private func requireOwnKeyFile(_ files: KeyFiles, _ requested: PlaintextHeader?) throws -> KeyFile {
        guard let file = try files.read(.current) else { throw DatabaseError.noKeySlots(database.path) }
        let header = try database.fileHeader()
        var salts = header.salt.map { [$0] } ?? []
        if header.hasPlaintextHeader {
            let provided = try (requested?.salt.provided).map { try Salt($0) }
            salts = try provided.map { [$0] } ?? SaltFile.readAll(.permanent, of: database.filePath).map(\.salt)
        }
        guard salts.isEmpty || salts.contains(file.salt) else {
            throw DatabaseError.foreignKeyFile(files.path(.current))
        }
        return file
    }
}

// MARK: - Copies

extension Database {
    /// Returns the key file for a copy with `copyKey`. Nil if the copy gets a key other than the data key, or if there
    /// are no slots.
    ///
    /// - throws: the errors of the key file, if a slot of it has opened the database: nothing else opens the copy.
    func keyFile(forCopyWith copyKey: DatabaseKey) throws -> KeyFile? {
        guard isFileStored, let source = cipher.key?.source, source.form == .raw, let derived = cipher.derived,
              copyKey.source.identity == source.identity
        else { return nil }
        let files = KeyFiles(database: filePath)
        guard let file = try files.read(for: derived.salt) else {
            guard source.slotID != nil else { return nil }
            let path = files.path(.current)
            throw files.exists(.current) ? .foreignKeyFile(path) : DatabaseError.missingKeyFile(path)
        }
        guard try file.isAuthentic(with: derived.key) else { throw DatabaseError.forgedKeyFile }
        return file
    }
}

extension KeyFile {
    /// Writes a key file with these slots beside a copy with the same data key.
    func give(to copy: String, _ encryption: Encryption) throws {
        let derived = try DatabaseFile.withDatabase(copy, encryption) { $0.cipher.derived }
        guard let derived else { return }
        let copied = try KeyFile(salt: derived.salt, epoch: epoch, entries: entries, dataKey: derived.key)
        try KeyFiles(database: copy).changing { try $0.write(copied, as: .current) }
    }
}

/// The unlocking of a key file for a connection.
private struct KeyUnlocking {
    let database: Database
    let files: KeyFiles
    /// The key that was given to the connection.
    let given: DatabaseKey
    let secret: SecretBytes
    let deriver = KeySlotDeriver()

    private var options: KeySlotOptions { database.configuration.encryption?.keySlots ?? KeySlotOptions() }

    // MARK: Using

    /// Sets the data key on this connection, and for those that share its keys.
    func use(_ file: KeyFile) throws {
        let key = try unlock(file)
        database.cipher.keyring.replace(given, by: key)
        database.cipher.key = key
    }

    private func unlock(_ file: KeyFile) throws -> DatabaseKey {
        if let least = options.leastEpoch, file.epoch < least { throw DatabaseError.olderKeyFile(file.epoch, least) }
        let (dataKey, slot) = try file.unlock(secret, preferred: options.preferred, deriver)
        return DatabaseKey(source: KeySource(raw: dataKey, salt: nil, slotID: slot.id))
    }

    /// Uses the salt and the data key of the key file for a new database. The key file is made before the database.
    func useForCreation(_ new: NewKeySlot?) throws {
        try SaltFile.requireName(of: files.database)
        let file = try files.read(.current) ?? new.map { new in
            try files.changing { try files.read(.current) ?? create(new, $0) }
        }
        guard let file else { return }
        try use(file)
        database.cipher.creationSalt = file.salt
    }

    private func create(_ new: NewKeySlot, _ change: KeyFiles.Change) throws -> KeyFile {
        try new.validateForGivenSecret()
        let dataKey = try SecretBytes(randomCount: KeySource.rawCount)
        let draft = try KeyFileDraft(salt: .random(), dataKey: dataKey, deriver: deriver)
        return try draft.adding(new, secret).publish(change, as: .current)
    }

    // MARK: While the key is being changed

    /// Uses the key that reads the database, of those that the secret unlocks. The new key of a rotation is tried
    /// first.
    func useFirstReadable(_ establish: () throws -> Void) throws {
        var failure: (any Error)?
        let hasFile = files.exists(.current)
        let unlocked = [KeyFiles.Role.rotation, .current].map { role in { try files.read(role).map(unlock) } }
        for candidate in unlocked + [{ given }] {
            do {
                guard let key = try candidate() else { continue }
                database.cipher.key = key
                try establish()
                guard try database.rotation.canRead() else { continue }
                if key.source.form == .raw { database.cipher.keyring.replace(given, by: key) }
                return
            } catch let error as DatabaseError where error.isAboutKeys {
                failure = failure ?? error
            }
        }
        if hasFile, let failure { throw failure }
        // With the given key, the first read reports the error.
    }
}

extension DatabaseError {
    /// True if another key may open the database.
    fileprivate var isAboutKeys: Bool {
        resultCode == .SQLITE_NOTADB || resultCode == .SQLITE_CORRUPT || reason == .weakKeyCost
            || reason == .excessiveKeyCost || reason == .forgedKeyFile
    }

    static func foreignKeyFile(_ path: String) -> DatabaseError {
        DatabaseError(
            .SQLITE_NOTADB, .foreignKeyFile,
            "\(path) belongs to another database, or to this one before its data key was renewed",
            advice: "restore the key file that was beside the database")
    }

    static func olderKeyFile(_ epoch: Int, _ least: Int) -> DatabaseError {
        DatabaseError(
            .SQLITE_AUTH, .olderKeyFile, "the key file is an older copy: its epoch is \(epoch), and \(least) was seen",
            advice: "restore the latest key file")
    }

    static func noKeySlots(_ path: String) -> DatabaseError {
        DatabaseError(
            refusing: "\(path) has no key slots", advice: "give it slots with rotateKey(.creating(_:secret:))",
            reason: .unfitKeySlots)
    }
}
