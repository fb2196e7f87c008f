// A database with key slots has a random key, which the slot file beside it contains once for each secret. The secret
// of a connection first opens one of the slots. From then on the connection has a raw key.

extension Database {
    /// Returns the key slots of the database, to list and change them.
    ///
    /// - throws: `SQLITE_MISUSE` with the reason `unfitKeySlots` if the database has none; the errors of the slot file.
    public func keySlots() throws -> KeySlots {
        requireAccess()
        try keySetup.settlePendingKey()
        guard isFileStored, let derived = cipher.derived else { throw DatabaseError.noKeySlots(path) }
        let files = SlotFiles(database: filePath)
        if let file = try files.read(for: derived.salt) {
            let opened = file.slots.first { $0.id == cipher.key?.source.slotID }
            return try KeySlots(files, file, dataKey: derived.key, opened: opened)
        }
        throw files.exists(.current) ? .foreignSlotFile(files.path(.current)) : DatabaseError.noKeySlots(path)
    }
}

extension KeySetup {
    /// Runs `establish` with the given key, or with the data key that it unlocks.
    ///
    /// A key that doesn't fit is tried again if another connection has meanwhile renewed the data key, or given slots
    /// to the database, or removed them.
    func unlockingKeySlots(_ requested: PlaintextHeader?, _ establish: () throws -> Void) throws {
        guard let given = cipher.key, given.source.form == .passphrase else {
            if slotOptions.creating != nil, try database.hasNoPage() { throw DatabaseError.rawKeyInSlot }
            return try establish()
        }
        while true {
            cipher.slotLook = SlotLook(given: given, seen: try slotTraces(), count: (cipher.slotLook?.count ?? 0) + 1)
            do {
                try unlock(given, requested, establish)
                guard cipher.gate != nil, try prepareAnotherLook() else { return }
            } catch let error as DatabaseError where error.isAboutKeys {
                guard try prepareAnotherLook() else { throw error }
            }
        }
    }

    /// Sets the key again, after the first read has refused it, if the files that decide on it have changed since they
    /// were looked at. Returns false if they have not.
    func lookAgain() throws -> Bool {
        guard cipher.slotLook != nil, try prepareAnotherLook() else { return false }
        try establishKey(cipher.requested.settings, requestedHeader: cipher.requested.header)
        return true
    }

    /// Returns true if the secret of this connection may stand for another key by now: the files that decide on it have
    /// changed since they were first looked at, or its store has another key.
    func isOvertaken() -> Bool {
        guard database.isFileStored else { return false }
        if let look = cipher.slotLook {
            // After another look, the connection may still have a page of the former key.
            return look.count > 1 || (try? slotTraces()).map { $0 != look.seen } ?? false
        }
        let isManaged = configuration.encryption?.key.source.managed != nil
        return isManaged && (try? database.keyProof.wasKeyChanged()) == true
    }

    /// Sets the given key if there is a reason to try it again.
    private func prepareAnotherLook() throws -> Bool {
        guard let look = cipher.slotLook, look.count < SlotLook.most, database.isFileStored,
            try slotTraces() != look.seen
        else { return false }
        // SQLite keeps a page that it has read with the former key.
        try database.runUnseen("PRAGMA shrink_memory")
        cipher.key = look.given
        return true
    }

    /// Returns the bytes that decide on the key that a secret stands for.
    private func slotTraces() throws -> [[UInt8]] {
        let path = database.filePath, files = SlotFiles(database: path)
        // The log is as long as the database while it is rotated, and has the key only then.
        let log = SaltFile.exists(.rotation, of: path) ? database.recovery.traceOfLog : []
        return [try database.fileHeader().salt?.bytes ?? [], log] + files.traces
            + [.permanent, .rotation].map { SaltFile.trace($0, of: path) }
    }

    private func unlock(
        _ given: DatabaseKey, _ requested: PlaintextHeader?, _ establish: () throws -> Void
    ) throws {
        let files = SlotFiles(database: database.filePath), isEmpty = try database.hasNoPage()
        let creating = isEmpty && !configuration.readonly ? slotOptions.creating : nil
        guard creating != nil || files.exists(.current) || files.exists(.rotation) else {
            try establish()
            // Another connection may have created the database with key slots meanwhile.
            guard isEmpty, cipher.gate != nil, files.exists(.current) else { return }
            return try unlockingKeySlots(requested, establish)
        }
        try given.source.withSecret { secret in
            // A provider may return the data key itself.
            guard try KeySource.specifiedKey(secret) == nil else {
                if creating != nil { throw DatabaseError.rawKeyInSlot }
                return try establish()
            }
            let unlocking = KeyUnlocking(database: database, files: files, given: given, secret: secret)
            defer { cipher.keyring.countDerivations(unlocking.deriver.runCount) }
            if isEmpty {
                do {
                    try unlocking.useForCreation(creating)
                    try establish()
                } catch {
                    try? unlocking.removeForeignSlotFile()
                    throw error
                }
                guard cipher.gate != nil, try unlocking.giveUpCreation() else { return }
                // Another connection has created the database with another key during the derivation.
                try unlockingKeySlots(requested, establish)
            } else if SaltFile.exists(.rotation, of: database.filePath) || files.exists(.rotation) {
                try unlocking.useFirstReadable(establish)
            } else if let file = try files.read(.current) {
                try unlocking.use(file, besides: fileSalts(requested), establish)
            } else {
                // It was removed meanwhile.
                try establish()
            }
        }
    }

    private var slotOptions: KeySlotOptions { configuration.encryption?.keySlots ?? KeySlotOptions() }

    /// Returns the salts that the database may have, the most likely one first. None if there is no salt.
    private func fileSalts(_ requested: PlaintextHeader?) throws -> [Salt] {
        let header = try database.fileHeader()
        guard header.hasPlaintextHeader else { return header.salt.map { [$0] } ?? [] }
        if let provided = try (requested?.salt.provided).map({ try Salt($0) }) { return [provided] }
        return try SaltFile.readAll(.permanent, of: database.filePath).map(\.salt)
    }
}

/// The unlocking of a slot file for a connection.
private struct KeyUnlocking {
    let database: Database
    let files: SlotFiles
    /// The key that was given to the connection.
    let given: DatabaseKey
    let secret: SecretBytes
    let deriver = KeySlotDeriver()

    private var options: KeySlotOptions { database.configuration.encryption?.keySlots ?? KeySlotOptions() }

    // MARK: Using

    /// Uses the slot file of a database that is not being changed.
    ///
    /// - parameter salts: the salts that the database may have, the most likely one first.
    /// - throws: `foreignSlotFile` if the file is for another data key.
    func use(_ file: SlotFile, besides salts: [Salt], _ establish: () throws -> Void) throws {
        let isOwn = salts.first.map { $0 == file.salt } ?? true
        // With a plaintext header, its salt may be a former one.
        if isOwn || salts.contains(file.salt) {
            do {
                let key = try unlock(file)
                database.cipher.key = key
                try establish()
                guard database.cipher.gate != nil else { return database.cipher.keyring.replace(given, by: key) }
                // The pages are damaged, or of another key: the end of opening looks for the reason.
                if isOwn { return }
            } catch let error as DatabaseError where !isOwn && error.reason == .wrongKey {}
        }
        // The database may be a backup from before it had slots, or have replaced one with slots.
        database.cipher.key = given
        try establish()
        if database.cipher.gate == nil, try database.recovery.canRead() { return }
        throw DatabaseError.foreignSlotFile(files.path(.current))
    }

    /// Sets the data key on this connection, and for those that share its keys.
    func use(_ file: SlotFile) throws {
        let key = try unlock(file)
        database.cipher.keyring.replace(given, by: key)
        database.cipher.key = key
    }

    private func unlock(_ file: SlotFile) throws -> DatabaseKey {
        if let least = options.leastEpoch, file.epoch < least { throw DatabaseError.olderSlotFile(file.epoch, least) }
        let (dataKey, slot) = try file.unlock(secret, preferred: options.preferred, deriver)
        return DatabaseKey(source: KeySource(raw: dataKey, salt: nil, slotID: slot.id))
    }

    /// Uses the salt and the data key of the slot file for a new database. The slot file is made before the database.
    func useForCreation(_ new: NewKeySlot?) throws {
        try SaltFile.requireName(of: files.database)
        guard let file = try files.read(.current) ?? new.flatMap(makeSlotFile) else { return }
        try use(file)
        database.cipher.creation.salt = file.salt
    }

    /// Makes the slot file, unless another connection has made it, or the database: nil for the latter.
    private func makeSlotFile(_ new: NewKeySlot) throws -> SlotFile? {
        try files.changing { change in
            if let file = try files.read(.current) { return file }
            return try database.hasNoPage() ? create(new, change) : nil
        }
    }

    /// Removes the slot file that this connection has made, if the first page has the salt of another creation.
    func removeForeignSlotFile() throws {
        guard let made = database.cipher.creation.slotFile, try !database.hasNoPage() else { return }
        let header = try database.fileHeader()
        let salts =
            try header.hasPlaintextHeader
            ? SaltFile.readAll(.permanent, of: files.database).map(\.salt) : header.salt.map { [$0] } ?? [made.salt]
        guard !salts.contains(made.salt) else { return }
        try files.changing { if try files.read(.current) == made { try $0.remove(.current) } }
        database.cipher.creation.slotFile = nil
    }

    /// Removes the slot file that this connection has made for a database that has another key, and goes back to the
    /// given key. Returns false if there is nothing to give up.
    func giveUpCreation() throws -> Bool {
        guard let unlocked = database.cipher.key, unlocked.source.slotID != nil, try !database.hasNoPage() else {
            return false
        }
        _ = try database.recovery.settleCreations()
        database.cipher.creation.salt = nil
        database.cipher.keyring.replace(unlocked, by: given)
        database.cipher.key = given
        return true
    }

    private func create(_ new: NewKeySlot, _ change: SlotFiles.Change) throws -> SlotFile {
        try new.validateForGivenSecret()
        let dataKey = try SecretBytes(randomCount: KeySource.rawCount)
        let draft = try SlotFileDraft(salt: .random(), dataKey: dataKey, deriver: deriver)
        let file = try draft.adding(new, secret).publish(change, as: .current)
        database.cipher.creation.slotFile = file
        // The database may have been created during the derivation: then there is the slot file to remove.
        database.saltSearch.beginCreation()
        return file
    }

    // MARK: While the key is being changed

    /// Uses the key that reads the database, of those that the secret unlocks. The new key of a rotation is tried
    /// first.
    func useFirstReadable(_ establish: () throws -> Void) throws {
        var failure: (any Error)?
        let hasFile = files.exists(.current)
        let unlocked = [SlotFiles.Role.rotation, .current].map { role in { try files.read(role).map(unlock) } }
        for candidate in unlocked + [{ given }] {
            do {
                guard let key = try candidate() else { continue }
                database.cipher.key = key
                try establish()
                guard try database.recovery.canRead() else { continue }
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
            || reason == .excessiveKeyCost || reason == .forgedSlotFile || reason == .olderSlotFile
    }
}
