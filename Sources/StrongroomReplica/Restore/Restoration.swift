import CStrongroom

/// A database that is made of a chain of points, in a folder of its own, and named when it is verified.
struct Restoration {
    let archive: Archive
    let path: String

    /// Returns the point, and the number of positions between it and the next one that are no longer there.
    /// Calls `willName` before the database appears.
    func run(
        _ target: Archive.Target, atLeast: UInt64?, willName: (Lineage.ID, ChainTip) throws -> Void = { _, _ in }
    ) throws -> (point: Point, missingAfter: Int) {
        let sidecars = Sidecars.Kind.allCases.map(\.suffix)
        try Self.requireAbsent(path, "there is a file already")
        for suffix in [Companion.log, .journal, .index].map(\.rawValue) {
            try Self.requireAbsent(path + suffix, "it would be applied to the restored database")
        }
        let history = try archive.history(for: target)
        let chain = try history.chain(to: target, atLeast: atLeast)
        let folder = try StagedFolder(beside: path)
        defer { folder.remove() }
        let (point, tip) = try fill(folder.file, chain, history.lineage)
        try writeSidecars(point, folder.file)
        try willName(history.lineage.id, tip)
        try name(folder.file, point, sidecars)
        return (point, history.missing(after: chain.last!))
    }

    /// Restores points of a history, in ascending order, one after the other in a temporary folder, and calls `body`
    /// with each, the digest of its description, and its path.
    func each(
        _ history: Archive.History, _ wanted: [PointName], _ body: (Point, Digest, String) throws -> Void
    ) throws {
        let folder = try StagedFolder(beside: path), objects = Lookahead(archive.destination)
        defer {
            objects.end()
            folder.remove()
        }
        var reader = ChainReader(objects, history.lineage)
        for name in wanted {
            var chain = try history.chain(to: .position(name.position), atLeast: nil)
            if let tip = reader.tip, chain[0].position <= tip.position {
                chain.removeAll { $0.position <= tip.position }
            } else {
                reader = ChainReader(objects, history.lineage)
            }
            objects.expect(chain.map(\.name))
            let point = try apply(chain, folder.file, &reader)
            for kind in Sidecars.Kind.allCases { unlink(folder.file + kind.suffix) }
            try writeSidecars(point, folder.file)
            try body(point, [UInt8](hex: reader.tip!.digest).flatMap { Digest($0) }!, folder.file)
        }
    }

    private func writeSidecars(_ point: Point, _ file: String) throws {
        for (kind, bytes) in point.sidecars.contents {
            _ = try Files.publish(bytes, as: file + kind.suffix, partial: file + kind.suffix + "-partial")
        }
    }

    private static func requireAbsent(_ path: String, _ problem: String) throws {
        guard !strongroom_file_exists(path) else {
            throw ReplicaError(.exists, path, "\(problem); nothing was changed. Give another name, or move it away.")
        }
    }

    // MARK: Content

    private func fill(_ file: String, _ chain: [PointName], _ lineage: Lineage) throws -> (Point, ChainTip) {
        let objects = Lookahead(archive.destination)
        defer { objects.end() }
        objects.expect(chain.map(\.name))
        var reader = ChainReader(objects, lineage)
        let point = try apply(chain, file, &reader)
        return (point, reader.tip!)
    }

    /// Applies points to a file, and compares the result with the root of the last one.
    private func apply(_ chain: [PointName], _ file: String, _ reader: inout ChainReader) throws -> Point {
        let descriptor = try Files.open(file, O_RDWR | O_CREAT | O_NOFOLLOW)
        defer { close(descriptor) }
        var last: Point?
        for name in chain {
            // What a full point leaves out is zero.
            if name.isFull { try resize(descriptor, 0, file) }
            let point = try reader.read(name) { point, part in
                try part.withRuns { page, bytes in
                    let offset = Int64(page - 1) * Int64(point.pageSize)
                    try Files.write(descriptor, bytes, at: offset, file)
                }
            }
            // What a smaller state cuts off is zero if a larger one follows.
            try resize(descriptor, Int64(point.pageCount) * Int64(point.pageSize), file)
            last = point
        }
        guard let last, try FileRoot.compute(descriptor, last.pageSize, last.pageCount, file) == last.rootAfter else {
            throw ReplicaError.damaged(chain.last!.name, "its pages are not those of the state that it describes")
        }
        try Files.sync(descriptor, file)
        return last
    }

    private func resize(_ descriptor: Int32, _ size: Int64, _ file: String) throws {
        guard ftruncate(descriptor, off_t(size)) == 0 else { throw Files.failure(file, "it can't be resized") }
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
