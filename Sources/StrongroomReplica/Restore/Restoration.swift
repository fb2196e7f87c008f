import CStrongroom

/// A database that is made of a chain of points, in a folder of its own, and named when it is verified.
struct Restoration {
    let archive: Archive
    let path: String

    func run(_ target: Archive.Target, atLeast: UInt64?) throws -> Point {
        let sidecars = Sidecars.Kind.allCases.map(\.suffix)
        try Self.requireAbsent(path, "there is a file already")
        for suffix in [Companion.log, .journal, .index].map(\.rawValue) {
            try Self.requireAbsent(path + suffix, "it would be applied to the restored database")
        }
        let history = try archive.history(for: target)
        let chain = try history.chain(to: target, atLeast: atLeast)
        let folder = try StagedFolder(beside: path)
        defer { folder.remove() }
        let point = try fill(folder.file, chain, history.lineage)
        for (kind, bytes) in point.sidecars.contents {
            _ = try Files.publish(
                bytes, as: folder.file + kind.suffix, partial: folder.file + kind.suffix + "-partial")
        }
        try name(folder.file, point, sidecars)
        return point
    }

    private static func requireAbsent(_ path: String, _ problem: String) throws {
        guard !strongroom_file_exists(path) else {
            throw ReplicaError(.exists, path, "\(problem); nothing was changed. Give another name, or move it away.")
        }
    }

    // MARK: Content

    /// Applies the chain, and compares the result with the root of its last point.
    private func fill(_ file: String, _ chain: [PointName], _ lineage: Lineage) throws -> Point {
        let descriptor = try Files.open(file, O_RDWR | O_CREAT | O_EXCL)
        defer { close(descriptor) }
        var reader = ChainReader(archive.destination, lineage), last: Point?
        for name in chain {
            let point = try reader.read(name) { point, part in
                try part.withPages { page, bytes in
                    let offset = Int64(page - 1) * Int64(point.pageSize)
                    try Files.write(descriptor, bytes, at: offset, file)
                }
            }
            // What a smaller state cuts off is zero if a larger one follows.
            guard ftruncate(descriptor, off_t(point.pageCount) * off_t(point.pageSize)) == 0 else {
                throw Files.failure(file, "it can't be resized")
            }
            last = point
        }
        guard let last, try Self.root(descriptor, last, file) == last.rootAfter else {
            throw ReplicaError.damaged(chain.last!.name, "its pages are not those of the state that it describes")
        }
        try Files.sync(descriptor, file)
        return last
    }

    /// Computes the root of a file.
    private static func root(_ descriptor: Int32, _ point: Point, _ path: String) throws -> Digest {
        let size = Int(point.pageSize), hasher = Hasher()
        var branches: [Digest] = [], page: UInt32 = 1
        var bytes = [UInt8](repeating: 0, count: size * PageTree.fanOut)
        while page <= point.pageCount {
            let count = min(PageTree.fanOut, Int(point.pageCount - page + 1))
            try bytes.withUnsafeMutableBytes { buffer in
                let wanted = UnsafeMutableRawBufferPointer(rebasing: buffer[..<(count * size)])
                let found = try Files.read(descriptor, wanted, at: Int64(page - 1) * Int64(size), path)
                guard found == wanted.count else { throw Files.failure(path, "it ends early", EIO) }
                var leaves: [UInt8] = []
                for index in 0..<count {
                    let one = UnsafeRawBufferPointer(rebasing: wanted[(index * size)..<((index + 1) * size)])
                    leaves += PageTree.leaf(page + UInt32(index), one, hasher).bytes
                }
                branches.append(PageTree.branch(leaves, count: count, hasher))
            }
            page += UInt32(count)
        }
        return PageTree.root(branches, pageSize: point.pageSize, pageCount: point.pageCount)
    }

    // MARK: Names

    /// Gives the database its name after its sidecars have theirs. A sidecar that a killed restore has left is taken
    /// for ours if it has the same content.
    private func name(_ file: String, _ point: Point, _ suffixes: [String]) throws {
        var named: [String] = []
        do {
            for kind in Sidecars.Kind.allCases {
                let sidecar = path + kind.suffix
                guard let bytes = point.sidecars.contents[kind] else {
                    try Self.requireAbsent(sidecar, "it belongs to another database")
                    continue
                }
                if strongroom_file_exists(sidecar), try Files.read(sidecar) == bytes { continue }
                try move(file + kind.suffix, to: sidecar)
                named.append(sidecar)
            }
            try move(file, to: path)
        } catch {
            for sidecar in named { unlink(sidecar) }
            throw error
        }
    }

    private func move(_ from: String, to: String) throws {
        let error = strongroom_file_move(from, to)
        guard error == 0 else {
            if error == EEXIST { try Self.requireAbsent(to, "there is a file already") }
            throw Files.failure(to, "it can't be named", error)
        }
    }
}

/// A folder for an incomplete database, which only its owner can open. What killed processes have left is removed.
struct StagedFolder {
    /// The database in it.
    let file: String
    private let path: String
    private let descriptor: Int32

    init(beside database: String) throws {
        let parent = Files.folder(of: database) ?? "."
        guard let status = Files.status(parent), status.st_mode & S_IFMT == S_IFDIR else {
            throw Files.failure(parent, "it is no folder; nothing was written", ENOTDIR)
        }
        strongroom_staging_sweep(parent, { _, _ in }, nil)
        var name = [CChar](repeating: 0, count: 4096), descriptor: Int32 = -1
        let error = strongroom_staging_make(parent, &name, name.count, &descriptor)
        guard error == 0 else { throw Files.failure(parent, "a folder can't be made in it", error) }
        path = name.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
        self.descriptor = descriptor
        file = path + "/copy"
    }

    func remove() { strongroom_staging_remove(path, descriptor) }
}
