/// The options for key slots at opening. See ``Encryption/keySlots``.
public struct KeySlotOptions: Sendable {
    /// The first slot of a database that is created. Nil, the default, creates a database without slots.
    public var creating: NewKeySlot?
    /// The identifier or the label of the slot that is tried first. The other slots are tried after it, each at the
    /// cost of a derivation. Nil, the default, tries all slots in their order.
    public var preferred: String?
    /// The lowest acceptable ``KeySlots/epoch`` of the slot file. Opening refuses an older copy with the reason
    /// ``DatabaseError/Reason/olderSlotFile``. Nil, the default, accepts any.
    public var leastEpoch: Int?

    /// Creates options. The default creates a database without slots, and accepts any slot file.
    public init(creating: NewKeySlot? = nil, preferred: String? = nil, leastEpoch: Int? = nil) {
        (self.creating, self.preferred, self.leastEpoch) = (creating, preferred, leastEpoch)
    }
}

/// The description of a slot to be added, without its secret.
public struct NewKeySlot: Hashable, Sendable {
    /// The kind of a slot's secret. Except for recovery codes, it is only information for people.
    public enum Kind: String, Hashable, Sendable, CaseIterable {
        case passphrase, keyFile, command, credential
        /// A code that ``KeySlots/addRecoveryCode(label:)`` returned.
        case recoveryCode
    }

    /// The label: 1 to 64 bytes of text without control characters.
    public var label: String
    /// The kind of the secret.
    public var kind: Kind
    /// The function that derives the key of the slot from the secret, and its cost.
    public var derivation: KeyDerivation

    /// Creates the description of a slot. Default: a passphrase with the standard derivation.
    public init(label: String, kind: Kind = .passphrase, derivation: KeyDerivation = .standard) {
        (self.label, self.kind, self.derivation) = (label, kind, derivation)
    }

    func validate() throws {
        guard NewKeySlot.isValid(label: label) else {
            throw DatabaseError(
                refusing: "the label of a key slot is not 1 to 64 bytes of text", advice: "use another label",
                reason: .unfitKeySlot)
        }
        guard (derivation == .hkdf) == (kind == .recoveryCode) else {
            throw DatabaseError(
                refusing: "a slot of the kind \(kind.rawValue) can't use the derivation \(derivation.name)",
                advice: "use KeyDerivation.standard", reason: .unfitKeySlot)
        }
        try derivation.validate()
    }

    /// Throws unless a slot with these properties can have the given secret.
    package func validateForGivenSecret() throws {
        guard kind != .recoveryCode else {
            throw DatabaseError(
                refusing: "a recovery code is made, not given", advice: "use addRecoveryCode(label:)",
                reason: .unfitKeySlot)
        }
        try validate()
    }

    static func isValid(label: String) -> Bool {
        (1...64).contains(label.utf8.count)
            && label.unicodeScalars.allSatisfy {
                ![.control, .format, .lineSeparator, .paragraphSeparator].contains($0.properties.generalCategory)
            }
    }
}
