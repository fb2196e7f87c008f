import CStrongroomReplica

/// A database with a write-ahead log.
extension Capture {
    /// Takes the locks that keep the log as it is. Returns false while another connection is busy.
    func attach() throws -> Bool {
        guard let before = Files.status(path), let found = try DatabaseLocks(path: path), try found.share() else {
            return false
        }
        // Meanwhile, the last connection may have removed the log.
        guard Files.status(path + Companion.log.rawValue) != nil else { return false }
        try found.mapIndex()
        if found.index() == nil { _ = try KeylessConnection(path: path, pageSize: 0) }
        guard let index = found.index(), try found.markLog(index) else { return false }
        // From now on, the log does not begin anew. A checkpoint before this would have changed the file's time.
        guard let status = Files.status(path), FileStamp(status).isSameFile(FileStamp(before)) else { return false }
        let descriptor = try Files.open(path + Companion.log.rawValue, O_RDONLY | O_NOFOLLOW)
        (locks, log, seen) = (found, descriptor, nil)
        do {
            try place(FileStamp(status), index)
        } catch is LogLost {
            detach()
            return false
        }
        return true
    }

    func detach() {
        keyless = nil
        locks = nil
        if log >= 0 { close(log) }
        log = -1
        seen = nil
    }

    /// Finds the place in the log that follows the last point, or compares the file from its beginning.
    private func place(_ now: FileStamp, _ index: replica_index) throws {
        defer { (stamp, resumed) = (now, nil) }
        if let tree, let last = resumed, spool == nil, continues(last, index) {
            try continueSpool(tree)
            return
        }
        let size = index.last_frame > 0 ? index.page_size : try pageSize(locks!, locks!.size())
        if stamp == now, let tree { try continueSpool(tree) }
        let isKnown = stamp == now && spool?.pageSize == Int(size)
        try rewindLog(index)
        guard !isKnown else { return }
        let count = index.last_frame > 0 ? index.page_count : UInt32(try locks!.size() / Int64(size))
        try beginComparison(pageSize: size, pageCount: count, followsGap: true)
    }

    /// Goes to a place in the log. Returns false if the log no longer has it.
    private func continues(_ place: LogPlace, _ index: replica_index) -> Bool {
        var last = place.cursor
        guard replica_log_contains(log, &last), last.frame <= index.last_frame else { return false }
        cursor = last
        return true
    }

    private func rewindLog(_ index: replica_index) throws {
        let result = replica_log_begin(log, &cursor)
        if result != 0 { cursor = replica_cursor() }
        guard result <= 0 else { throw Files.failure(path + Companion.log.rawValue, "the log can't be read", result) }
        guard result == 0 || index.last_frame == 0 else { throw lost("its header is invalid") }
    }

    /// The log is not what its index says. What was captured can't be continued.
    private func lost(_ problem: String) -> LogLost { LogLost(problem: problem) }

    struct LogLost: Error {
        let problem: String
    }

    // MARK: Frames

    func captureLog() throws -> Step {
        do {
            return try besideSidecars { try readLog() }
        } catch is LogLost {
            discard()
            return .busy
        }
    }

    private func readLog() throws -> Step {
        guard let locks, let spool else { return .busy }
        guard var index = locks.index() else { return .busy }
        let now = steadyMilliseconds()
        var step = Step.unchanged
        if isNew(index) {
            guard try locks.markLog(index) else { return .busy }
            guard let marked = locks.index() else { return .busy }
            index = marked
            try readFrames(index, spool)
            step = .captured
            changedAt = now
        }
        if compared != nil, !isShipping {
            let rest = try compareSome(locks, spool, limit: settings.comparedAtOnce)
            // Pages of the file can be newer than the last frame that was read: their frames are in the log.
            guard let after = locks.index() else { return .busy }
            if isNew(after) { try readFrames(after, spool) }
            (index, compared) = (after, rest)
            step = rest == nil ? .captured : .comparing
        }
        return try giveWay(index, locks, spool, isIdle: now - changedAt > 1000) ? .captured : step
    }

    private func isNew(_ index: replica_index) -> Bool { seen.map { !isSame($0, index) } ?? true }

    private func isSame(_ one: replica_index, _ other: replica_index) -> Bool {
        one.last_frame == other.last_frame && one.checksum == other.checksum
            && withUnsafeBytes(of: one.salts) { first in
                withUnsafeBytes(of: other.salts) { first.elementsEqual($0) }
            }
    }

    private func readFrames(_ index: replica_index, _ spool: Spool) throws {
        if !isCursorIn(index) { cursor = replica_cursor() }
        growth = Int64(index.last_frame) - Int64(cursor.frame)
        if index.last_frame > 0 {
            if cursor.page_size == 0 { try rewindLog(index) }
            guard isCursorIn(index), cursor.page_size == UInt32(spool.pageSize) else { throw lost("it is another") }
            try readFrames(upTo: index, spool)
            if spool.pageCount != index.page_count { spool.truncate(to: index.page_count) }
        }
        spool.log = cursor.page_size == 0 ? nil : LogPlace(cursor)
        spool.stamp = nil
        seen = index
    }

    private func readFrames(upTo index: replica_index, _ spool: Spool) throws {
        guard cursor.frame <= index.last_frame else { throw lost("it is shorter") }
        var bytes = [UInt8](repeating: 0, count: spool.pageSize)
        while cursor.frame < index.last_frame {
            var page: UInt32 = 0, size: UInt32 = 0
            let result = bytes.withUnsafeMutableBufferPointer {
                replica_log_next(log, &cursor, $0.baseAddress, &page, &size)
            }
            guard result <= 0 else {
                throw Files.failure(path + Companion.log.rawValue, "the log can't be read", result)
            }
            guard result == 0 else { throw lost("it ends early") }
            try bytes.withUnsafeBytes { try spool.write(page, $0) }
            if size != 0, size < spool.pageCount {
                spool.truncate(to: size)
            } else if size != 0 {
                spool.pageCount = size
            }
        }
        guard cursor.checksum == index.checksum else { throw lost("its checksum is another") }
    }

    private func isCursorIn(_ index: replica_index) -> Bool {
        withUnsafeBytes(of: cursor.salts) { own in
            withUnsafeBytes(of: index.salts) { own.elementsEqual($0) }
        }
    }

    // MARK: Checkpoints

    /// Lets the log begin anew when all its frames are captured and moved. A long log is moved first, and a short one
    /// when nothing is written. Returns true if further frames were captured.
    private func giveWay(_ index: replica_index, _ locks: DatabaseLocks, _ spool: Spool, isIdle: Bool) throws -> Bool {
        guard locks.mark > 0, index.last_frame > 0 else {
            try cut(index, locks)
            return false
        }
        var now = index, hasRead = false
        // Meanwhile, the writer goes on. Each round has less to move.
        for _ in 0..<Self.rounds {
            if now.backfilled == now.last_frame, locks.markMoved(now) { break }
            guard settings.makesCheckpoints, isIdle || isLong(now) else { break }
            // The read mark keeps the log from beginning anew during the checkpoint.
            if keyless == nil { keyless = try KeylessConnection(path: path, pageSize: now.page_size) }
            try keyless?.checkpoint()
            guard let after = locks.index() else { break }
            if isNew(after) {
                try readFrames(after, spool)
                hasRead = true
            }
            now = after
        }
        try cut(now, locks)
        return hasRead
    }

    /// Cuts a log that a large transaction has left, when it has begun anew and its first frames are moved.
    private func cut(_ index: replica_index, _ locks: DatabaseLocks) throws {
        guard locks.mark == 0, index.last_frame > 0, let status = Files.status(descriptor: log) else { return }
        let end = 32 + Int64(index.last_frame) * Int64(24 + index.page_size)
        let size = max(end, settings.logThreshold)
        guard settings.makesCheckpoints, Int64(status.st_size) > size else { return }
        let descriptor = try Files.open(path + Companion.log.rawValue, O_WRONLY | O_NOFOLLOW)
        defer { close(descriptor) }
        try locks.cutLog(index, descriptor, to: size)
    }

    private static var rounds: Int { 8 }

    private func isLong(_ index: replica_index) -> Bool {
        Int64(index.last_frame) * Int64(index.page_size) >= settings.logThreshold
    }
}
