import Foundation
@testable import Strongroom

extension KeyDerivation {
    /// The cheapest that is allowed: where the derivation is not the subject.
    static let cheap = KeyDerivation.scrypt(logN: 14, r: 8, p: 1)
}

extension Configuration {
    /// Opens by the slot of this passphrase.
    static func slots(_ passphrase: String, creating: Bool = false) -> Configuration {
        var configuration = Configuration()
        configuration.encryption = Encryption(key: .passphrase(passphrase))
        if creating {
            configuration.encryption?.keySlots.creating = NewKeySlot(label: passphrase, derivation: .cheap)
        }
        return configuration
    }
}
