/// A restore point: the signed description of one committed state, as the difference from the previous one or as a
/// whole.
struct Point: Sendable {
    enum Kind: UInt8, Sendable {
        /// The pages that differ from the previous point.
        case changes = 0
        /// All pages.
        case full = 1
    }

    /// Pages of the point, in an object of their own or behind the description.
    struct Part: Hashable, Sendable {
        var digest: Digest
        var size: UInt32
        var pageCount: UInt32
    }

    var lineage: Lineage.ID
    var position: UInt64
    /// Milliseconds since 1970. Never decreases from one point to the next.
    var time: Int64
    var pageSize: UInt32
    var pageCount: UInt32
    /// Counts the times that every page was written anew, as a rotation does.
    var generation: UInt32
    var kind: Kind
    /// True if states between the previous point and this one were not captured.
    var followsGap: Bool
    /// The digest of the previous point's description. Zero for the first one.
    var parent: Digest
    var rootBefore: Digest
    var rootAfter: Digest
    /// The place in the log up to which the pages are those of the log. Nil without a log.
    var log: LogPlace?
    var sidecars: Sidecars
    var parts: [Part]
    /// True if the only part is behind the description, in the same object.
    var isInline: Bool

    static let magic: StaticString = "SRPOINT1"
    /// Greater descriptions are refused: no replicator makes them.
    static let sizeLimit = 64 << 20

    // MARK: Bytes

    /// Returns the description with its signature.
    func signed(by key: SigningKey) throws -> [UInt8] {
        var writer = ByteWriter()
        writer.add(Self.magic)
        writer.add(UInt32(0))
        writer.add(lineage.bytes)
        writer.add(position)
        writer.add(time)
        writer.add(pageSize)
        writer.add(pageCount)
        writer.add(generation)
        writer.add(kind.rawValue)
        writer.add(UInt8((followsGap ? 1 : 0) | (isInline ? 2 : 0) | (log == nil ? 0 : 4)))
        writer.add(UInt16(sidecars.contents.count))
        for digest in [parent, rootBefore, rootAfter] { writer.add(digest.bytes) }
        log?.write(&writer)
        writer.add(UInt32(parts.count))
        for part in parts {
            writer.add(part.digest.bytes)
            writer.add(part.size)
            writer.add(part.pageCount)
        }
        for (kind, bytes) in sidecars.contents.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            writer.add(kind.rawValue)
            writer.add(UInt32(bytes.count))
            writer.add(bytes)
        }
        writer.replace(at: 8, UInt32(writer.bytes.count + SigningKey.signatureSize))
        return writer.bytes + (try key.sign(writer.bytes))
    }

    /// Reads a description, and returns it with its size. Does not check the signature.
    static func read(_ bytes: [UInt8]) throws -> (point: Point, size: Int) {
        var reader = ByteReader(bytes)
        try reader.expect(magic)
        let size = Int(try reader.number(UInt32.self))
        guard size <= bytes.count, size <= sizeLimit else { throw ByteReader.Ended() }
        reader = ByteReader(Array(bytes[..<size]))
        _ = try reader.take(12)
        let point = try Point(&reader)
        guard reader.rest == SigningKey.signatureSize else { throw ByteReader.Ended() }
        return (point, size)
    }

    private init(_ reader: inout ByteReader) throws {
        lineage = Lineage.ID(bytes: try reader.take(Lineage.ID.size))
        position = try reader.number()
        time = Int64(bitPattern: try reader.number(UInt64.self))
        pageSize = try reader.number()
        pageCount = try reader.number()
        generation = try reader.number()
        guard let kind = Kind(rawValue: try reader.number()) else { throw ByteReader.Ended() }
        self.kind = kind
        let flags: UInt8 = try reader.number()
        (followsGap, isInline) = (flags & 1 != 0, flags & 2 != 0)
        let sidecarCount: UInt16 = try reader.number()
        parent = Digest(try reader.take(Digest.size))!
        rootBefore = Digest(try reader.take(Digest.size))!
        rootAfter = Digest(try reader.take(Digest.size))!
        log = flags & 4 != 0 ? try LogPlace(&reader) : nil
        let partCount: UInt32 = try reader.number()
        guard Int(partCount) <= reader.rest / 40, !isInline || partCount == 1 else { throw ByteReader.Ended() }
        parts = []
        for _ in 0..<partCount {
            let digest = Digest(try reader.take(Digest.size))!
            parts.append(Part(digest: digest, size: try reader.number(), pageCount: try reader.number()))
        }
        sidecars = Sidecars()
        for _ in 0..<sidecarCount {
            guard let kind = Sidecars.Kind(rawValue: try reader.number()) else { throw ByteReader.Ended() }
            sidecars.contents[kind] = try reader.take(Int(try reader.number(UInt32.self)))
        }
        guard pageSize >= 512, pageSize <= 65536, pageSize & (pageSize - 1) == 0, pageCount > 0 else {
            throw ByteReader.Ended()
        }
    }
}

extension Point {
    init(
        lineage: Lineage.ID, position: UInt64, time: Int64, kind: Kind, pages: (size: UInt32, count: UInt32),
        generation: UInt32, followsGap: Bool, parent: Digest, roots: (before: Digest, after: Digest), log: LogPlace?,
        sidecars: Sidecars, parts: [Part], isInline: Bool
    ) {
        self.lineage = lineage
        self.position = position
        self.time = time
        self.kind = kind
        (pageSize, pageCount) = pages
        self.generation = generation
        self.followsGap = followsGap
        self.parent = parent
        (rootBefore, rootAfter) = roots
        self.log = log
        self.sidecars = sidecars
        self.parts = parts
        self.isInline = isInline
    }
}
