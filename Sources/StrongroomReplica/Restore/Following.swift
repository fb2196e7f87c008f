import Foundation

/// A restored database that is changed with each point that arrives.
final class Following {
    /// What the database contains, in its `-replica` folder. A kill leaves one of the two states.
    private struct State: Codable {
        var lineage: String
        var tip: ChainTip
        var next: ChainTip?
        /// The history of `next`.
        var nextLineage: String?
    }

    /// What changes with each change of a file.
    private struct FileMark: Equatable {
        private let numbers: [Int64]

        /// Nil if the file is absent.
        init?(_ path: String) {
            guard let found = Files.status(path) else { return nil }
            numbers = [Int64(found.st_dev), Int64(found.st_ino), Int64(found.st_size), found.modified, found.changed]
        }
    }

    /// The mark of the database when this process has read or changed it.
    private var mark: FileMark?

    private let archive: Archive
    private let path: String
    private let folder: String
    private let lock: FileLock
    private var state: State?
    private var tree: PageTree?
    private var lineage: Lineage?
    private var rounds = 0

    init(archive: Archive, path: String) throws {
        (self.archive, self.path, folder) = (archive, path, path + "-replica")
        try Files.makeFolder(folder)
        lock = try FileLock(
            folder + "/followed-lock",
            busy: ReplicaError(
                .busy, path, "another process follows a replica with it; nothing was changed. End it."))
        if let bytes = try Files.read(statePath) {
            state = try? JSONDecoder().decode(State.self, from: Data(bytes))
        }
    }

    private var statePath: String { folder + "/followed" }

    private func save(_ new: State) throws {
        let bytes = try [UInt8](JSONEncoder().encode(new))
        _ = try Files.publish(bytes, as: statePath, partial: statePath + "-new")
        state = new
    }

    // MARK: Beginning

    /// Restores the newest point, or finds out what an earlier run has left. Returns the point if it was restored.
    func begin() throws -> Point? {
        var restored: Point?
        if Files.status(path) == nil {
            let restoration = Restoration(archive: archive, path: path)
            restored = try restoration.run(.newest, atLeast: nil) { id, tip in
                try self.save(State(lineage: id.description, tip: tip))
            }.point
        }
        guard let state, Lineage.ID(state.lineage) != nil else {
            throw ReplicaError(
                .exists, path,
                "it does not come from a replica that was followed; nothing was changed. Give another name.")
        }
        try recover(state)
        return restored
    }

    /// Reads the whole database, and compares it with the states that it can have.
    private func recover(_ state: State) throws {
        if let first = try Files.read(path + Companion.journal.rawValue, limit: 1)?.first, first != 0 {
            _ = try KeylessConnection(path: path, pageSize: 0)
        }
        for (lineage, tip) in [(state.lineage, state.tip), (state.nextLineage ?? state.lineage, state.next)] {
            guard let tip else { continue }
            let mark = FileMark(path), tree = try readLeaves(tip)
            guard tree.root.description == tip.root else { continue }
            self.mark = mark
            self.tree = tree
            return try save(State(lineage: lineage, tip: tip))
        }
        throw PageExchange.changed(path)
    }

    private func readLeaves(_ tip: ChainTip) throws -> PageTree {
        guard let locks = try DatabaseLocks(path: path) else { throw PageExchange.changed(path) }
        while try !locks.share() { usleep(20_000) }
        return try readLeaves(tip, locks, into: "/followed-leaves")
    }

    /// Throws if another program has changed the database since this one has. Reads all of it only if its file has
    /// another mark.
    private func requireUnchanged(since tip: ChainTip, _ locks: DatabaseLocks) throws {
        guard mark == nil || mark != FileMark(path) else { return }
        defer { unlink(folder + "/followed-check") }
        guard try readLeaves(tip, locks, into: "/followed-check").root.description == tip.root else {
            throw PageExchange.changed(path)
        }
    }

    private func readLeaves(_ tip: ChainTip, _ locks: DatabaseLocks, into name: String) throws -> PageTree {
        unlink(folder + name)
        let tree = try PageTree(path: folder + name, pageSize: tip.pageSize, pageCount: 0)
        guard try locks.size() == Int64(tip.pageCount) * Int64(tip.pageSize) else { return tree }
        let hasher = Hasher()
        var changes: [PageTree.Change] = [], bytes = [UInt8](repeating: 0, count: Int(tip.pageSize))
        for page in 1...tip.pageCount {
            try bytes.withUnsafeMutableBytes { buffer in
                try locks.read(page, into: buffer)
                let leaf = PageTree.leaf(page, UnsafeRawBufferPointer(buffer), hasher)
                changes.append(PageTree.Change(page: page, leaf: leaf))
            }
        }
        let update = try tree.update(changes, pageSize: tip.pageSize, pageCount: tip.pageCount, isWhole: true)
        try tree.apply(update, isWhole: true)
        return tree
    }

    // MARK: Points

    /// Applies the points that have arrived. Returns false if a connection has the database open.
    func advance(_ report: (Point) -> Void) throws -> Bool {
        guard let state else { return true }
        // It may be absent for a while, or removed for ever.
        self.lineage = try lineage ?? Lineage.ID(state.lineage).flatMap(archive.lineage)
        var lineage = lineage, names: [PointName] = []
        if let lineage { names = try archive.points(lineage.id, after: state.tip.position) }
        rounds += 1
        if names.isEmpty, rounds % 30 == 1, let newer = try newerHistory(than: state) {
            // The replicator has begun a history.
            (lineage, names) = (newer.lineage, newer.points)
        }
        guard let lineage, let first = names.first else { return true }
        let objects = Lookahead(archive.destination)
        defer { objects.end() }
        let continues = lineage.id.description == state.lineage && first.position == state.tip.position + 1
        if !continues {
            guard let full = names.lastIndex(where: \.isFull) else {
                throw ReplicaError.damaged(first.name, "the point before it is missing")
            }
            names.removeFirst(full)
        }
        objects.expect(names.map(\.name))
        var reader = ChainReader(objects, lineage, after: continues ? state.tip : nil)
        for (name, next) in zip(names, names.dropFirst()) where name.position == next.position {
            throw Archive.History.fork(name, next)
        }
        for name in names {
            guard let point = try apply(name, &reader, lineage) else { return false }
            self.lineage = lineage
            report(point)
        }
        return true
    }

    private func newerHistory(than state: State) throws -> Archive.History? {
        guard let newest = try newestHistory(), newest.lineage.id.description != state.lineage else { return nil }
        guard newest.lineage.begun < lineage?.begun ?? state.tip.time else { return newest }
        guard lineage == nil else { return nil }
        throw ReplicaError(
            .behind, path,
            """
            the history that it follows is no longer in \(archive.destination.name), and those that are left are \
            older; it was left as it is. Restore to another name.
            """)
    }

    /// Returns nil if there is no point. Throws an error that may pass if there is no history, as on a disk that is
    /// not mounted.
    private func newestHistory() throws -> Archive.History? {
        do {
            return try archive.history(for: .newest)
        } catch let error as ReplicaError where error.reason == .noReplica {
            guard try archive.destination.folders("").contains(where: { Lineage.ID($0) != nil }) else {
                throw ReplicaError(
                    .destinationUnavailable, archive.destination.name,
                    "it no longer contains a replica. Mount its disk: it is tried again.")
            }
            guard lineage != nil else { throw error }
            return nil
        }
    }

    /// Returns nil if a connection has the database open.
    private func apply(_ name: PointName, _ reader: inout ChainReader, _ lineage: Lineage) throws -> Point? {
        guard let state, let tree else { return nil }
        var spool: Spool?, changes: [PageTree.Change] = []
        let hasher = Hasher()
        let point = try reader.read(name) { point, part in
            let made = spool ?? Spool(folder: folder, pageSize: point.pageSize)
            spool = made
            try part.withPages { page, bytes in
                let leaf = PageTree.leaf(page, bytes, hasher)
                changes.append(PageTree.Change(page: page, leaf: leaf))
                let isKnown = try point.pageSize == tree.pageSize && page <= tree.pageCount && tree.leaf(page) == leaf
                if !isKnown { try made.write(page, bytes) }
            }
        }
        let isWhole = point.kind == .full
        let update = try tree.update(changes, pageSize: point.pageSize, pageCount: point.pageCount, isWhole: isWhole)
        guard update.root == point.rootAfter, let tip = reader.tip else {
            throw ReplicaError.damaged(name.name, "its pages are not those of the state that it describes")
        }
        let exchange = PageExchange(
            path: path, spool: spool ?? Spool(folder: folder, pageSize: point.pageSize),
            zeros: isWhole ? try zeros(point, changes) : [], old: (state.tip.pageSize, state.tip.pageCount), new: point
        ) { try self.requireUnchanged(since: state.tip, $0) }
        let id = lineage.id.description
        try save(State(lineage: state.lineage, tip: state.tip, next: tip, nextLineage: id))
        guard try exchange.run() else { return nil }
        mark = FileMark(path)
        try tree.apply(update, isWhole: isWhole)
        try save(State(lineage: id, tip: tip))
        return point
    }

    /// Returns the pages that a full point leaves out, and that are not zeros now.
    private func zeros(_ point: Point, _ changes: [PageTree.Change]) throws -> [UInt32] {
        let present = Set(changes.map(\.page))
        guard let tree, changes.count < Int(point.pageCount) else { return [] }
        return try (1...point.pageCount).filter { page in
            guard !present.contains(page) else { return false }
            // What extends the file is zero.
            return try tree.pageSize != point.pageSize || page <= tree.pageCount && tree.leaf(page) != .zero
        }
    }
}
