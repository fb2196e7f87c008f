/// A statement about a restore point, with its HMAC under a key that is derived from that of the database. Who has
/// neither can't make another one, not even with the signing key of the replicator.
struct Seal: Sendable, Hashable {
    static let magic: StaticString = "SRSEAL01"
    static let codeSize = 32

    /// What the HMAC is of.
    var statement: [UInt8]
    var code: [UInt8]

    var bytes: [UInt8] { statement + code }

    /// Reads the object. Nothing is proved.
    init?(_ bytes: [UInt8]) {
        let size = Self.magic.utf8CodeUnitCount + Lineage.ID.size + 8 + 2 * Digest.size
        guard bytes.count == size + Self.codeSize else { return nil }
        (statement, code) = (Array(bytes[..<size]), Array(bytes[size...]))
    }

    init(statement: [UInt8], code: [UInt8]) { (self.statement, self.code) = (statement, code) }

    /// Returns the statement that a point, whose digest is given, is the one with its position.
    static func statement(_ point: Point, _ digest: Digest) -> [UInt8] {
        var writer = ByteWriter()
        writer.add(magic)
        writer.add(point.lineage.bytes)
        writer.add(point.position)
        writer.add(digest.bytes)
        writer.add(point.rootAfter.bytes)
        return writer.bytes
    }
}
