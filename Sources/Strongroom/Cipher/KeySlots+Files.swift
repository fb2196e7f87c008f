import CStrongroom
import Foundation

// Key files as a whole: opened beside a database that is closed, backed up, and restored.

extension KeySlots {
    /// Opens the key slots of a database, which need not be open. Changes no file.
    ///
    /// - parameter encryption: with the secret of a slot, or the data key.
    /// - throws: `SQLITE_NOTADB` where it opens no slot, or the data key doesn't open the database; the errors of the
    ///   key file.
    public static func open(path: String, encryption: Encryption) throws -> KeySlots {
        try DatabaseFile.reading(path: DatabaseFile.realPath(path), encryption: encryption) { try $0.keySlots() }
    }

    /// Restores the key file of a database from a backup, after a secret of the backup has opened the database.
    ///
    /// The slots are those of the backup: secrets that were removed since open the database again.
    ///
    /// - parameter encryption: with the secret of a slot of the backup.
    /// - parameter replacing: true to replace a present key file, damaged or not.
    /// - throws: `SQLITE_CANTOPEN` with the reason `fileExists` where there is a key file; the errors of the backup.
    public static func restore(
        _ backup: String, path: String, encryption: Encryption, replacing: Bool = false) throws -> KeySlots
    {
        guard let file = try KeyFiles.read(backup) else {
            throw DatabaseError(.SQLITE_CANTOPEN, refusing: "there is no \(backup)", reason: .unfitKeyFile)
        }
        let files = KeyFiles(database: DatabaseFile.realPath(path))
        let (dataKey, slot) = try encryption.key.withSlotSecret {
            try file.unlock($0, preferred: encryption.keySlots.preferred, KeySlotDeriver())
        }
        var opening = encryption
        opening.key = DatabaseKey(source: KeySource(raw: dataKey, salt: nil))
        let salt = try DatabaseFile.reading(path: files.database, encryption: opening) { $0.cipher.derived?.salt }
        guard salt == file.salt else { throw DatabaseError.foreignKeyFile(backup) }
        let restored = try files.changingSlots { change in
            guard replacing || !files.exists(.current) else {
                throw DatabaseError(
                    .SQLITE_CANTOPEN, refusing: "\(files.path(.current)) exists", advice: "replace it, or move it away",
                    reason: .fileExists)
            }
            let present = (try? files.read(.current)) ?? nil
            let next = try KeyFile(
                salt: file.salt, epoch: max(file.epoch, present?.epoch ?? 0) + 1, entries: file.entries,
                dataKey: dataKey)
            try change.write(next, as: .current, replacesDamaged: replacing)
            return next
        }
        return try KeySlots(files, restored, dataKey: dataKey, opened: slot)
    }
}

extension DatabaseFile {
    /// Returns the slots in the key file of a database, without a secret. Only an unlocking authenticates them.
    ///
    /// - throws: the errors of the key file; `SQLITE_MISUSE` with the reason `unfitKeySlots` where there is none.
    public static func keySlots(path: String) throws -> [KeySlot] {
        let files = KeyFiles(database: realPath(path))
        guard let file = try files.read(.current) else { throw DatabaseError.noKeySlots(path) }
        return file.slots
    }
}
