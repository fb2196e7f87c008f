/// What a point must follow.
struct ChainTip: Codable, Hashable {
    var position: UInt64
    var time: Int64
    var pageSize: UInt32
    var pageCount: UInt32
    /// The digest of the description, in hexadecimal digits.
    var digest: String
    var root: String

    init(_ point: Point, _ digest: Digest) {
        (position, time, pageSize, pageCount) = (point.position, point.time, point.pageSize, point.pageCount)
        (self.digest, root) = (digest.description, point.rootAfter.description)
    }
}

/// Reads the points of a chain, in order, and checks that each one follows from the one before.
struct ChainReader {
    let objects: Lookahead
    let lineage: Lineage
    /// Nil before the first point, which must be a full one.
    private(set) var tip: ChainTip?

    init(_ objects: Lookahead, _ lineage: Lineage, after tip: ChainTip? = nil) {
        (self.objects, self.lineage, self.tip) = (objects, lineage, tip)
    }

    /// Reads the next point, and calls `body` with its parts.
    mutating func read(_ name: PointName, _ body: (Point, PagePart) throws -> Void) throws -> Point {
        let bytes = try objects.object(name.name)
        guard let (point, size) = try? Point.read(bytes) else {
            throw ReplicaError.damaged(name.name, "it is no restore point")
        }
        let description = Array(bytes[..<size]), digest = Digest(of: description)
        try check(name, point, digest, description)
        if !point.isInline { objects.expect(point.parts.map { Self.object($0, of: point) }, next: true) }
        let inline = point.isInline ? Array(bytes[size...]) : []
        for part in point.parts { try body(point, try read(part, of: point, name, inline)) }
        tip = ChainTip(point, digest)
        return point
    }

    private static func object(_ part: Point.Part, of point: Point) -> String {
        ObjectNames.part(point.lineage, point.position, part.digest)
    }

    private func check(_ name: PointName, _ point: Point, _ digest: Digest, _ description: [UInt8]) throws {
        let end = description.count - SigningKey.signatureSize
        guard lineage.signer.hasSigned(Array(description[..<end]), Array(description.suffix(SigningKey.signatureSize)))
        else {
            throw ReplicaError(
                .untrusted, name.name, "its signature is not that of \(lineage.signer); nothing was written.")
        }
        guard PointName(point, digest) == name else {
            throw ReplicaError.damaged(name.name, "its name is not that of its content")
        }
        guard let tip else {
            guard point.kind == .full else { throw ReplicaError.damaged(name.name, "it is not a full point") }
            return
        }
        let follows =
            point.position == tip.position + 1 && point.parent.description == tip.digest
            && point.rootBefore.description == tip.root && point.time > tip.time
            && (point.kind == .full || point.pageSize == tip.pageSize)
        guard follows else { throw ReplicaError.damaged(name.name, "it does not follow from the point before it") }
    }

    private func read(_ part: Point.Part, of point: Point, _ name: PointName, _ inline: [UInt8]) throws -> PagePart {
        let object = Self.object(part, of: point)
        let bytes = point.isInline ? inline : try objects.object(object)
        let subject = point.isInline ? name.name : object
        guard bytes.count == Int(part.size), Digest(of: bytes) == part.digest else {
            throw ReplicaError.damaged(subject, "its content was changed")
        }
        guard let pages = try? PagePart(bytes, pageSize: point.pageSize), pages.numbers.count == part.pageCount,
            pages.numbers.last ?? 0 <= point.pageCount
        else { throw ReplicaError.damaged(subject, "it holds no pages of the point") }
        return pages
    }
}
