import CStrongroom

// A rotation brings in a new salt. Until the database carries it, it stands beside the file, and opening tries it.

extension Database {
    /// After a rotation that was killed, or whose pages are still in the write-ahead log, the salt in the file is not the one that counts.
    func followRotation() throws {
        guard let derived = cipher.derived, let next = try SaltFile.read(.rotation, of: filePath), next.salt != derived.salt else { return }
        guard try !canRead() else { return }
        try attach(derivedKey(salt: next.salt, settings: derived.settings), header: cipher.header)
    }

    /// True when another connection of this access already derived the key for the salt that a rotation is bringing in, and it fits:
    /// deriving it for the salt in the file would be in vain.
    func resumeRotatedKey(_ settings: CipherSettings, _ location: SaltLocation) throws -> Bool {
        guard let next = try SaltFile.read(.rotation, of: filePath), next.salt != location.salt,
              let derived = cipher.keyring.knownKey(for: cipher.key!, salt: next.salt, settings: settings)
        else { return false }
        try attach(derived, header: location.header)
        return try canRead()
    }

    func canRead() throws -> Bool {
        let code = strongroom_connection_first_read(connection)
        switch ResultCode(rawValue: code).primaryResultCode {
        case .SQLITE_OK: return true
        case .SQLITE_NOTADB, .SQLITE_ERROR, .SQLITE_CORRUPT: return false
        default: throw DatabaseError(code, on: sqliteConnection)
        }
    }

    /// Brings the salt of a committed rotation home, or removes the one of a rotation that never was; leaves both alone while
    /// another connection writes or old snapshots are in use. Whoever opens with a working key does this.
    func finishRotation() throws {
        guard let derived = cipher.derived, let next = try SaltFile.read(.rotation, of: filePath) else { return }
        let rollback = try rollbackStatement
        if next.salt == derived.salt {
            guard try isCheckpointed() else { return }
        } else {
            // Before the salt goes, nothing may be left that needs it.
            let format = try PageFormat(derived, header: cipher.header)
            guard try withoutObservers({ format.withFormat { strongroom_rekey_forget(sqliteConnection, $0, rollback) } }) == 0 else { return }
        }
        // Under the write lock nobody else rotates.
        guard strongroom_rekey_begin(try openConnection) == 0 else { return }
        defer { _ = strongroom_rekey_cancel(sqliteConnection, rollback) }
        guard try SaltFile.read(.rotation, of: filePath) == next else { return }
        if next.salt == derived.salt {
            if cipher.header > 0, !cipher.isSaltProvided { try SaltFile(salt: derived.salt, header: cipher.header).write(.permanent, of: filePath) }
            if cipher.header == 0, try fileHeader().salt != derived.salt { return }
        }
        try SaltFile.remove(.rotation, of: filePath)
    }

    var rollbackStatement: SQLiteStatement {
        get throws { try transactionStatements.statement(for: .rollback, of: self).sqliteStatement }
    }

    /// Runs transactions that aren't the application's, and that nobody may veto.
    func withoutObservers<T>(_ body: () throws -> T) throws -> T {
        let connection = try openConnection
        guard transactions.isInstalled else { return try body() }
        transactions.uninstall(from: connection)
        defer { transactions.install(on: connection) }
        return try body()
    }

    var isWAL: Bool {
        get throws { try answer(to: "PRAGMA main.journal_mode") == "wal" }
    }

    var pageCount: Int {
        get throws { try answer(to: "PRAGMA main.page_count").flatMap { Int($0) } ?? 0 }
    }

    /// Moves all pages of the write-ahead log into the file, if no reader is in the way.
    func isCheckpointed() throws -> Bool {
        guard try isWAL else { return true }
        var logged: CInt = 0, moved: CInt = 0
        guard strongroom_checkpoint(sqliteConnection, &logged, &moved) == 0 else { return false }
        return logged == moved
    }
}
