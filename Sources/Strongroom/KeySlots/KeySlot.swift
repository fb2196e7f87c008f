import Foundation

/// A slot of a key file, as everybody sees it: one of the secrets that open the database. Nothing of it is secret.
public struct KeySlot: Hashable, Sendable, Identifiable {
    public typealias Kind = NewKeySlot.Kind

    /// Eight hexadecimal digits, different in each slot of a file.
    public let id: String
    /// For people.
    public let label: String
    /// When the slot got its secret, in whole seconds.
    public let created: Date
    public let kind: Kind
    public let derivation: KeyDerivation

    /// The same slot, with what it keeps.
    struct Entry: Hashable {
        static let saltCount = 32

        let slot: KeySlot
        /// Different in each slot: one derivation tries a guess on one slot.
        let salt: [UInt8]
        /// The data key, by AES-256 key wrap.
        let wrapped: [UInt8]
    }
}

extension NewKeySlot {
    init(of slot: KeySlot) { self.init(label: slot.label, kind: slot.kind, derivation: slot.derivation) }
}

// MARK: - Wrapping

extension KeySlot.Entry {
    /// Wraps the data key with a key that is derived from `secret`, with a fresh salt.
    init(
        _ new: NewKeySlot, id: String, secret: SecretBytes, dataKey: SecretBytes, _ deriver: KeySlotDeriver
    ) throws {
        try new.validate()
        let seconds = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
        let slot = KeySlot(
            id: id, label: new.label, created: seconds, kind: new.kind, derivation: new.derivation)
        try self.init(slot, secret: secret, dataKey: dataKey, deriver)
    }

    init(_ slot: KeySlot, secret: SecretBytes, dataKey: SecretBytes, _ deriver: KeySlotDeriver) throws {
        guard secret.count > 0 else { throw DatabaseError.emptyKey }
        var salt = [UInt8](repeating: 0, count: Self.saltCount)
        try salt.withUnsafeMutableBytes { try fillWithRandomBytes($0) }
        let wrapping = try deriver.key(slot.derivation, salt, secret)
        (self.slot, self.salt, wrapped) = (slot, salt, try wrapping.wrap(dataKey))
    }

    /// The data key; nil where the slot is another secret's.
    func unlock(_ secret: SecretBytes, _ deriver: KeySlotDeriver) throws -> SecretBytes? {
        try deriver.key(slot.derivation, salt, secret).unwrap(wrapped)
    }
}

/// Derives the keys of slots, each once: what was just written is unlocked without deriving again, if the file says the
/// same.
///
/// Unchecked: `lock` guards every variable.
final class KeySlotDeriver: @unchecked Sendable {
    private let lock = NSLock()
    private var derived: [(derivation: KeyDerivation, salt: [UInt8], secret: SecretBytes, key: SecretBytes)] = []
    private var runs = 0

    /// How many derivations have run.
    var runCount: Int { lock.withLock { runs } }

    func key(_ derivation: KeyDerivation, _ salt: [UInt8], _ secret: SecretBytes) throws -> SecretBytes {
        try lock.withLock {
            let known = derived.first {
                $0.derivation == derivation && $0.salt == salt && $0.secret.isEqual(to: secret)
            }
            if let known { return known.key }
            runs += 1
            let key = try derivation.key(from: secret, salt: salt)
            derived.append((derivation, salt, secret, key))
            return key
        }
    }
}
