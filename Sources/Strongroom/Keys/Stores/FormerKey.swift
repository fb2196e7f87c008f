import Foundation

/// A former key of a database, which a rotation has replaced. It opens the copies that were made before.
///
/// The value contains no secret: ``KeyStore/load(_:)-(FormerKey)`` returns the key.
public struct FormerKey: Hashable, Sendable {
    /// The public identifier of the key: ``DatabaseKey/identifier``.
    public let identifier: String
    /// The time of the rotation, in whole seconds.
    public let date: Date

    init(identifier: String, date: Date) {
        self.identifier = identifier
        self.date = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
    }

    /// Creates a former key from its ``name``. Nil for any other text.
    public init?(name: String) {
        let parts = name.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0] == "former", parts[1].count <= 12, let seconds = Int64(parts[1]), seconds >= 0,
            parts[2].count == 2 * Self.identifierCount, parts[2].utf8.allSatisfy({ nibble(hexDigit: $0) != nil })
        else { return nil }
        self.init(identifier: String(parts[2]), date: Date(timeIntervalSince1970: Double(seconds)))
    }

    /// A name for the entry of the key in a store: `former-`, the seconds since 1970, `-`, and the identifier.
    public var name: String { "former-\(Int64(min(max(date.timeIntervalSince1970, 0), 1e11)))-\(identifier)" }

    /// The number of bytes of an identifier.
    fileprivate static let identifierCount = 16
}

/// The former keys that a store keeps after a rotation.
public struct FormerKeys: Hashable, Sendable {
    /// True if the rotation keeps the key that it replaces.
    let isKeeping: Bool
    /// The number of seconds after which a rotation removes former keys. Nil for never.
    let period: TimeInterval?

    /// Keep all, until the program removes them.
    public static let keep = FormerKeys(isKeeping: true, period: nil)

    /// Keep each for a number of seconds after the rotation that replaced it. The first rotation after that removes it.
    public static func keep(for seconds: TimeInterval) -> FormerKeys { FormerKeys(isKeeping: true, period: seconds) }

    /// Do not keep the key that the rotation replaces: nothing opens the copies that were made before. Keys that
    /// earlier rotations have kept stay.
    public static let discard = FormerKeys(isKeeping: false, period: nil)
}

/// The key of a store that opened a database.
public enum StoredKey: Hashable, Sendable {
    /// The current key.
    case current
    /// The next key: a rotation was killed before this key became the current one.
    case next
    /// A former key: the database is a copy from before a rotation.
    case former(FormerKey)
}

extension DatabaseKey {
    /// A public identifier of a raw key, 32 hexadecimal digits: the start of HMAC-SHA-256 of a constant under the key.
    /// Equal keys have equal identifiers, and the key can't be derived from it. Nil for a passphrase, which could be
    /// guessed.
    ///
    /// For a managed key, this is the identifier of the store's current key.
    ///
    /// - throws: the errors of the store, ``KeyStoreError``.
    public var identifier: String? {
        get throws {
            try source.withSecret { secret in
                guard source.form == .raw else { return nil }
                var digest = [UInt8](repeating: 0, count: 32)
                let label = Array("Strongroom key identifier 1".utf8)
                let result = secret.withBytes { Provider.hmac(.sha256, key: $0, label, into: &digest) }
                guard result == 0 else {
                    throw DatabaseError(.SQLITE_ERROR, message: "the cryptographic provider refused HMAC-SHA-256")
                }
                let digits = digest.prefix(FormerKey.identifierCount).flatMap {
                    [hexDigit($0 >> 4), hexDigit($0 & 15)]
                }
                return String(decoding: digits, as: UTF8.self)
            }
        }
    }
}
