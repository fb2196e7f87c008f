import Foundation

// The slot file of a change of the data key. The database determines which of the two slot files is valid.

extension Recovery {
    /// Writes the salt of a rotation whose next slot file exists without it, as in an incomplete copy of the files.
    /// With the salt, the rotation can be finished.
    func announceForSlotFile() throws {
        let files = SlotFiles(database: database.filePath)
        guard files.exists(.rotation), !SaltFile.exists(.rotation, of: database.filePath), let derived = cipher.derived
        else { return }
        try SaltFile(salt: derived.salt, header: cipher.header).write(.rotation, of: database.filePath)
    }

    /// Keeps the slot file with the salt of the database, and removes the other one. Runs under the write lock, when
    /// all pages have one key.
    func settleSlotFiles(hasCommitted: Bool, salt: Salt) throws {
        let files = SlotFiles(database: database.filePath)
        guard files.exists(.rotation) || hasCommitted && files.exists(.current) else { return }
        if hasCommitted { try promoteSlotFile(files, salt) }
        guard files.exists(.rotation) else { return }
        try files.changing { try $0.remove(.rotation) }
    }

    private func promoteSlotFile(_ files: SlotFiles, _ salt: Salt) throws {
        try files.changing { change in
            let current = try files.read(.current)
            // It became the current one before, and was changed since.
            guard current?.salt != salt else { return }
            if let next = try files.read(.rotation), next.salt == salt {
                try change.write(next, as: .current)
            } else if current != nil {
                try change.remove(.current)
            }
        }
    }

    // MARK: Creations

    /// Settles creations that met, when the database has its first page: the one that wrote it has won, whatever key
    /// it has. The winner and the loser remove what the loser has made.
    ///
    /// - returns: false if this connection has lost.
    func settleCreations() throws -> Bool {
        guard let absent = cipher.creation.absent, let derived = cipher.derived, try !database.hasNoPage() else {
            return true
        }
        let made = cipher.creation.slotFile, hasWon = try fitsAtLast()
        (cipher.creation.slotFile, cipher.creation.absent) = (nil, nil)
        let files = SlotFiles(database: database.filePath)
        // A rotation settles the slot files itself.
        guard !files.exists(.rotation) else { return hasWon }
        guard hasWon else {
            cipher.creation.isAnnounced = false
            if let made { try files.changing { if try files.read(.current) == made { try $0.remove(.current) } } }
            if cipher.header > 0, absent.contains(.salt), try !database.fileHeader().hasPlaintextHeader {
                try SaltFile(salt: derived.salt, header: cipher.header).remove(.permanent, of: database.filePath)
            }
            return false
        }
        if absent.contains(.keys), files.exists(.current) {
            try files.changing { change in
                guard let other = try files.read(.current), try !other.isAuthentic(with: derived.key) else { return }
                try change.remove(.current)
            }
        }
        if absent.contains(.salt), cipher.header == 0 { try SaltFile.remove(.permanent, of: database.filePath) }
        return true
    }

    /// Returns true if the key fits the first page, also after a while: the page may be that of a connection with the
    /// same key, which is writing it.
    private func fitsAtLast() throws -> Bool {
        if try database.keyProof.keyFits() { return true }
        usleep(50_000)
        return try database.keyProof.keyFits()
    }
}
