import ArgumentParser
import Strongroom

/// What a new key slot is like.
struct SlotOptions: ParsableArguments {
    @Option(help: ArgumentHelp("What the slot is called, for people (default: its kind).", valueName: "text"))
    var label: String?

    @Option(help: ArgumentHelp("""
        How the key of the slot is derived: scrypt (the default), argon2id where libcrypto has it, or pbkdf2.
        """, valueName: "name"))
    var derivation: Algorithm?

    @Option(help: ArgumentHelp("""
        What the derivation costs: for scrypt the logarithm of its blocks (default 17), for argon2id its passes \
        (default 3), for pbkdf2 its rounds (default 600000).
        """, valueName: "n"))
    var cost: Int?

    enum Algorithm: String, ExpressibleByArgument, CaseIterable {
        case scrypt, argon2id, pbkdf2
    }

    var isGiven: Bool { label != nil || derivation != nil || cost != nil }

    /// Nil where no option says it.
    var given: KeyDerivation? { derivation == nil && cost == nil ? nil : chosen }

    private var chosen: KeyDerivation {
        switch (derivation, KeyDerivation.standard) {
        case (nil, .pbkdf2), (.pbkdf2, _): .pbkdf2(rounds: cost ?? 600_000)
        case (nil, _), (.scrypt, _): .scrypt(logN: cost ?? 17, r: 8, p: 1)
        case (.argon2id, _): .argon2id(memory: 65_536, passes: cost ?? 3, lanes: 4)
        }
    }

    /// The slot for a secret that comes from `source`.
    func slot(_ source: SecretSource) -> NewKeySlot {
        NewKeySlot(label: label ?? source.slotKind.rawValue, kind: source.slotKind, derivation: chosen)
    }

    func recoveryLabel() -> String { label ?? "recovery code" }
}

extension SecretSource {
    var slotKind: KeySlot.Kind {
        switch self {
        case .file, .rawKeyFile: .keyFile
        case .command: .command
        case .credential: .credential
        case .descriptor, .environment, .terminal: .passphrase
        }
    }
}
