import CStrongroom

/// What a replicator says in its destination about itself, so that no other one begins beside it.
struct Claim: Sendable, Hashable {
    static let magic: StaticString = "SRCLAIM1"
    private static let runSize = 16

    var signer: ReplicaSigner
    var lineage: Lineage.ID
    /// Random bytes of one run of the replicator.
    var run: [UInt8]
    /// Milliseconds since 1970.
    var time: Int64
    /// True if that run has ended, and another replicator may begin.
    var hasEnded = false

    static func randomRun() throws -> [UInt8] { try Lineage.ID.random().bytes }

    func signed(by key: SigningKey) throws -> [UInt8] {
        var writer = ByteWriter()
        writer.add(Self.magic)
        writer.add(lineage.bytes)
        writer.add(signer.bytes)
        writer.add(run)
        writer.add(time)
        writer.add(UInt8(hasEnded ? 1 : 0))
        return writer.bytes + (try key.sign(writer.bytes))
    }
}

extension Claim {
    /// Reads the object, and checks that it is signed by the key that it contains.
    init(_ bytes: [UInt8]) throws {
        var reader = ByteReader(bytes)
        try reader.expect(Self.magic)
        lineage = Lineage.ID(bytes: try reader.take(Lineage.ID.size))
        guard let signer = ReplicaSigner(bytes: try reader.take(32)) else { throw ByteReader.Ended() }
        self.signer = signer
        run = try reader.take(Self.runSize)
        time = Int64(bitPattern: try reader.number(UInt64.self))
        hasEnded = try reader.number(UInt8.self) != 0
        let signed = Array(bytes[..<reader.offset])
        guard signer.hasSigned(signed, try reader.take(SigningKey.signatureSize)), reader.rest == 0 else {
            throw ByteReader.Ended()
        }
    }
}
