/// The pages that differ from the last point, the newest version of each, in a temporary file without a name. It is
/// never larger than the database.
final class Spool {
    private let descriptor: Int32
    private let path: String
    private var slots: [UInt32: UInt32] = [:]
    private var free: [UInt32] = []
    private var next: UInt32 = 0

    let pageSize: Int
    /// The size of the database.
    var pageCount: UInt32 = 0
    /// The sidecars that were valid for the pages.
    var sidecars = Sidecars()
    var log: LogPlace?
    var stamp: FileStamp?
    /// True if states since the last point were not captured.
    var followsGap = false
    /// True if all pages are in the spool, whether they differ or not.
    var isWhole = false
    /// Milliseconds since 1970, when the newest state was captured.
    var time: Int64 = 0

    init(folder: String, pageSize: UInt32) throws {
        path = folder + "/spool-\(pageSize)"
        self.pageSize = Int(pageSize)
        descriptor = try Files.open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW)
        unlink(path)
    }

    deinit { close(descriptor) }

    var count: Int { slots.count }

    /// True if all pages are in the spool, but for the one that SQLite never uses.
    var hasAllPages: Bool {
        let lockPage = UInt32(0x4000_0000 / pageSize + 1)
        return !slots.isEmpty && slots.count >= Int(pageCount) - (pageCount >= lockPage ? 1 : 0)
    }
    var isEmpty: Bool { slots.isEmpty }
    var pages: [UInt32] { slots.keys.sorted() }

    func contains(_ page: UInt32) -> Bool { slots[page] != nil }

    func write(_ page: UInt32, _ bytes: UnsafeRawBufferPointer) throws {
        let slot = slots[page] ?? free.popLast() ?? newSlot()
        try Files.write(descriptor, bytes, at: Int64(slot) * Int64(pageSize), path)
        slots[page] = slot
    }

    private func newSlot() -> UInt32 {
        defer { next += 1 }
        return next
    }

    func read(_ page: UInt32, into bytes: UnsafeMutableRawBufferPointer) throws {
        let offset = Int64(slots[page]!) * Int64(pageSize)
        let count = try Files.read(descriptor, bytes, at: offset, path)
        guard count == bytes.count else { throw Files.failure(path, "the spool ends early", EIO) }
    }

    /// Removes the pages past the end of the database.
    func truncate(to count: UInt32) {
        pageCount = count
        for (page, slot) in slots where page > count {
            slots[page] = nil
            free.append(slot)
        }
    }
}
