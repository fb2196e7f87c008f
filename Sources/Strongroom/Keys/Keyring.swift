import Foundation

/// A derived key in SQLCipher's form, for one salt and cipher settings. Deriving it again would take a quarter of a
/// second.
final class DerivedKey: Sendable {
    let key: SecretBytes
    let salt: Salt
    let settings: CipherSettings

    init(key: SecretBytes, salt: Salt, settings: CipherSettings) {
        self.key = key
        self.salt = salt
        self.settings = settings
    }

    /// Calls `body` with the key specification `x'<64 hexadecimal digits><32 hexadecimal digits>'`.
    func withSpec<R>(_ body: (UnsafeRawBufferPointer) throws -> R) throws -> R {
        try KeySource.specification(key, salt).withBytes(body)
    }
}

/// The derived keys of a queue, or of a pool with its readers and snapshots. Each derivation runs once: a second thread
/// waits for the first one's result.
final class Keyring: Sendable {
    private struct State {
        var derivations: [Derivation] = []
        var replacements: [(old: [UInt8], new: DatabaseKey)] = []

        /// The derivations that are in no list: those of key slots, and of keys that were forgotten.
        var otherDerivationCount = 0
        var storedKey: StoredKey?

        var derivationCount: Int { derivations.reduce(otherDerivationCount) { $0 + $1.runCount } }

        func derivation(_ key: DatabaseKey, _ salt: Salt, _ settings: CipherSettings) -> Derivation? {
            derivations.first { $0.matches(key, salt, settings) }
        }
    }

    private let state = Mutex(State())

    /// Held while a key store is called.
    private let loading = Mutex(())

    // MARK: Derivation

    func derivedKey(for key: DatabaseKey, salt: Salt, settings: CipherSettings) throws -> DerivedKey {
        DerivedKey(key: try derivation(key, salt, settings).result(), salt: salt, settings: settings)
    }

    /// Returns the derived key if it is known already.
    func knownKey(for key: DatabaseKey, salt: Salt, settings: CipherSettings) -> DerivedKey? {
        let known = state.withLock { $0.derivation(key, salt, settings) }?.known
        return known.map { DerivedKey(key: $0, salt: salt, settings: settings) }
    }

    /// The number of derivations that have run, including those of key slots.
    var derivationCount: Int {
        state.withLock { $0.derivationCount }
    }

    /// Adds the derivations that opened key slots.
    func countDerivations(_ count: Int) {
        state.withLock { $0.otherDerivationCount += count }
    }

    private func derivation(_ key: DatabaseKey, _ salt: Salt, _ settings: CipherSettings) -> Derivation {
        state.withLock { state in
            if let known = state.derivation(key, salt, settings) { return known }
            let new = Derivation(key: key, salt: salt, settings: settings)
            state.derivations.append(new)
            return new
        }
    }

    // MARK: Rotation

    /// Replaces `old` by `new` for later connections: their configuration names the old key after a rotation, too.
    func replace(_ old: DatabaseKey, by new: DatabaseKey) {
        state.withLock { state in
            let oldest = old.source.identity
            state.replacements = state.replacements.filter { !isEqual($0.old, new.source.identity) }.map { entry in
                isEqual(entry.new.source.identity, oldest) ? (entry.old, new) : entry
            }
            state.replacements.removeAll { isEqual($0.old, oldest) }
            state.replacements.append((oldest, new))
            state.derivations.removeAll { isEqual($0.key.source.identity, oldest) }
        }
    }

    func current(_ key: DatabaseKey) -> DatabaseKey {
        replacement(of: key) ?? key
    }

    private func replacement(of key: DatabaseKey) -> DatabaseKey? {
        state.withLock { $0.replacements.first { isEqual($0.old, key.source.identity) }?.new }
    }

    // MARK: Locking

    /// Releases all keys. Later connections derive and load them again.
    func forget() {
        let former = state.withLock { state in
            state.otherDerivationCount = state.derivationCount
            defer { (state.derivations, state.replacements, state.storedKey) = ([], [], nil) }
            return (state.derivations, state.replacements)
        }
        withExtendedLifetime(former) {}
    }

    // MARK: Loading

    /// The key of a store that the connections use. Nil for a key that is not managed.
    var storedKey: StoredKey? {
        get { state.withLock { $0.storedKey } }
        set { state.withLock { $0.storedKey = newValue } }
    }

    /// Returns the key that `key` stands for. `load` is called once, unless it throws. Other threads wait for it.
    func current(_ key: DatabaseKey, loading load: () throws -> DatabaseKey) throws -> DatabaseKey {
        try loading.withLock { _ in
            if let known = replacement(of: key) { return known }
            let loaded = try load()
            replace(key, by: loaded)
            return loaded
        }
    }
}

/// Compares two identities in constant time. They are fingerprints under a key of this process.
private func isEqual(_ a: [UInt8], _ b: [UInt8]) -> Bool {
    a.count == b.count && SecretMemory.isEqual(a, b, count: a.count)
}

/// One derivation: the first caller runs it, and the others wait for its result.
private final class Derivation: Sendable {
    private struct State {
        var derived: SecretBytes?
        var runs = 0
    }

    let key: DatabaseKey
    private let salt: Salt
    private let settings: CipherSettings
    private let state = Mutex(State())

    var runCount: Int { state.withLock { $0.runs } }

    init(key: DatabaseKey, salt: Salt, settings: CipherSettings) {
        self.key = key
        self.salt = salt
        self.settings = settings
    }

    func matches(_ key: DatabaseKey, _ salt: Salt, _ settings: CipherSettings) -> Bool {
        // The page size has no influence on the key.
        self.salt == salt && self.settings.kdfIterations == settings.kdfIterations
            && self.settings.kdfAlgorithm == settings.kdfAlgorithm
            && isEqual(self.key.source.identity, key.source.identity)
    }

    var known: SecretBytes? { state.withLock { $0.derived } }

    func result() throws -> SecretBytes {
        try state.withLock { state in
            if let derived = state.derived { return derived }
            let derived = try bytes(&state.runs)
            state.derived = derived
            return derived
        }
    }

    private func bytes(_ runs: inout Int) throws -> SecretBytes {
        try key.source.withSecret { secret in
            if key.source.form == .raw { return secret }
            guard secret.count > 0 else { throw DatabaseError.emptyKey }
            if let spelled = try KeySource.specifiedKey(secret) { return try specifiedKey(spelled) }
            runs += 1
            return try pbkdf2(
                secret, salt: salt.bytes, rounds: settings.kdfIterations, algorithm: settings.kdfAlgorithm,
                count: KeySource.rawCount)
        }
    }
}

extension Derivation {
    /// Returns the raw key that a provider has spelled. Text that is given directly was parsed before.
    private func specifiedKey(_ spelled: (key: SecretBytes, salt: Salt?)) throws -> SecretBytes {
        guard spelled.salt == nil || spelled.salt == salt else {
            throw DatabaseError(
                refusing: "the salt of the raw key is not the database's", advice: "use DatabaseKey.rawKey(_:salt:)",
                reason: .wrongSalt)
        }
        return spelled.key
    }
}

func pbkdf2(
    _ secret: SecretBytes, salt: [UInt8], rounds: Int, algorithm: CipherSettings.Algorithm,
    count: Int
) throws -> SecretBytes {
    try SecretBytes(count: count) { out in
        let result = secret.withBytes { bytes in
            Provider.pbkdf2(algorithm.digest, bytes, salt: salt, rounds: rounds, into: out)
        }
        guard result == 0 else {
            throw DatabaseError(
                .SQLITE_ERROR,
                message: "the cryptographic provider refused PBKDF2 with \(algorithm.spelling)")
        }
    }
}

extension CipherSettings.Algorithm {
    var digest: Provider.Digest {
        switch self {
        case .sha1: .sha1
        case .sha256: .sha256
        case .sha512: .sha512
        }
    }
}
