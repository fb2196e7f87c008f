// The slot file while the data key changes. The next slot file is written beside the current one before a page changes,
// and replaces it when no page of the former key is left. In between, the database determines which of them is valid.

extension Rotation {
    /// Changes the data key, or adds or removes the slots. See ``KeySlotRotation``.
    func rotateKey(
        _ change: KeySlotRotation, progress: ((EncryptionProgress) throws -> Void)?
    ) throws -> RotationOutcome {
        let deriver = KeySlotDeriver()
        switch change {
        case .keeping(let keys, let droppingOthers):
            let former = try authenticSlotFile(), kept = try former.entries(openedBy: keys, deriver)
            let dropped = former.slots.filter { slot in !kept.contains { $0.slot == slot } }
            guard droppingOthers || dropped.isEmpty else { throw DatabaseError.dropping(dropped) }
            return try rotateKey(
                to: newDataKey(),
                .replacing(former: former) { draft in
                    try kept.reduce(draft) { try $0.keeping($1.slot, $1.secret) }
                }, progress: progress)
        case .creating(let slot, let secret):
            try slot.validateForGivenSecret()
            return try secret.withSlotSecret { secret in
                let slotFile = SlotFileChange.replacing(former: nil) { try $0.adding(slot, secret) }
                return try rotateKey(to: newDataKey(), slotFile, progress: progress)
            }
        case .removing(let key):
            _ = try authenticSlotFile()
            return try rotateKey(to: key, .removing, progress: progress)
        }
    }

    private func newDataKey() throws -> DatabaseKey {
        let bytes = try SecretBytes(randomCount: KeySource.rawCount)
        return DatabaseKey(source: KeySource(raw: bytes, salt: nil, slotID: cipher.key?.source.slotID ?? ""))
    }

    private func authenticSlotFile() throws -> SlotFile {
        let slots = try database.keySlots()
        // That of an earlier renewal is not the current one while readers use pages from before it.
        let file = try SlotFiles(database: database.filePath).read(for: cipher.derived!.salt)
        guard let file, try file.isAuthentic(with: slots.dataKey) else { throw DatabaseError.forgedSlotFile }
        return file
    }

    /// Throws if the slot file does not allow the change.
    func requireChangeable(_ change: SlotFileChange) throws {
        let files = SlotFiles(database: database.filePath), hasFile = files.exists(.current)
        switch change {
        case .none:
            guard hasFile else { return }
            if try files.read(.current)?.salt != cipher.derived?.salt, !files.exists(.rotation),
                cipher.key?.source.form == .passphrase
            {
                throw DatabaseError.straySlotFile(files.path(.current))
            }
            throw DatabaseError(
                refusing: "\(database.path) has key slots",
                advice: "change the secret of a slot with keySlots().change(_:to:), or the data key with rotateKey(_:)",
                reason: .unfitKeySlots)
        case .removing: break
        case .replacing(let former, _):
            guard cipher.saltOrigin != .caller else {
                throw DatabaseError(
                    refusing: "the data key of \(database.path) can't change while its salt is provided",
                    advice: "open it with its salt in the file beside it", reason: .unfitKeySlots)
            }
            guard hasFile == (former != nil) else {
                throw DatabaseError(refusing: "\(database.path) has key slots already", reason: .unfitKeySlots)
            }
        }
    }

    /// Writes the next slot file, under the write lock.
    func announce(_ change: SlotFileChange, _ new: DerivedKey) throws {
        guard case .replacing(let former, let entries) = change else { return }
        let files = SlotFiles(database: database.filePath)
        let draft = SlotFileDraft(
            salt: new.salt, dataKey: new.key, deriver: KeySlotDeriver(), epoch: former?.epoch)
        let next = try entries(draft)
        try files.changing { change in
            guard try files.read(.current) == former else {
                throw DatabaseError(
                    .SQLITE_BUSY, refusing: "the key slots of \(database.path) were changed meanwhile",
                    advice: "try again")
            }
            _ = try next.publish(change, as: .rotation)
        }
    }
}

extension SlotFile {
    fileprivate func isAuthentic(with key: DatabaseKey) throws -> Bool {
        try key.source.withSecret { try isAuthentic(with: $0) }
    }
}

extension DatabaseError {
    /// The refusal for a database that has no slots, and the slot file of another one.
    fileprivate static func straySlotFile(_ path: String) -> DatabaseError {
        DatabaseError(
            refusing: "\(path) belongs to another database, or to this one at another time",
            advice: "move it away: this database opens without it", reason: .foreignSlotFile)
    }

    fileprivate static func dropping(_ slots: [KeySlot]) -> DatabaseError {
        let names = slots.map { "\($0.id) (\($0.label))" }.joined(separator: ", ")
        return DatabaseError(
            refusing: "without their secrets, these key slots would be dropped: \(names)",
            advice: "give their secrets, or allow it", reason: .droppedKeySlots)
    }
}
