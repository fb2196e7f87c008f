import Foundation

// Slot files: opened beside a closed database, backed up, and restored.

extension KeySlots {
    /// Opens the key slots of a database, which doesn't have to be open. Does not change files.
    ///
    /// - parameters:
    ///   - path: the path of the database.
    ///   - encryption: an encryption with the secret of a slot, or the data key.
    /// - throws: `SQLITE_NOTADB` if the secret opens no slot, or the data key doesn't open the database; the errors of
    ///   the slot file.
    public static func open(path: String, encryption: Encryption) throws -> KeySlots {
        try DatabaseFile.reading(path: DatabaseFile.realPath(path), encryption: encryption) { try $0.keySlots() }
    }

    /// Restores the slot file of a database from a backup, after a secret of the backup has opened the database.
    ///
    /// The slots are those of the backup: secrets that were removed since then open the database again.
    ///
    /// - parameters:
    ///   - backup: the path of the backup.
    ///   - path: the path of the database.
    ///   - encryption: an encryption with the secret of a slot of the backup.
    ///   - replacing: true to replace an existing slot file, damaged or not. Default: false.
    /// - throws: `SQLITE_CANTOPEN` with the reason `fileExists` if there is a slot file; the errors of the backup.
    public static func restore(
        _ backup: String, path: String, encryption: Encryption, replacing: Bool = false
    ) throws -> KeySlots {
        guard let file = try SlotFiles.read(backup) else {
            throw DatabaseError(.SQLITE_CANTOPEN, refusing: "there is no \(backup)", reason: .unfitSlotFile)
        }
        let files = SlotFiles(database: DatabaseFile.realPath(path))
        let (dataKey, slot) = try encryption.key.withSlotSecret {
            try file.unlock($0, preferred: encryption.keySlots.preferred, KeySlotDeriver())
        }
        var opening = encryption
        opening.key = DatabaseKey(source: KeySource(raw: dataKey, salt: nil))
        let salt = try DatabaseFile.reading(path: files.database, encryption: opening) { $0.cipher.derived?.salt }
        guard salt == file.salt else { throw DatabaseError.foreignSlotFile(backup) }
        let restored = try files.changingSlots { change in
            guard replacing || !files.exists(.current) else {
                throw DatabaseError(
                    .SQLITE_CANTOPEN, refusing: "\(files.path(.current)) exists", advice: "replace it, or move it away",
                    reason: .fileExists)
            }
            let present = (try? files.read(.current)) ?? nil
            let next = try SlotFile(
                salt: file.salt, epoch: max(file.epoch, present?.epoch ?? 0) + 1, entries: file.entries,
                dataKey: dataKey)
            try change.write(next, as: .current, replacesDamaged: replacing)
            return next
        }
        return try KeySlots(files, restored, dataKey: dataKey, opened: slot)
    }
}

extension DatabaseFile {
    /// Returns the slots in the slot file of a database, without a secret. They are not authenticated.
    ///
    /// - throws: the errors of the slot file; `SQLITE_MISUSE` with the reason `unfitKeySlots` if there is none.
    public static func keySlots(path: String) throws -> [KeySlot] {
        let files = SlotFiles(database: realPath(path))
        guard let file = try files.read(.current) else { throw DatabaseError.noKeySlots(path) }
        return file.slots
    }
}
