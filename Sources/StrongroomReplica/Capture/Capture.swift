import CStrongroom
import CStrongroomReplica

/// Reads what is committed, without the key, into a spool.
final class Capture {
    struct Settings: Sendable {
        /// The log is moved to the database file from this size on, in bytes.
        var logThreshold: Int64 = 4 << 20
        /// The page size of a database whose header is encrypted, until its log says it.
        var pageSize: UInt32 = 4096
        /// The bytes that are compared at a time, between two looks at the log.
        var comparedAtOnce = 16 << 20
        var makesCheckpoints = true
    }

    let path: String
    let settings: Settings
    private let folder: String
    private(set) var spool: Spool?
    private var sidecars: SidecarWatch

    // The file and its log, while attached.
    var locks: DatabaseLocks?
    var log: Int32 = -1
    var cursor = replica_cursor()
    var keyless: KeylessConnection?
    /// The file whose pages the last point or the spool has.
    var stamp: FileStamp?
    /// The end of the log when it was last captured.
    var seen: replica_index?
    /// The place in the log of the last point, when the replicator begins.
    var resumed: LogPlace?
    /// The number of frames that the last look at a changed log has found.
    var growth: Int64 = 0
    /// When something was captured last, by the steady clock.
    var changedAt: Int64 = 0

    /// The next page of a comparison with the last point. Nil if the spool has all that differs.
    var compared: UInt32?
    private var comparesAll = false
    private var wantsAll = false
    /// True if states that no point has were not captured.
    private var hasGap = false
    /// False after a capture during which a sidecar changed.
    private(set) var isStable = false

    /// The leaves of the last point. Nil if there is none.
    var tree: PageTree?
    /// True while a point is on its way: nothing can be compared with the leaves.
    var isShipping = false

    init(path: String, folder: String, settings: Settings) throws {
        // SQLite's own files and sidecars are beside the real file.
        self.path =
            strongroom_real_path(path).map { pointer in
                defer { sqlite3_free(pointer) }
                return String(cString: pointer)
            } ?? path
        self.folder = folder
        self.settings = settings
        sidecars = SidecarWatch(self.path)
    }

    deinit { detach() }

    // MARK: Results

    /// True if the spool is one committed state with its sidecars.
    var isComplete: Bool { spool != nil && compared == nil && isStable }

    /// True while the next look can wait: nothing is being compared, and the log is short and grows slowly.
    var isCalm: Bool {
        guard compared == nil, let seen else { return false }
        let size = Int64(seen.page_size)
        return Int64(seen.last_frame) * size < settings.logThreshold / 2 && growth * size < settings.logThreshold / 8
    }

    /// Returns the spool, whose place a new one takes.
    func take() throws -> Spool? {
        guard isComplete, let taken = spool else { return nil }
        let next = Spool(folder: folder, pageSize: UInt32(taken.pageSize))
        next.truncate(to: taken.pageCount)
        (next.log, next.stamp, next.sidecars, next.time) = (taken.log, taken.stamp, taken.sidecars, taken.time)
        spool = next
        return taken
    }

    /// Forgets what was captured: the file will be compared with the last point.
    func discard() {
        detach()
        wantsAll = wantsAll || spool?.isWhole ?? false && tree != nil
        (spool, compared, stamp) = (nil, nil, nil)
    }

    /// Captures all pages, for a full point, from the next step on.
    func captureAll() {
        wantsAll = true
    }

    private func beginWholeCapture() {
        guard wantsAll, compared == nil, !isShipping, let spool, locks != nil else { return }
        spool.isWhole = true
        (wantsAll, comparesAll, compared) = (false, true, 1)
        // Frames that earlier points have may not be in the file yet: the log is read from its beginning.
        (seen, cursor) = (nil, replica_cursor())
    }

    // MARK: Steps

    enum Step: Equatable {
        /// There is no database, or it is empty.
        case absent
        /// Another connection is busy; nothing was captured.
        case busy
        /// Nothing new was committed.
        case unchanged
        case captured
        /// More is to be compared.
        case comparing
    }

    /// Captures what is committed.
    func step() throws -> Step {
        guard let status = Files.status(path) else { return lose() }
        let now = FileStamp(status)
        if let stamp, !stamp.isSameFile(now) {
            // Another file has the name: a restore, or a copy.
            discard()
            hasGap = true
        }
        if locks == nil, Files.status(path + Companion.log.rawValue) != nil {
            guard !isShipping, try attach() else { return .busy }
        }
        if locks == nil { return try captureFile(wantsAll ? nil : stamp, now) }
        beginWholeCapture()
        return try captureLog()
    }

    private func lose() -> Step {
        discard()
        return .absent
    }

    /// Runs `body`, and remembers the sidecars if none of them changed meanwhile.
    func besideSidecars(_ body: () throws -> Step) throws -> Step {
        let before = try sidecars.current()
        let step = try body()
        guard step == .captured || step == .unchanged || step == .comparing, let spool else { return step }
        // If nothing was read, they need not be those of something.
        let after = step == .unchanged ? before : try sidecars.current()
        isStable = before == after
        let isNew = spool.sidecars != after
        if isStable {
            spool.sidecars = after
            spool.time = currentMilliseconds()
        }
        return isNew && step == .unchanged ? .captured : step
    }

    /// Makes an empty spool for what follows the last point, if there is none.
    func continueSpool(_ tree: PageTree) throws {
        guard spool == nil else { return }
        let made = Spool(folder: folder, pageSize: tree.pageSize)
        made.truncate(to: tree.pageCount)
        spool = made
    }

    // MARK: Comparison

    /// Begins to compare the pages of the file with those of the last point, with an empty spool.
    func beginComparison(pageSize: UInt32, pageCount: UInt32, followsGap: Bool) throws {
        hasGap = hasGap || followsGap || spool?.followsGap ?? false
        let spool = Spool(folder: folder, pageSize: pageSize)
        spool.truncate(to: pageCount)
        self.spool = spool
        compared = 1
        comparesAll = wantsAll || tree == nil || tree!.pageCount == 0 || tree!.pageSize != UInt32(spool.pageSize)
        wantsAll = false
        spool.isWhole = comparesAll
        spool.followsGap = hasGap && tree != nil
        hasGap = false
    }

    /// Compares some pages of the file. Those in the spool are newer than what the file has. Returns the next page, nil
    /// at the end.
    func compareSome(_ locks: DatabaseLocks, _ spool: Spool, limit: Int?) throws -> UInt32? {
        guard var page = compared else { return nil }
        let lockPage = UInt32(0x4000_0000 / spool.pageSize + 1)
        var bytes = [UInt8](repeating: 0, count: spool.pageSize), rest = limit ?? .max
        let hasher = Hasher()
        while page <= spool.pageCount, rest > 0 {
            if page != lockPage, !spool.contains(page) {
                try bytes.withUnsafeMutableBytes { buffer in
                    try locks.read(page, into: buffer)
                    let leaf = PageTree.leaf(page, UnsafeRawBufferPointer(buffer), hasher)
                    let isKnown = comparesAll ? leaf == .zero : leaf == (try knownLeaf(page))
                    if !isKnown { try spool.write(page, UnsafeRawBufferPointer(buffer)) }
                }
                rest -= spool.pageSize
            }
            page += 1
        }
        return page <= spool.pageCount ? page : nil
    }

    private func knownLeaf(_ page: UInt32) throws -> Digest {
        guard let tree, page <= tree.pageCount else { return .zero }
        return try tree.leaf(page)
    }
}
