import CStrongroomReplica

/// A database without a log: one with a rollback journal, or one that no connection has open.
extension Capture {
    func captureFile(_ known: FileStamp?, _ now: FileStamp) throws -> Step {
        if now.size == 0 { return .absent }
        if now == known, let tree { try continueSpool(tree) }
        if now == known, spool != nil { return try besideSidecars { .unchanged } }
        guard !isShipping else { return .busy }
        return try besideSidecars { try readFile() }
    }

    private func readFile() throws -> Step {
        let began = currentMilliseconds()
        guard let locks = try DatabaseLocks(path: path) else { return .absent }
        guard try locks.share() else { return .busy }
        // From now on, no connection changes the file, unless a log appears.
        guard let status = Files.status(path) else { return .absent }
        guard Files.status(path + Companion.log.rawValue) == nil else { return .busy }
        if try isJournalHot(locks) {
            locks.unshare()
            _ = try KeylessConnection(path: path, pageSize: 0)
            return .busy
        }
        let size = try locks.size()
        let pageSize = try pageSize(locks, size), count = UInt32(size / Int64(pageSize))
        try beginComparison(pageSize: pageSize, pageCount: count, followsGap: true)
        compared = try compareSome(locks, spool!, limit: nil)
        let new = FileStamp(status)
        stamp = new.isSettled(at: began) ? new : nil
        spool?.stamp = stamp
        return .captured
    }

    /// True if the journal of a killed writer must be rolled back first.
    private func isJournalHot(_ locks: DatabaseLocks) throws -> Bool {
        guard let first = try Files.read(path + Companion.journal.rawValue, limit: 1)?.first, first != 0 else {
            return false
        }
        return !locks.isReserved
    }

    /// Returns the page size: what the header says if it is not encrypted, otherwise that of the last point, or the
    /// one in the settings.
    func pageSize(_ locks: DatabaseLocks, _ size: Int64) throws -> UInt32 {
        var header = [UInt8](repeating: 0, count: 512)
        try header.withUnsafeMutableBytes { try locks.read(1, into: $0) }
        if header.starts(with: Array("SQLite format 3\0".utf8)) {
            let found = UInt32(header[16]) << 8 | UInt32(header[17])
            return found == 1 ? 65536 : max(found, 512)
        }
        let known = (spool.map { UInt32($0.pageSize) } ?? tree?.pageSize).map { [$0] } ?? []
        let candidates = known + [settings.pageSize, 4096, 1024, 512]
        return candidates.first { size % Int64($0) == 0 } ?? settings.pageSize
    }
}
