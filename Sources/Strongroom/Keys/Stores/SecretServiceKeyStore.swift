import Foundation

/// Keeps a key in the keyring of the desktop (GNOME Keyring, KWallet, KeePassXC), by libsecret's `secret-tool`.
///
/// The item has the attributes `service`, `account` and `strongroom-key`, which is `current` or `next`. The key is
/// text, because not every keyring takes bytes, and goes through pipes only.
///
/// `secret-tool lookup` answers alike where there is no item and where the keyring is locked. So a failed look-up is
/// followed by `secret-tool search`, which shows items of a locked keyring without their secrets. A keyring that hides
/// its items as long as it is locked looks empty to both; before a key is stored, an item without a secret is, which
/// unlocks the keyring or fails, and then the look-up is done again.
public struct SecretServiceKeyStore: KeyStore {
    public let service: String
    public let account: String
    /// Seconds that one call of `secret-tool` may take. It may ask the user to unlock the keyring.
    public let timeout: Double
    /// The program, for tests.
    var program = "secret-tool"

    /// A store in the default keyring.
    ///
    /// - parameter service: the name of the program, which users see in their keyring.
    /// - parameter account: which of its databases the key belongs to.
    public init(service: String, account: String, timeout: Double = 60) {
        (self.service, self.account, self.timeout) = (service, account, timeout)
    }

    public func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey {
        let found = try run(["lookup"] + attributes(entry.rawValue), capacity: StoredText.capacity)
        if found.status == 0 { return try StoredText.key(found.output, in: "the keyring item of \(service)") }
        let search = try run(["search", "--all"] + attributes(entry.rawValue), capacity: 65_536)
        guard search.status == 0 else { throw failure("search", search) }
        guard search.output.count == 0 else { throw .locked("the keyring does not show the key of \(service)") }
        throw .absent
    }

    public func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError) {
        let text = try StoredText.spelling(key)
        try unlock()
        do {
            _ = try load(entry)
        } catch .absent {
            return try keep(text, entry.rawValue)
        }
        throw .exists
    }

    public func remove(_ entry: KeyStoreEntry) throws(KeyStoreError) {
        _ = try load(entry)
        try clear(entry.rawValue)
    }

    private func unlock() throws(KeyStoreError) {
        let mark: SecretBytes
        do { mark = try SecretBytes(copying: "unlocked".utf8) } catch { throw .failed("there is no memory") }
        try keep(mark, "unlocking")
        try clear("unlocking")
    }

    private func keep(_ text: SecretBytes, _ name: String) throws(KeyStoreError) {
        let end = try run(["store", "--label=\(service) (\(account))"] + attributes(name), input: text, capacity: 0)
        guard end.status == 0 else { throw failure("store", end) }
    }

    private func clear(_ name: String) throws(KeyStoreError) {
        let end = try run(["clear"] + attributes(name), capacity: 0)
        guard end.status == 0 else { throw failure("clear", end) }
    }

    private func attributes(_ name: String) -> [String] {
        ["service", service, "account", account, "strongroom-key", name]
    }

    private func run(
        _ arguments: [String], input: SecretBytes? = nil, capacity: Int) throws(KeyStoreError) -> StoreProgram.End
    {
        try StoreProgram(arguments: [program] + arguments, timeout: timeout).run(input: input, capacity: capacity)
    }

    private func failure(_ verb: String, _ end: StoreProgram.End) -> KeyStoreError {
        .failed("\(program) \(verb) ended with \(end.words): is there a session bus and a keyring, and is it unlocked?")
    }
}
