import ArgumentParser
import Strongroom

/// The options for the derivation of a key slot.
struct SlotDerivationOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            The derivation of the slot: scrypt, argon2id where libcrypto has it, or pbkdf2. Default: scrypt.
            """, valueName: "name"))
    var derivation: Algorithm?

    @Option(
        help: ArgumentHelp(
            """
            The cost of the derivation: the logarithm of the number of blocks for scrypt, the passes for argon2id, the \
            rounds for pbkdf2. Default: 17, 3 and 600000.
            """, valueName: "n"))
    var cost: Int?

    enum Algorithm: String, ExpressibleByArgument, CaseIterable {
        case scrypt, argon2id, pbkdf2
    }

    /// The derivation that the options give; nil without one.
    var given: KeyDerivation? { derivation == nil && cost == nil ? nil : chosen }

    var chosen: KeyDerivation {
        switch (derivation, KeyDerivation.standard) {
        case (nil, .pbkdf2), (.pbkdf2, _): .pbkdf2(rounds: cost ?? 600_000)
        case (nil, _), (.scrypt, _): .scrypt(logN: cost ?? 17, r: 8, p: 1)
        case (.argon2id, _): .argon2id(memory: 65_536, passes: cost ?? 3, lanes: 4)
        }
    }
}

/// The options for a new key slot.
struct SlotOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The label of the slot. Default: its kind.", valueName: "text"))
    var label: String?

    @OptionGroup(title: "Slot options") var options: SlotDerivationOptions

    /// True if an option gives something of a slot.
    var isGiven: Bool { label != nil || options.given != nil }

    /// - parameter isCreating: true if the command makes a slot.
    func validate(besides isCreating: Bool) throws {
        guard isCreating || !isGiven else { throw ValidationError("--label, --derivation and --cost go with --slots.") }
    }

    /// Returns the slot for a secret that comes from `source`.
    ///
    /// - parameter file: the database, for the message.
    func slot(_ source: SecretSource, _ secret: GivenSecret, of file: String) throws -> NewKeySlot {
        guard !secret.isUsedAsKey else {
            throw Failure(
                .other, file: file, "a raw key can't be the secret of a slot; nothing was changed",
                remedy: "Give a passphrase, or leave out --slots")
        }
        let kind = source.slotKind(of: secret)
        return NewKeySlot(label: label ?? kind.rawValue, kind: kind, derivation: options.chosen)
    }

    func recoveryLabel() -> String { label ?? "recovery code" }
}

extension SecretSource {
    /// Returns the kind of a slot for a secret from this source. The place where a passphrase is kept makes it nothing
    /// else; bytes that can't be typed are those of a file.
    func slotKind(of secret: GivenSecret) -> KeySlot.Kind {
        switch self {
        case .credential: .credential
        case .file, .rawKeyFile: secret.isText ? .passphrase : .keyFile
        case .command, .descriptor, .environment, .terminal: .passphrase
        }
    }
}
