import Foundation

/// The next content of a slot file. Each new secret must unlock it before it is published.
struct SlotFileDraft {
    private let salt: Salt
    private let dataKey: SecretBytes
    private let deriver: KeySlotDeriver
    private let epoch: Int
    private var entries: [KeySlot.Entry]
    /// The secrets of the new slots, by identifier.
    private var secrets: [String: SecretBytes] = [:]

    /// - parameter epoch: the epoch of the former file. Default: the time, so that slots that are removed and made
    ///   again have no lower epoch.
    init(salt: Salt, dataKey: SecretBytes, deriver: KeySlotDeriver, epoch: Int? = nil, entries: [KeySlot.Entry] = []) {
        (self.salt, self.dataKey, self.deriver) = (salt, dataKey, deriver)
        (self.epoch, self.entries) = (epoch ?? SlotFileDraft.firstEpoch, entries)
    }

    /// The microseconds since 1970.
    private static var firstEpoch: Int {
        min(max(Int(Date().timeIntervalSince1970 * 1_000_000), 0), SlotFile.largestEpoch - 1)
    }

    /// Creates a draft that begins with the content of `file`.
    init(of file: SlotFile, dataKey: SecretBytes, deriver: KeySlotDeriver) {
        self.init(salt: file.salt, dataKey: dataKey, deriver: deriver, epoch: file.epoch, entries: file.entries)
    }

    private var present: SlotFile { SlotFile(salt: salt, epoch: epoch, entries: entries, code: []) }

    // MARK: Changing

    func adding(_ new: NewKeySlot, _ secret: SecretBytes) throws -> SlotFileDraft {
        var draft = self
        let id = try present.newID()
        draft.entries.append(try KeySlot.Entry(new, id: id, secret: secret, dataKey: dataKey, deriver))
        draft.secrets[id] = secret
        // Checked before the costly derivation.
        try draft.present.requireFit()
        return draft
    }

    /// Replaces the secret of a slot, which keeps its identifier, label and place.
    func changing(
        _ name: String, to new: (KeySlot) throws -> NewKeySlot, _ secret: SecretBytes
    ) throws -> SlotFileDraft {
        var draft = self
        let index = try present.index(of: name), slot = entries[index].slot
        draft.entries[index] = try KeySlot.Entry(new(slot), id: slot.id, secret: secret, dataKey: dataKey, deriver)
        draft.secrets[slot.id] = secret
        return draft
    }

    /// Adds a slot of another slot file, with its secret.
    func keeping(_ slot: KeySlot, _ secret: SecretBytes) throws -> SlotFileDraft {
        var draft = self
        draft.entries.append(try KeySlot.Entry(slot, secret: secret, dataKey: dataKey, deriver))
        draft.secrets[slot.id] = secret
        return draft
    }

    func removing(_ name: String) throws -> SlotFileDraft {
        var draft = self
        let index = try present.index(of: name)
        guard entries.count > 1 else { throw DatabaseError.lastKeySlot }
        draft.entries.remove(at: index)
        return draft
    }

    // MARK: Finishing

    /// Writes the file, after each new secret has unlocked the text to be written.
    func publish(_ change: SlotFiles.Change, as role: SlotFiles.Role) throws -> SlotFile {
        let file = try SlotFile(text: SlotFile(salt: salt, epoch: epoch + 1, entries: entries, dataKey: dataKey).text)
        for (id, secret) in secrets {
            let key = try file.entries[file.index(of: id)].unlock(secret, deriver)
            guard let key, key.isEqual(to: dataKey), try file.isAuthentic(with: key) else {
                throw DatabaseError(.SQLITE_ERROR, refusing: "the new key slot does not open with its secret")
            }
        }
        try change.write(file, as: role)
        return file
    }
}
