import Dispatch

/// A write-ahead log in which frames may be damaged. Its time is counted in frames: the time of a page is the number of
/// the frame that committed it, and zero is the time before the log.
///
/// SQLite stops at the first frame whose checksum does not continue that of the frame before. Here, the checksum of
/// each frame is compared with the one that is stored in the frame before. A damaged frame ends nothing.
/// <https://www.sqlite.org/walformat.html>
struct DamagedLog {
    struct Frame {
        var page: UInt32
        var size: UInt32
        /// The salts of the frame are those of the log.
        var isOfLog = false
        /// The checksum of the frame continues the one before it.
        var isChained = false
        var isAuthentic = false
    }

    static let headerSize = 32, frameHeaderSize = 24

    private(set) var knownFrames: [Frame] = []
    /// The frames of each page that were committed, in order, one for each commit.
    private(set) var committedFrames: [Int: [Int]] = [:]
    /// The time at which the frame with each number was committed, counted from 1.
    private var times: [Int] = []
    /// The times of commits with a frame that doesn't tell its page.
    private(set) var cuts: [Int] = []
    /// The size of the database in pages after the last commit.
    private(set) var pageCount: Int?

    /// Creates the log of a database without one.
    init() {}

    init(_ file: UnlockedFile, _ format: PageFormat?, pageSize: Int) {
        var reader = DamagedLogReader(file, format, pageSize: pageSize)
        knownFrames = reader.readFrames()
        collect()
    }

    /// True if frames are as SQLite wrote them, and none was written with the key: the log is that of another database.
    var isForeign: Bool {
        knownFrames.contains(where: \.isChained) && !knownFrames.contains(where: \.isAuthentic)
    }

    func time(of frame: Int) -> Int { times[frame - 1] }

    /// Returns the offset of a frame's page.
    static func offset(of frame: Int, pageSize: Int) -> Int64 {
        Int64(headerSize) + Int64(frame - 1) * Int64(frameHeaderSize + pageSize) + Int64(frameHeaderSize)
    }

    // MARK: - Commits

    private mutating func collect() {
        times = [Int](repeating: 0, count: knownFrames.count)
        var time = 0
        for index in knownFrames.indices.reversed() {
            if commits(index) {
                time = index + 1
                if pageCount == nil { pageCount = Int(knownFrames[index].size) }
            }
            times[index] = time
        }
        for (index, frame) in knownFrames.enumerated() where times[index] > 0 {
            guard frame.isAuthentic || frame.isOfLog, frame.page > 0 else {
                if cuts.last != times[index] { cuts.append(times[index]) }
                continue
            }
            var versions = committedFrames[Int(frame.page)] ?? []
            // The last of several frames in one commit.
            if let last = versions.last, times[last - 1] == times[index] { versions.removeLast() }
            committedFrames[Int(frame.page)] = versions + [index + 1]
        }
    }

    /// Returns true if a frame ends a transaction. The flag has no HMAC: it counts where the checksum proves it, or
    /// where the damage is elsewhere.
    private func commits(_ index: Int) -> Bool {
        let frame = knownFrames[index]
        guard frame.size > 0, frame.isOfLog else { return false }
        return frame.isChained || !frame.isAuthentic || index > 0 && !knownFrames[index - 1].isChained
    }
}

/// The frames of a log, read in shares and authenticated on all processors.
private struct DamagedLogReader {
    private let file: UnlockedFile
    private let format: PageFormat?
    private let pageSize: Int
    private var header = [UInt8](repeating: 0, count: DamagedLog.headerSize)
    private var salts: [UInt8] = []
    private var isBigEndian = false

    private var step: Int { DamagedLog.frameHeaderSize + pageSize }

    init(_ file: UnlockedFile, _ format: PageFormat?, pageSize: Int) {
        (self.file, self.format, self.pageSize) = (file, format, pageSize)
    }

    /// Returns the frames of the newest generation of the log.
    mutating func readFrames() -> [DamagedLog.Frame] {
        guard file.size >= Int64(DamagedLog.headerSize + step), readHeader() else { return [] }
        let total = Int((file.size - Int64(DamagedLog.headerSize)) / Int64(step)), capacity = max(1, (1 << 20) / step)
        var frames: [DamagedLog.Frame] = [], before = Array(header[24..<32])
        for first in stride(from: 0, to: total, by: capacity) {
            var bytes = [UInt8](repeating: 0, count: min(capacity, total - first) * step)
            let offset = Int64(DamagedLog.headerSize) + Int64(first) * Int64(step)
            if !bytes.withUnsafeMutableBytes({ file.read(at: offset, into: $0) }) { break }
            frames += parse(bytes, before)
            before = Array(bytes[(bytes.count - step + 16)..<(bytes.count - step + 24)])
        }
        // Frames of the generation before follow the last one of this.
        let end = frames.lastIndex { $0.isOfLog }.map { $0 + 1 } ?? 0
        return Array(frames[..<end])
    }

    private func parse(_ bytes: [UInt8], _ before: [UInt8]) -> [DamagedLog.Frame] {
        let count = bytes.count / step
        return [DamagedLog.Frame](unsafeUninitializedCapacity: count) { frames, filled in
            nonisolated(unsafe) let frames = frames
            // Nothing in it changes.
            nonisolated(unsafe) let reader = self
            DispatchQueue.concurrentPerform(iterations: count) { index in
                let seed =
                    index == 0 ? before : Array(bytes[(index - 1) * reader.step + 16..<(index - 1) * reader.step + 24])
                (frames.baseAddress! + index).initialize(to: reader.frame(bytes, index * reader.step, seed))
            }
            filled = count
        }
    }

    private func frame(_ bytes: [UInt8], _ at: Int, _ seed: [UInt8]) -> DamagedLog.Frame {
        let page = bytes.number32(at: at)!, size = bytes.number32(at: at + 4)!
        var frame = DamagedLog.Frame(page: UInt32(page), size: UInt32(size))
        frame.isOfLog = bytes[at + 8..<at + 16].elementsEqual(salts)
        frame.isChained = frame.isOfLog && sum(bytes, at, seed, isBigEndian) == Array(bytes[at + 16..<at + 24])
        guard page > 0, let format, format.authenticates else {
            frame.isAuthentic = frame.isChained && page > 0
            return frame
        }
        bytes.withUnsafeBytes { raw in
            let content = UnsafeRawBufferPointer(rebasing: raw[at + DamagedLog.frameHeaderSize..<at + step])
            frame.isAuthentic = !content.isZero && format.isAuthentic(content, number: page)
        }
        return frame
    }

    // MARK: - The header

    /// Finds the salts and the byte order, in the header or in the first frames if it is damaged.
    private mutating func readHeader() -> Bool {
        var first = [UInt8](repeating: 0, count: min(2, Int(file.size - 32) / step) * step)
        guard header.withUnsafeMutableBytes({ file.read(at: 0, into: $0) }),
            first.withUnsafeMutableBytes({ file.read(at: Int64(DamagedLog.headerSize), into: $0) })
        else { return false }
        let magic = header.number32(at: 0)!
        isBigEndian = magic & 1 == 1
        salts = Array(header[16..<24])
        if magic & ~1 == 0x377f_0682, sum(of: header[0..<24], from: [0, 0], isBigEndian) == Array(header[24..<32]) {
            return true
        }
        // The header is damaged: the frames have its salts, and their checksums show the byte order.
        salts = Array(first[8..<16])
        if first.count == 2 * step {
            let second = step, seed = Array(first[16..<24]), stored = Array(first[second + 16..<second + 24])
            if let order = [false, true].first(where: { sum(first, second, seed, $0) == stored }) {
                isBigEndian = order
                salts = Array(first[second + 8..<second + 16])
            }
        }
        return true
    }

    // MARK: - Checksums

    private func sum(_ bytes: [UInt8], _ at: Int, _ seed: [UInt8], _ isBigEndian: Bool) -> [UInt8] {
        let seed = [UInt32(seed.number32(at: 0)!), UInt32(seed.number32(at: 4)!)]
        let head = sums(bytes[at..<at + 8], seed, isBigEndian)
        return sum(of: bytes[at + DamagedLog.frameHeaderSize..<at + step], from: head, isBigEndian)
    }

    private func sum(of bytes: ArraySlice<UInt8>, from seed: [UInt32], _ isBigEndian: Bool) -> [UInt8] {
        sums(bytes, seed, isBigEndian).flatMap { value in
            (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
        }
    }

    private func sums(_ bytes: ArraySlice<UInt8>, _ seed: [UInt32], _ isBigEndian: Bool) -> [UInt32] {
        var (one, two) = (seed[0], seed[1])
        bytes.withUnsafeBytes { raw in
            for at in stride(from: 0, to: raw.count - 7, by: 8) {
                let x = raw.loadUnaligned(fromByteOffset: at, as: UInt32.self)
                let y = raw.loadUnaligned(fromByteOffset: at + 4, as: UInt32.self)
                one = one &+ (isBigEndian ? x.bigEndian : x.littleEndian) &+ two
                two = two &+ (isBigEndian ? y.bigEndian : y.littleEndian) &+ one
            }
        }
        return [one, two]
    }
}
