import Foundation

/// The description of a slot in a slot file, without the secret of the slot.
public struct KeySlot: Hashable, Sendable, Identifiable {
    /// The kind of a slot's secret.
    public typealias Kind = NewKeySlot.Kind

    /// The identifier: eight hexadecimal digits, unique in the file.
    public let id: String
    /// The label, which is only information for people.
    public let label: String
    /// The time when the slot got its secret, in whole seconds.
    public let created: Date
    /// The kind of the secret.
    public let kind: Kind
    /// The function that derives the key of the slot from the secret, and its cost.
    public let derivation: KeyDerivation

    /// A slot with its salt and the wrapped data key.
    struct Entry: Hashable {
        static let saltCount = 32

        let slot: KeySlot
        /// The salt, unique to the slot: a derivation tries a guess on one slot only.
        let salt: [UInt8]
        /// The data key, wrapped by AES-256 key wrap.
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
        let slot = KeySlot(id: id, label: new.label, created: seconds, kind: new.kind, derivation: new.derivation)
        try self.init(slot, secret: secret, dataKey: dataKey, deriver)
    }

    init(_ slot: KeySlot, secret: SecretBytes, dataKey: SecretBytes, _ deriver: KeySlotDeriver) throws {
        guard secret.count > 0 else { throw DatabaseError.emptyKey }
        var salt = [UInt8](repeating: 0, count: Self.saltCount)
        try salt.withUnsafeMutableBytes { try fillWithRandomBytes($0) }
        let wrapping = try deriver.key(slot.derivation, salt, secret)
        (self.slot, self.salt, wrapped) = (slot, salt, try wrapping.wrap(dataKey))
    }

    /// Returns the data key. Nil if the slot has another secret.
    func unlock(_ secret: SecretBytes, _ deriver: KeySlotDeriver) throws -> SecretBytes? {
        try deriver.key(slot.derivation, salt, secret).unwrap(wrapped)
    }
}

/// The derivations of the keys of slots. Each runs once, so that a new slot is unlocked without another derivation.
final class KeySlotDeriver: Sendable {
    private struct State {
        var derived: [(derivation: KeyDerivation, salt: [UInt8], secret: SecretBytes, key: SecretBytes)] = []
        var runs = 0
    }

    private let state = Mutex(State())

    /// The number of derivations that have run.
    var runCount: Int { state.withLock { $0.runs } }

    func key(_ derivation: KeyDerivation, _ salt: [UInt8], _ secret: SecretBytes) throws -> SecretBytes {
        try state.withLock { state in
            let known = state.derived.first {
                $0.derivation == derivation && $0.salt == salt && $0.secret.isEqual(to: secret)
            }
            if let known { return known.key }
            state.runs += 1
            let key = try derivation.key(from: secret, salt: salt)
            state.derived.append((derivation, salt, secret, key))
            return key
        }
    }
}
