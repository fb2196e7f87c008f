/// A hash tree over the pages of a database, whose root identifies a state.
///
/// A leaf is the digest of a page with its number, and zero for a page of zeros. A branch is the digest of up to 256
/// leaves. The root is the digest of the page size, the number of pages and all branches. Leaves are in a file,
/// branches in memory: 32 bytes for each MiB of a database with pages of 4096 bytes.
final class PageTree {
    static let fanOut = 256

    struct Change {
        var page: UInt32
        var leaf: Digest
    }

    let path: String
    private let descriptor: Int32
    private(set) var pageSize: UInt32
    private(set) var pageCount: UInt32
    private var branches: [Digest] = []
    private let hasher = Hasher()

    /// Opens the file of leaves, or makes one.
    init(path: String, pageSize: UInt32, pageCount: UInt32) throws {
        self.path = path
        self.pageSize = pageSize
        self.pageCount = pageCount
        descriptor = try Files.open(path, O_RDWR | O_CREAT | O_NOFOLLOW)
        for branch in 0..<Self.branchCount(pageCount) {
            branches.append(Self.branch(try leaves(branch), count: leafCount(branch, pageCount), hasher))
        }
    }

    deinit { close(descriptor) }

    // MARK: Digests

    static func leaf(_ page: UInt32, _ bytes: UnsafeRawBufferPointer, _ hasher: Hasher) -> Digest {
        guard !isZero(bytes) else { return .zero }
        let prefix: [UInt8] = [0] + withUnsafeBytes(of: page.bigEndian) { Array($0) }
        return prefix.withUnsafeBytes { hasher.digest([$0, bytes]) }
    }

    private static func isZero(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let start = bytes.baseAddress, bytes[0] == 0 else { return false }
        return memcmp(start, start + 1, bytes.count - 1) == 0
    }

    static func branch(_ leaves: [UInt8], count: Int, _ hasher: Hasher) -> Digest {
        leaves.withUnsafeBytes { bytes in
            [UInt8(1)].withUnsafeBytes {
                hasher.digest([$0, UnsafeRawBufferPointer(rebasing: bytes[..<(count * 32)])])
            }
        }
    }

    static func root(_ branches: [Digest], pageSize: UInt32, pageCount: UInt32) -> Digest {
        var writer = ByteWriter()
        writer.add(UInt8(2))
        writer.add(pageSize)
        writer.add(pageCount)
        for branch in branches { writer.add(branch.bytes) }
        return Digest(of: writer.bytes)
    }

    var root: Digest { Self.root(branches, pageSize: pageSize, pageCount: pageCount) }

    // MARK: Leaves

    private static func branchCount(_ pages: UInt32) -> Int { (Int(pages) + fanOut - 1) / fanOut }

    private func leafCount(_ branch: Int, _ pages: UInt32) -> Int {
        min(Self.fanOut, Int(pages) - branch * Self.fanOut)
    }

    /// Returns the leaves of a branch; zeros where there are none.
    private func leaves(_ branch: Int) throws -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: Self.fanOut * Digest.size)
        let offset = Int64(branch * bytes.count)
        _ = try bytes.withUnsafeMutableBytes { try Files.read(descriptor, $0, at: offset, path) }
        let count = max(0, leafCount(branch, pageCount)) * Digest.size
        for index in count..<max(count, bytes.count) { bytes[index] = 0 }
        return bytes
    }

    /// Returns the leaf of a page. Zero past the end.
    func leaf(_ page: UInt32) throws -> Digest {
        if cachedBranch != Int(page - 1) / Self.fanOut {
            cachedBranch = Int(page - 1) / Self.fanOut
            cachedLeaves = try leaves(cachedBranch)
        }
        let offset = Int(page - 1) % Self.fanOut * Digest.size
        return Digest(Array(cachedLeaves[offset..<offset + Digest.size]))!
    }

    private var cachedBranch = -1
    private var cachedLeaves: [UInt8] = []

    // MARK: Changes

    /// The effect of changes: new leaves by branch, and the root.
    struct Update {
        var root: Digest
        fileprivate var pageSize: UInt32
        fileprivate var pageCount: UInt32
        fileprivate var branches: [Digest]
        fileprivate var changes: [Change]
    }

    /// Returns the effect of changes, in ascending order of pages, without making them. `isWhole` replaces all pages.
    func update(_ changes: [Change], pageSize: UInt32, pageCount: UInt32, isWhole: Bool) throws -> Update {
        var new = isWhole ? [] : branches
        let count = Self.branchCount(pageCount)
        var touched = Set(changes.map { Int($0.page - 1) / Self.fanOut })
        // The branches at both ends change with the number of pages.
        let ends = isWhole ? 0..<count : (Int(min(pageCount, self.pageCount)) / Self.fanOut)..<count
        if pageCount != self.pageCount || isWhole { touched.formUnion(ends) }
        if new.count > count { new.removeLast(new.count - count) }
        while new.count < count { new.append(.zero) }
        var next = changes.startIndex
        for branch in touched.sorted() where branch < count {
            var bytes = isWhole ? [UInt8](repeating: 0, count: Self.fanOut * Digest.size) : try leaves(branch)
            while next < changes.endIndex, Int(changes[next].page - 1) / Self.fanOut == branch {
                let offset = Int(changes[next].page - 1) % Self.fanOut * Digest.size
                bytes.replaceSubrange(offset..<offset + Digest.size, with: changes[next].leaf.bytes)
                next += 1
            }
            new[branch] = Self.branch(bytes, count: leafCount(branch, pageCount), hasher)
        }
        let root = Self.root(new, pageSize: pageSize, pageCount: pageCount)
        return Update(root: root, pageSize: pageSize, pageCount: pageCount, branches: new, changes: changes)
    }

    /// Makes changes. A process that is killed meanwhile can make them again.
    func apply(_ update: Update, isWhole: Bool) throws {
        let kept = isWhole ? 0 : min(pageCount, update.pageCount)
        // What is past the end, now or before, reads as zeros.
        for size in [Int64(kept), Int64(update.pageCount)] {
            guard ftruncate(descriptor, off_t(size * Int64(Digest.size))) == 0 else {
                throw Files.failure(path, "it can't be resized")
            }
        }
        for run in Self.runs(update.changes) {
            try run.leaves.withUnsafeBytes {
                try Files.write(descriptor, $0, at: Int64(run.page - 1) * Int64(Digest.size), path)
            }
        }
        (pageSize, pageCount, branches) = (update.pageSize, update.pageCount, update.branches)
        cachedBranch = -1
    }

    /// Returns the leaves of pages that follow each other.
    private static func runs(_ changes: [Change]) -> [(page: UInt32, leaves: [UInt8])] {
        var runs: [(page: UInt32, leaves: [UInt8])] = []
        for change in changes {
            if let last = runs.last, last.page + UInt32(last.leaves.count / Digest.size) == change.page,
                last.leaves.count < 1 << 16
            {
                runs[runs.count - 1].leaves += change.leaf.bytes
            } else {
                runs.append((change.page, change.leaf.bytes))
            }
        }
        return runs
    }

    func sync() throws { try Files.sync(descriptor, path) }
}
