import Logging

// The end of a change: what is beside the database moves into it, or is removed.

extension Recovery {
    /// Removes the files of a creation or a rotation when the database doesn't need them any more. Files that this user
    /// can't remove are left to a later opening: the database opens with them.
    func removeLeftOvers() throws {
        guard cipher.derived != nil, !database.configuration.readonly, database.isFileStored,
            try database.fileSize() > 0
        else { return }
        do {
            _ = try settleCreations()
            try SaltFile.remove(.creation, of: database.filePath)
            cipher.creation.isAnnounced = false
            try SaltFile.removeUnfinished(.rotation, of: database.filePath)
            SlotFiles(database: database.filePath).removeLeftOvers()
            try announceForSlotFile()
            try finishRotation()
        } catch let error as DatabaseError
            where error.isOfSidecar || [.SQLITE_FULL, .SQLITE_IOERR].contains(error.resultCode)
        {
            Logger(label: "Strongroom").warning("the files beside \(database.path) are left as they are: \(error)")
        }
    }

    /// Moves the salt and the header of a committed change into the database, or removes those of a change that was not
    /// committed. Does nothing while another connection writes, or reads the former pages. Each opening with a working
    /// key calls it.
    ///
    /// - parameter waits: true to wait for readers and writers as long as the busy mode allows.
    /// - returns: true if nothing is left of the former key.
    @discardableResult
    func finishRotation(waits: Bool = false) throws -> Bool {
        guard let derived = cipher.derived, let next = try SaltFile.read(.rotation, of: database.filePath)
        else { return true }
        let present = SaltFile(salt: derived.salt, header: cipher.header), hasCommitted = next == present
        guard try hasCommitted ? emptyLog(waits: waits) : forgetFailure(derived, waits: waits) else { return false }
        // Under the write lock no other connection rotates.
        let rollback = try database.rollbackStatement
        guard try isDone(RawConnection(database.openConnection).beginRekey(), waits: waits) else { return false }
        defer { _ = database.raw.cancelRekey(rollback) }
        guard try SaltFile.read(.rotation, of: database.filePath) == next else { return false }
        if hasCommitted {
            if cipher.header == 0, try database.fileHeader().salt != derived.salt { return false }
            let isBeside = try cipher.saltOrigin != .caller || SaltFile.read(.permanent, of: database.filePath) != nil
            if cipher.header > 0, isBeside { try present.write(.permanent, of: database.filePath) }
        }
        try settleSlotFiles(hasCommitted: hasCommitted, salt: present.salt)
        try SaltFile.remove(.rotation, of: database.filePath)
        return true
    }

    /// Returns false when another connection holds a lock. Throws other failures, except at opening, which does not
    /// wait.
    private func isDone(_ code: CInt, waits: Bool) throws -> Bool {
        if waits, !ResultCode(rawValue: code).isLock { try database.check(code) }
        return code == ResultCode.SQLITE_OK.rawValue
    }

    /// Makes sure that nothing needs the salt of a failed change before it is removed.
    private func forgetFailure(_ derived: DerivedKey, waits: Bool) throws -> Bool {
        let format = try PageFormat(derived, header: cipher.header), rollback = try database.rollbackStatement
        return try isDone(
            database.withoutObservers {
                format.withFormat { database.raw.forgetRekey($0, rollback) }
            },
            waits: waits)
    }

    /// Moves all pages of the write-ahead log into the file and empties it, unless another connection uses it. Then
    /// none of the replaced pages is left.
    private func emptyLog(waits: Bool) throws -> Bool {
        guard try database.log.isUsed else { return true }
        guard waits else {
            return try database.withoutWaiting { (try? database.log.checkpoint(.truncate)) != nil }
        }
        do {
            _ = try database.log.checkpoint(.truncate)
            return true
        } catch let error as DatabaseError where error.resultCode.isLock {
            return false
        }
    }
}

extension ResultCode {
    /// True if a lock of another connection, of this process or another one, caused the error.
    fileprivate var isLock: Bool { [.SQLITE_BUSY, .SQLITE_LOCKED].contains(primaryResultCode) }
}

extension DatabaseError {
    /// True if a sidecar is the cause, and not a page.
    fileprivate var isOfSidecar: Bool { [.unfitSaltFile, .unfitSlotFile, .damagedSlotFile].contains(reason) }
}
