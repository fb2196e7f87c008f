#if canImport(Security)
import Foundation
import Security

/// A key store in the keychain of Apple's platforms. The keys are generic passwords that stay on the device. A program
/// can read them after the user has unlocked the device once since its start.
///
/// This store has never been run: the project is built and tested on Linux. Test it before you rely on it.
public struct KeychainKeyStore: KeyStore {
    /// The service that the items belong to, such as the bundle identifier of the program.
    public let service: String
    /// The account of the current key. The next key has this account with `-next` at its end, and a former one with `-`
    /// and its ``FormerKey/name``.
    public let account: String
    /// The keychain access group that several programs of one vendor share. Nil for the program's own.
    public let accessGroup: String?

    /// Creates a store. Does not read the keychain until a key is loaded.
    public init(service: String, account: String, accessGroup: String? = nil) {
        (self.service, self.account, self.accessGroup) = (service, account, accessGroup)
    }

    /// Returns the key of an entry. See ``KeyStore/load(_:)-(KeyStoreEntry)``.
    public func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey { try load(account(entry)) }

    /// Adds a key. Does not replace one. See ``KeyStore/store(_:as:)-(_,KeyStoreEntry)``.
    public func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError) {
        try add(key, account(entry))
    }

    /// Removes the key of an entry. See ``KeyStore/remove(_:)-(KeyStoreEntry)``.
    public func remove(_ entry: KeyStoreEntry) throws(KeyStoreError) {
        try check(SecItemDelete(query(account(entry)) as CFDictionary))
    }

    // MARK: Former keys

    /// Lists the accounts of the service.
    public func formerKeys() throws(KeyStoreError) -> [FormerKey]? {
        var query = query(nil), result: CFTypeRef?
        query[kSecReturnAttributes] = true
        query[kSecMatchLimit] = kSecMatchLimitAll
        do { try check(SecItemCopyMatching(query as CFDictionary, &result)) } catch .absent { return [] }
        guard let items = result as? [[CFString: Any]] else { throw .failed("the keychain lists no items") }
        let accounts = items.compactMap { $0[kSecAttrAccount] as? String }
        return accounts.compactMap {
            Substring($0).remainder(after: account + "-").flatMap { FormerKey(name: String($0)) }
        }
    }

    /// Returns a former key.
    public func load(_ key: FormerKey) throws(KeyStoreError) -> DatabaseKey { try load(account + "-" + key.name) }

    /// Adds a former key.
    public func store(_ key: DatabaseKey, as former: FormerKey) throws(KeyStoreError) {
        try add(key, account + "-" + former.name)
    }

    /// Removes a former key.
    public func remove(_ key: FormerKey) throws(KeyStoreError) {
        try check(SecItemDelete(query(account + "-" + key.name) as CFDictionary))
    }

    // MARK: The database

    /// Returns the path in the item whose account ends in `-database`.
    public func databasePath() throws(KeyStoreError) -> String? {
        do { return try StoredText.path(text(account + "-database")) } catch .absent { return nil }
    }

    /// Replaces the item whose account ends in `-database`.
    public func recordDatabasePath(_ path: String) throws(KeyStoreError) {
        do { try check(SecItemDelete(query(account + "-database") as CFDictionary)) } catch .absent {}
        try add(StoredText.line(path), account + "-database")
    }

    // MARK: Items

    private func account(_ entry: KeyStoreEntry) -> String { entry == .current ? account : account + "-next" }

    private func load(_ account: String) throws(KeyStoreError) -> DatabaseKey {
        try StoredText.key(text(account), in: "the keychain item of \(service)")
    }

    private func text(_ account: String) throws(KeyStoreError) -> SecretBytes {
        var query = query(account), result: CFTypeRef?
        query[kSecReturnData] = true
        query[kSecMatchLimit] = kSecMatchLimitOne
        try check(SecItemCopyMatching(query as CFDictionary, &result))
        guard let data = result as? Data, let text = try? SecretBytes(copying: data) else {
            throw .failed("the keychain item of \(service) has no data")
        }
        return text
    }

    private func add(_ key: DatabaseKey, _ account: String) throws(KeyStoreError) {
        try add(StoredText.spelling(key), account)
    }

    private func add(_ text: SecretBytes, _ account: String) throws(KeyStoreError) {
        var query = query(account)
        query[kSecValueData] = text.withBytes { Data($0) }
        query[kSecAttrAccessible] = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly
        try check(SecItemAdd(query as CFDictionary, nil))
    }

    private func query(_ account: String?) -> [CFString: Any] {
        var query: [CFString: Any] = [kSecClass: kSecClassGenericPassword, kSecAttrService: service]
        if let account { query[kSecAttrAccount] = account }
        query[kSecAttrAccessGroup] = accessGroup
        return query
    }

    private func check(_ status: OSStatus) throws(KeyStoreError) {
        switch status {
        case errSecSuccess: return
        case errSecItemNotFound: throw .absent
        case errSecDuplicateItem: throw .exists
        case errSecInteractionNotAllowed: throw .locked("the device is locked, or the user can't be asked to unlock it")
        default: throw .failed(SecCopyErrorMessageString(status, nil) as String? ?? "the keychain answers \(status)")
        }
    }
}
#endif
