import Foundation

/// The root of the pages of a file, by several threads.
enum FileRoot {
    static func compute(_ descriptor: Int32, _ pageSize: UInt32, _ pageCount: UInt32, _ path: String) throws -> Digest {
        let branches = try branches(descriptor, pageSize, pageCount, path)
        return PageTree.root(branches, pageSize: pageSize, pageCount: pageCount)
    }

    private static func branches(
        _ descriptor: Int32, _ pageSize: UInt32, _ pageCount: UInt32, _ path: String
    ) throws -> [Digest] {
        let count = (Int(pageCount) + PageTree.fanOut - 1) / PageTree.fanOut, width = max(1, min(4, count / 8))
        let found = Found(count)
        // Each thread takes the branches that leave the same rest.
        DispatchQueue.concurrentPerform(iterations: width) { first in
            let hasher = Hasher()
            for branch in stride(from: first, to: count, by: width) where found.failure == nil {
                do {
                    found.set(branch, try self.branch(branch, descriptor, pageSize, pageCount, path, hasher))
                } catch {
                    found.fail(error)
                }
            }
        }
        if let failure = found.failure { throw failure }
        return found.branches
    }

    private static func branch(
        _ branch: Int, _ descriptor: Int32, _ pageSize: UInt32, _ pageCount: UInt32, _ path: String, _ hasher: Hasher
    ) throws -> Digest {
        let first = branch * PageTree.fanOut, count = min(PageTree.fanOut, Int(pageCount) - first)
        let size = Int(pageSize)
        var bytes = [UInt8](repeating: 0, count: size * count), leaves: [UInt8] = []
        try bytes.withUnsafeMutableBytes { buffer in
            let found = try Files.read(descriptor, buffer, at: Int64(first) * Int64(size), path)
            guard found == buffer.count else { throw Files.failure(path, "it ends early", EIO) }
            for index in 0..<count {
                let page = UnsafeRawBufferPointer(rebasing: buffer[(index * size)..<((index + 1) * size)])
                leaves += PageTree.leaf(UInt32(first + index + 1), page, hasher).bytes
            }
        }
        return PageTree.branch(leaves, count: count, hasher)
    }

    /// What the threads have found.
    private final class Found: @unchecked Sendable {
        private let lock = NSLock()
        private var digests: [Digest]
        private var error: (any Error)?

        init(_ count: Int) { digests = Array(repeating: .zero, count: count) }

        var branches: [Digest] { lock.withLock { digests } }
        var failure: (any Error)? { lock.withLock { error } }
        func set(_ branch: Int, _ digest: Digest) { lock.withLock { digests[branch] = digest } }
        func fail(_ new: any Error) { lock.withLock { error = error ?? new } }
    }
}
