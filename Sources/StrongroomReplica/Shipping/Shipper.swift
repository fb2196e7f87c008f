import CStrongroomReplica

/// Makes points of spools, and stores them in the destination.
final class Shipper {
    struct Settings: Sendable {
        /// Pages of this size are in the object of the point, more are in parts.
        var inlineLimit = 4 << 20
        var partSize = 8 << 20
        /// The milliseconds after which a replicator that was not heard of counts as gone. It is heard of every two
        /// minutes.
        var claimLifetime: Int64 = 180_000
    }

    let destination: any Destination
    let state: LocalState
    let settings: Settings
    /// Random bytes of this run.
    let run: [UInt8]
    private(set) var lineage: Lineage.ID?

    init(_ destination: any Destination, _ state: LocalState, _ settings: Settings = Settings()) throws {
        self.destination = destination
        self.state = state
        self.settings = settings
        run = try Claim.randomRun()
    }

    // MARK: Beginning

    /// Ends what a killed process began, and finds out whether the destination has the last point. If it has another
    /// history, or none, a new lineage begins. Returns true if an earlier one is continued.
    /// Throws while another replicator writes there.
    func begin() throws -> Bool {
        try requireUnclaimed()
        let isContinued = try findLineage()
        let id = try lineage ?? Lineage.ID.random()
        lineage = id
        try claim(id)
        return isContinued
    }

    private func findLineage() throws -> Bool {
        // Before anything is written: the folder may be on a disk that is not mounted.
        if let record = state.record, try !hasLineage(of: record) { return try forgetLineage() }
        if let bytes = try state.pending() { try finish(bytes) }
        guard let record = state.record else { return false }
        guard state.isConsistent, try isNewest(record) else { return try forgetLineage() }
        lineage = Lineage.ID(record.lineage)
        return true
    }

    private func forgetLineage() throws -> Bool {
        try state.forget()
        lineage = nil
        return false
    }

    /// True if the destination has the lineage of the last point. Throws if it has no later one instead, and may be
    /// another place for a while.
    private func hasLineage(of record: LocalState.Record) throws -> Bool {
        guard let id = Lineage.ID(record.lineage) else { return false }
        if try destination.get(ObjectNames.lineage(id)) != nil { return true }
        guard destination.canReturn, try !hasLineage(begunAfter: record.time) else { return false }
        throw ReplicaError(
            .destinationUnavailable, destination.name,
            """
            it does not contain the history of this replica, up to position \(record.position); nothing was written. \
            Mount its disk. To begin a new history, remove \(state.recordPath).
            """)
    }

    private func hasLineage(begunAfter time: Int64) throws -> Bool {
        try destination.folders("").compactMap { Lineage.ID($0) }.contains { id in
            let found = try destination.get(ObjectNames.lineage(id)).flatMap { try? Lineage($0) }
            return found.map { $0.begun > time } ?? false
        }
    }

    /// Stores the point that was on its way: it may have arrived, or may still arrive.
    private func finish(_ bytes: [UInt8]) throws {
        guard let (point, size) = try? Point.read(bytes), follows(point), isOwn(bytes, size) else {
            return try state.removePending()
        }
        lineage = point.lineage
        var changes: [PageTree.Change] = [], salt: [UInt8]?
        let hasher = Hasher()
        for part in point.parts {
            let content: [UInt8]
            if point.isInline {
                content = Array(bytes.dropFirst(size))
            } else if let found = try destination.get(ObjectNames.part(point.lineage, point.position, part.digest)) {
                content = found
            } else {
                // Without its parts, the point never arrived.
                return try state.removePending()
            }
            try PagePart(content, pageSize: point.pageSize).withPages { page, bytes in
                changes.append(PageTree.Change(page: page, leaf: PageTree.leaf(page, bytes, hasher)))
                if page == 1 { salt = Array(bytes[..<16]) }
            }
        }
        let tree = try state.tree ?? state.makeTree(pageSize: point.pageSize)
        let update = try tree.update(
            changes, pageSize: point.pageSize, pageCount: point.pageCount, isWhole: point.kind == .full)
        guard update.root == point.rootAfter else { return try state.removePending() }
        try store(point, bytes, size: size)
        try settle(point, bytes, size: size, update, stamp: nil, salt: salt)
    }

    private func follows(_ point: Point) -> Bool {
        guard let record = state.record else { return point.position == 1 }
        return point.position == record.position + 1 && point.parent.description == record.point
            && point.lineage.description == record.lineage
    }

    private func isOwn(_ bytes: [UInt8], _ size: Int) -> Bool {
        let end = size - SigningKey.signatureSize
        return state.key.signer.hasSigned(Array(bytes[..<end]), Array(bytes[end..<size]))
    }

    /// True if the destination has no point after the last one: a copy of the state may have been used elsewhere.
    private func isNewest(_ record: LocalState.Record) throws -> Bool {
        guard let id = Lineage.ID(record.lineage) else { return false }
        let last = ObjectNames.digits(record.position)
        for folder in [ObjectNames.folderOfPoints, ObjectNames.folderOfFullPoints] {
            let prefix = "\(id)/\(folder)"
            let later = try destination.list(prefix, after: prefix + last).compactMap { PointName($0.name) }
            if later.contains(where: { $0.position > record.position || !record.point.hasPrefix($0.digest) }) {
                return false
            }
        }
        return true
    }

    // MARK: Points

    /// Returns true if the spool differs from the last point.
    func isDirty(_ spool: Spool) -> Bool {
        guard let record = state.record else { return spool.pageCount > 0 }
        return spool.pageCount > 0
            && (!spool.isEmpty || spool.pageCount != record.pageCount
                || digest(of: spool.sidecars) != record.sidecars)
    }

    /// Returns the digest of sidecars, which is asked for at each look.
    private func digest(of sidecars: Sidecars) -> String {
        if let digested, digested.sidecars == sidecars { return digested.digest }
        let digest = Self.digest(sidecars).description
        digested = (sidecars, digest)
        return digest
    }

    private var digested: (sidecars: Sidecars, digest: String)?

    /// True if the changes since the last full point are larger than a full one, or too many.
    func wantsFullPoint(_ databaseSize: Int64) -> Bool {
        guard let record = state.record else { return false }
        // Many small changes make restores slow, and full points of a large database are expensive.
        let isLong = record.countSinceFull >= 20_000 && record.sizeSinceFull > databaseSize / 4
        return isLong || record.sizeSinceFull > max(databaseSize, 64 << 20)
    }

    /// A point that is ready to be stored: the same bytes until they are durable.
    struct Shipment {
        fileprivate var point: Point
        fileprivate var bytes: [UInt8]
        fileprivate var size: Int
        fileprivate var update: PageTree.Update
        fileprivate var stamp: FileStamp?
        fileprivate var salt: [UInt8]?
    }

    struct Shipped: Sendable {
        var position: UInt64
        var time: Int64
        var size: Int
        var generation: UInt32
    }

    /// Stores the parts of a spool, and makes its point. May be called again after a failure.
    func prepare(_ spool: Spool) throws -> Shipment {
        let record = state.record, tree = try state.tree ?? state.makeTree(pageSize: UInt32(spool.pageSize))
        let id = try lineage ?? Lineage.ID.random()
        lineage = id
        var contents = Contents(tree: tree, spool: spool)
        let position = (record?.position ?? 0) + 1
        let isInline = spool.count * spool.pageSize <= settings.inlineLimit
        let inline = try isInline ? contents.part(spool.pages[...]) : storeParts(&contents, id, position)
        let size = UInt32(spool.pageSize), count = spool.pageCount
        // After a rotation, the point needs none before it.
        let isWhole = spool.isWhole || spool.hasAllPages
        let update = try tree.update(contents.changes, pageSize: size, pageCount: count, isWhole: isWhole)
        let isRotated = record.map { self.isRotated($0, contents, spool) } ?? false
        let point = Point(
            lineage: id, position: position, time: max(spool.time, (record?.time ?? 0) + 1),
            kind: isWhole ? .full : .changes, pages: (size, count),
            generation: (record?.generation ?? 1) + (isRotated ? 1 : 0), followsGap: spool.followsGap,
            parent: record.flatMap { [UInt8](hex: $0.point).flatMap(Digest.init) } ?? .zero,
            roots: (record.flatMap { [UInt8](hex: $0.root).flatMap(Digest.init) } ?? .zero, update.root),
            log: spool.log, sidecars: spool.sidecars, parts: contents.parts, isInline: isInline)
        let description = try point.signed(by: state.key)
        return Shipment(
            point: point, bytes: description + inline, size: description.count, update: update, stamp: spool.stamp,
            salt: contents.salt)
    }

    private func storeParts(_ contents: inout Contents, _ id: Lineage.ID, _ position: UInt64) throws -> [UInt8] {
        let pages = contents.spool.pages, step = max(1, settings.partSize / contents.spool.pageSize)
        for start in stride(from: 0, to: pages.count, by: step) {
            let bytes = try contents.part(pages[start..<min(pages.count, start + step)])
            try destination.put(ObjectNames.part(id, position, contents.parts.last!.digest), bytes)
        }
        return []
    }

    /// True if the key may have changed: every page was written anew, or the salt is another.
    private func isRotated(_ record: LocalState.Record, _ contents: Contents, _ spool: Spool) -> Bool {
        if let salt = contents.salt, salt != record.salt { return true }
        if Self.saltFile(spool.sidecars) != record.saltFile { return true }
        return contents.changedCount > 1 && contents.changedCount + 1 >= Int(spool.pageCount)
            && contents.changedCount >= Int(min(spool.pageCount, record.pageCount))
    }

    /// Stores the point. May be called again after a failure.
    func store(_ shipment: Shipment) throws -> Shipped {
        try state.keepPending(shipment.bytes)
        try store(shipment.point, shipment.bytes, size: shipment.size)
        try settle(
            shipment.point, shipment.bytes, size: shipment.size, shipment.update, stamp: shipment.stamp,
            salt: shipment.salt)
        let point = shipment.point
        return Shipped(
            position: point.position, time: point.time, size: shipment.bytes.count, generation: point.generation)
    }

    private func store(_ point: Point, _ bytes: [UInt8], size: Int) throws {
        if point.position == 1 {
            let line = Lineage(id: point.lineage, signer: state.key.signer, begun: point.time)
            try destination.put(ObjectNames.lineage(point.lineage), try line.signed(by: state.key))
        }
        try destination.put(PointName(point, Digest(of: Array(bytes[..<size]))).name, bytes)
    }

    /// Records that a point is durable.
    private func settle(
        _ point: Point, _ bytes: [UInt8], size: Int, _ update: PageTree.Update, stamp: FileStamp?, salt: [UInt8]?
    ) throws {
        let former = state.record, isFull = point.kind == .full
        try state.tree!.apply(update, isWhole: isFull)
        // Otherwise a record without its leaves could survive a power failure.
        try state.tree!.sync()
        let stored = Int64(bytes.count) + point.parts.reduce(0) { $0 + (point.isInline ? 0 : Int64($1.size)) }
        try state.save(
            LocalState.Record(
                lineage: point.lineage.description, position: point.position, time: point.time,
                point: Digest(of: Array(bytes[..<size])).description, root: point.rootAfter.description,
                pageSize: point.pageSize, pageCount: point.pageCount, generation: point.generation,
                salt: salt ?? former?.salt ?? [], sidecars: Self.digest(point.sidecars).description,
                saltFile: Self.saltFile(point.sidecars), log: point.log, stamp: stamp,
                sizeSinceFull: isFull ? 0 : (former?.sizeSinceFull ?? 0) + stored,
                countSinceFull: isFull ? 0 : (former?.countSinceFull ?? 0) + 1))
        try state.removePending()
    }

    // MARK: Heartbeat

    /// Says that the last point is still the newest state.
    func beat() throws {
        guard let record = state.record, let id = Lineage.ID(record.lineage),
            let point = [UInt8](hex: record.point).flatMap(Digest.init),
            let root = [UInt8](hex: record.root).flatMap(Digest.init)
        else { return }
        // The clock as it is: the times of points go on when it was set back.
        let head = Head(
            lineage: id, position: record.position, point: point, root: root, time: currentMilliseconds())
        try destination.put(ObjectNames.head(id), try head.signed(by: state.key))
    }

    private static func digest(_ sidecars: Sidecars) -> Digest {
        var writer = ByteWriter()
        for (kind, bytes) in sidecars.contents.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            writer.add(kind.rawValue)
            writer.add(UInt32(bytes.count))
            writer.add(bytes)
        }
        return Digest(of: writer.bytes)
    }

    private static func saltFile(_ sidecars: Sidecars) -> String {
        sidecars.contents[.salt].map { Digest(of: $0).description } ?? ""
    }
}
