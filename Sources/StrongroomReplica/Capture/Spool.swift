/// The pages that differ from the last point, the newest version of each: the first ones in memory, the others in a
/// temporary file without a name. It is never larger than the database.
final class Spool {
    /// The bytes in memory: those of many small commits, for which a file would take longer than everything else.
    private static let memoryLimit = 1 << 20

    private var memory: UnsafeMutableRawBufferPointer?
    private let slotsInMemory: UInt32
    private var descriptor: Int32 = -1
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

    init(folder: String, pageSize: UInt32) {
        path = folder + "/spool-\(pageSize)"
        self.pageSize = Int(pageSize)
        slotsInMemory = UInt32(Self.memoryLimit) / pageSize
    }

    deinit {
        memory?.deallocate()
        if descriptor >= 0 { close(descriptor) }
    }

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
        if slot < slotsInMemory {
            // The system gives it pages when they are written.
            let room = memory ?? .allocate(byteCount: Self.memoryLimit, alignment: 16)
            memory = room
            UnsafeMutableRawBufferPointer(rebasing: room[range(slot)]).copyMemory(from: bytes)
        } else {
            if descriptor < 0 {
                descriptor = try Files.open(path, O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW)
                unlink(path)
            }
            try Files.write(descriptor, bytes, at: offset(slot), path)
        }
        slots[page] = slot
    }

    private func range(_ slot: UInt32) -> Range<Int> { Int(slot) * pageSize..<(Int(slot) + 1) * pageSize }
    private func offset(_ slot: UInt32) -> Int64 { Int64(slot - slotsInMemory) * Int64(pageSize) }

    private func newSlot() -> UInt32 {
        defer { next += 1 }
        return next
    }

    func read(_ page: UInt32, into bytes: UnsafeMutableRawBufferPointer) throws {
        let slot = slots[page]!
        if slot < slotsInMemory, let memory {
            return bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: memory[range(slot)]))
        }
        let count = try Files.read(descriptor, bytes, at: offset(slot), path)
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
