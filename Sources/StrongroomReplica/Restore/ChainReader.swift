/// Reads the points of a chain, in order, and checks that each one follows from the one before.
struct ChainReader {
    let destination: any Destination
    let lineage: Lineage
    private(set) var last: (point: Point, digest: Digest)?

    init(_ destination: any Destination, _ lineage: Lineage) {
        self.destination = destination
        self.lineage = lineage
    }

    /// Reads the next point, and calls `body` with its parts.
    mutating func read(_ name: PointName, _ body: (Point, PagePart) throws -> Void) throws -> Point {
        let bytes = try destination.object(name.name)
        guard let (point, size) = try? Point.read(bytes) else {
            throw ReplicaError.damaged(name.name, "it is no restore point")
        }
        let description = Array(bytes[..<size]), digest = Digest(of: description)
        try check(name, point, digest, description)
        for part in point.parts { try body(point, try read(part, of: point, name, Array(bytes.dropFirst(size)))) }
        last = (point, digest)
        return point
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
        guard let last else {
            guard point.kind == .full else { throw ReplicaError.damaged(name.name, "it is not a full point") }
            return
        }
        let follows =
            point.position == last.point.position + 1 && point.parent == last.digest
            && point.rootBefore == last.point.rootAfter && point.time > last.point.time
            && (point.kind == .full || point.pageSize == last.point.pageSize)
        guard follows else { throw ReplicaError.damaged(name.name, "it does not follow from the point before it") }
    }

    private func read(_ part: Point.Part, of point: Point, _ name: PointName, _ inline: [UInt8]) throws -> PagePart {
        let object = ObjectNames.part(point.lineage, point.position, part.digest)
        let bytes = point.isInline ? inline : try destination.object(object)
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
