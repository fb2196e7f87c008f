import CStrongroom

/// One history of a database, by one replicator: its points follow each other without a fork.
struct Lineage: Sendable, Hashable {
    struct ID: Hashable, Sendable, CustomStringConvertible {
        static let size = 16
        let bytes: [UInt8]

        init(bytes: [UInt8]) { self.bytes = bytes }

        init?(_ text: some StringProtocol) {
            guard let bytes = [UInt8](hex: text), bytes.count == Self.size, text == text.lowercased() else {
                return nil
            }
            self.bytes = bytes
        }

        static func random() throws -> ID {
            var bytes = [UInt8](repeating: 0, count: size)
            guard strongroom_random(&bytes, size) == 0 else {
                throw ReplicaError(.system, nil, "the crypto provider gives no random bytes; nothing was sent.")
            }
            return ID(bytes: bytes)
        }

        var description: String { bytes.hex }
    }

    static let magic: StaticString = "SRLINE01"

    let id: ID
    let signer: ReplicaSigner
    /// Milliseconds since 1970.
    let begun: Int64

    func signed(by key: SigningKey) throws -> [UInt8] {
        var writer = ByteWriter()
        writer.add(Self.magic)
        writer.add(id.bytes)
        writer.add(signer.bytes)
        writer.add(begun)
        return writer.bytes + (try key.sign(writer.bytes))
    }

    init(id: ID, signer: ReplicaSigner, begun: Int64) {
        (self.id, self.signer, self.begun) = (id, signer, begun)
    }

    /// Reads the object, and checks that it is signed by the key that it contains.
    init(_ bytes: [UInt8]) throws {
        var reader = ByteReader(bytes)
        try reader.expect(Self.magic)
        id = ID(bytes: try reader.take(ID.size))
        guard let signer = ReplicaSigner(bytes: try reader.take(32)) else { throw ByteReader.Ended() }
        self.signer = signer
        begun = Int64(bitPattern: try reader.number(UInt64.self))
        let signed = Array(bytes[..<reader.offset])
        guard signer.hasSigned(signed, try reader.take(SigningKey.signatureSize)), reader.rest == 0 else {
            throw ByteReader.Ended()
        }
    }
}

/// The heartbeat of a replicator: the newest point, and when that was known.
struct Head: Sendable, Hashable {
    static let magic: StaticString = "SRHEAD01"

    var lineage: Lineage.ID
    var position: UInt64
    var point: Digest
    var root: Digest
    /// Milliseconds since 1970.
    var time: Int64

    func signed(by key: SigningKey) throws -> [UInt8] {
        var writer = ByteWriter()
        writer.add(Self.magic)
        writer.add(lineage.bytes)
        writer.add(position)
        writer.add(point.bytes)
        writer.add(root.bytes)
        writer.add(time)
        return writer.bytes + (try key.sign(writer.bytes))
    }

    init(lineage: Lineage.ID, position: UInt64, point: Digest, root: Digest, time: Int64) {
        (self.lineage, self.position, self.point) = (lineage, position, point)
        (self.root, self.time) = (root, time)
    }

    init(_ bytes: [UInt8], signer: ReplicaSigner) throws {
        var reader = ByteReader(bytes)
        try reader.expect(Self.magic)
        lineage = Lineage.ID(bytes: try reader.take(Lineage.ID.size))
        position = try reader.number()
        point = Digest(try reader.take(Digest.size))!
        root = Digest(try reader.take(Digest.size))!
        time = Int64(bitPattern: try reader.number(UInt64.self))
        let signed = Array(bytes[..<reader.offset])
        guard signer.hasSigned(signed, try reader.take(SigningKey.signatureSize)), reader.rest == 0 else {
            throw ByteReader.Ended()
        }
    }
}
