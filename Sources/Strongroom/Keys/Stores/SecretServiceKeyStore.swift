import Foundation

/// A key store in the desktop's keyring (GNOME Keyring, KWallet, KeePassXC), by libsecret's `secret-tool`.
///
/// The item has the attributes `service`, `account` and `strongroom-key`, which is `current`, `next`, or the name of a
/// former key. The key is text, because not every keyring accepts bytes. It only passes through pipes. The names of the
/// former keys are in an item of their own, because `secret-tool` does not show attributes everywhere. So is the path
/// of the database, with the attribute `database`.
///
/// `secret-tool lookup` does not distinguish a missing item from a locked keyring. So `secret-tool search` follows a
/// failed look-up: it lists the items of a locked keyring without their secrets. A keyring that hides its items while
/// it is locked appears empty to both. Therefore, before a key is stored, the store stores an item without a secret,
/// which unlocks the keyring or fails, and repeats the look-up.
public struct SecretServiceKeyStore: KeyStore {
    /// The name of the program, which users see in their keyring.
    public let service: String
    /// The name of the database among those of the program.
    public let account: String
    /// The time limit of one call of `secret-tool` in seconds. Default: 60. The call may ask the user to unlock the
    /// keyring.
    public let timeout: Double
    /// The program, for tests.
    var program = "secret-tool"

    /// Creates a store in the default keyring.
    ///
    /// - parameters:
    ///   - service: the name of the program, which users see in their keyring.
    ///   - account: the name of the database among those of the program.
    ///   - timeout: the time limit of one call in seconds. Default: 60.
    public init(service: String, account: String, timeout: Double = 60) {
        (self.service, self.account, self.timeout) = (service, account, timeout)
    }

    /// Looks up the item of a key.
    public func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey { try loadKey(entry.rawValue) }

    /// Stores a key as a new item.
    public func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError) {
        try storeNew(key, entry.rawValue)
    }

    /// Removes the item of a key.
    public func remove(_ entry: KeyStoreEntry) throws(KeyStoreError) {
        _ = try load(entry)
        try clear(entry.rawValue)
    }

    // MARK: Former keys

    /// Looks up the item with the names of the former keys.
    public func formerKeys() throws(KeyStoreError) -> [FormerKey]? {
        do {
            return try FormerKey.all(in: lookUp(Self.listName, capacity: FormerKey.listCapacity))
        } catch .absent {
            return []
        }
    }

    /// Looks up the item of a former key.
    public func load(_ key: FormerKey) throws(KeyStoreError) -> DatabaseKey { try loadKey(key.name) }

    /// Stores a former key as a new item, and then its name.
    public func store(_ key: DatabaseKey, as former: FormerKey) throws(KeyStoreError) {
        try storeNew(key, former.name)
        try keepList((formerKeys() ?? []).filter { $0 != former } + [former])
    }

    /// Removes the name of a former key, and then its item.
    public func remove(_ key: FormerKey) throws(KeyStoreError) {
        _ = try load(key)
        try keepList((formerKeys() ?? []).filter { $0 != key })
        try clear(key.name)
    }

    // MARK: The database

    /// Looks up the item with the path.
    public func databasePath() throws(KeyStoreError) -> String? {
        do {
            return try StoredText.path(lookUp(Self.databaseName, capacity: StoredText.pathCapacity))
        } catch .absent {
            return nil
        }
    }

    /// Stores the path as an item of its own, and replaces a former one.
    public func recordDatabasePath(_ path: String) throws(KeyStoreError) {
        try keep(StoredText.line(path), Self.databaseName)
    }

    private static let databaseName = "database"

    private static let listName = "former"

    private func keepList(_ keys: [FormerKey]) throws(KeyStoreError) {
        let text: SecretBytes
        do { text = try SecretBytes(copying: keys.map { $0.name + "\n" }.joined().utf8) } catch {
            throw .failed("there is no memory")
        }
        guard text.count > 0 else { return try clear(Self.listName) }
        try keep(text, Self.listName)
    }

    // MARK: Items

    private func loadKey(_ name: String) throws(KeyStoreError) -> DatabaseKey {
        try StoredText.key(lookUp(name, capacity: StoredText.capacity), in: "the keyring item of \(service)")
    }

    private func lookUp(_ name: String, capacity: Int) throws(KeyStoreError) -> SecretBytes {
        let found = try run(["lookup"] + attributes(name), capacity: capacity)
        if found.status == 0 { return try found.output.get() }
        let search = try run(["search", "--all"] + attributes(name))
        guard search.status == 0 else { throw failure("search", search) }
        // Whatever it writes tells of an item.
        guard case .success(let items) = search.output, items.count == 0 else {
            throw .locked("the keyring does not show the key of \(service)")
        }
        throw .absent
    }

    private func storeNew(_ key: DatabaseKey, _ name: String) throws(KeyStoreError) {
        let text = try StoredText.spelling(key)
        try unlock()
        do {
            _ = try loadKey(name)
        } catch .absent {
            return try keep(text, name)
        }
        throw .exists
    }

    private func unlock() throws(KeyStoreError) {
        let mark: SecretBytes
        do { mark = try SecretBytes(copying: "unlocked".utf8) } catch { throw .failed("there is no memory") }
        try keep(mark, "unlocking")
        try clear("unlocking")
    }

    private func keep(_ text: SecretBytes, _ name: String) throws(KeyStoreError) {
        let end = try run(["store", "--label=\(service) (\(account))"] + attributes(name), input: text)
        guard end.status == 0 else { throw failure("store", end) }
    }

    private func clear(_ name: String) throws(KeyStoreError) {
        let end = try run(["clear"] + attributes(name))
        guard end.status == 0 else { throw failure("clear", end) }
    }

    private func attributes(_ name: String) -> [String] {
        ["service", service, "account", account, "strongroom-key", name]
    }

    private func run(
        _ arguments: [String], input: SecretBytes? = nil, capacity: Int = StoredText.capacity
    ) throws(KeyStoreError) -> StoreProgram.End {
        try StoreProgram(arguments: [program] + arguments, timeout: timeout).run(input: input, capacity: capacity)
    }

    private func failure(_ verb: String, _ end: StoreProgram.End) -> KeyStoreError {
        .failed("\(program) \(verb) ended with \(end.words): is there a session bus and a keyring, and is it unlocked?")
    }
}
