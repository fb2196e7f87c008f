import Foundation

/// A key store that reads a credential of a systemd service: the file `$CREDENTIALS_DIRECTORY/NAME`.
///
/// The unit of the service contains `LoadCredentialEncrypted=NAME` or a similar setting (systemd.exec(5)). The
/// credential is the text `x'<64 hexadecimal digits>'`. A service can't write its credentials, so storing and removing
/// fail: a database is only created if the credential exists, and the administrator changes the key. Former keys, for
/// copies, are credentials with the name, `-`, and the ``FormerKey/name`` of the key.
public struct CredentialKeyStore: KeyStore {
    /// The name of the credential.
    public let name: String

    /// Creates a store for the credential with a name, which contains no slash.
    public init(name: String) {
        self.name = name
    }

    /// Returns the current key. Throws ``KeyStoreError/absent`` for the next key, which a credential can't be.
    public func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey {
        let path = try path
        guard entry == .current else { throw .absent }
        return try load(at: path)
    }

    /// Lists the credentials of former keys.
    public func formerKeys() throws(KeyStoreError) -> [FormerKey]? {
        let folder = try folder, names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: folder) } catch {
            throw .failed("\(folder) can't be read: \(error.localizedDescription)")
        }
        return names.compactMap { Substring($0).remainder(after: name + "-").flatMap { FormerKey(name: String($0)) } }
    }

    /// Returns the credential of a former key.
    public func load(_ key: FormerKey) throws(KeyStoreError) -> DatabaseKey { try load(at: path + "-" + key.name) }

    /// Throws ``KeyStoreError/failed(_:)``: credentials are read-only.
    public func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError) {
        throw .failed(
            """
            credentials are read-only: make the key with systemd-creds, and pass it as \(name) to the service
            """)
    }

    /// Throws ``KeyStoreError/failed(_:)``: credentials are read-only.
    public func remove(_ entry: KeyStoreEntry) throws(KeyStoreError) {
        throw .failed("credentials are read-only: take \(name) out of the unit of the service")
    }

    private func load(at path: String) throws(KeyStoreError) -> DatabaseKey {
        try StoredText.key(SecretFile(path: path, readers: .group, followsLinks: true).stored(), in: path)
    }

    private var path: String {
        get throws(KeyStoreError) {
            guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: "/")), name != ".", name != ".." else {
                throw .failed("\"\(name)\" is not the name of a credential")
            }
            return try folder + "/" + name
        }
    }

    private var folder: String {
        get throws(KeyStoreError) {
            guard let folder = getenv("CREDENTIALS_DIRECTORY") else {
                throw .failed(
                    """
                    CREDENTIALS_DIRECTORY is not set: run this from a systemd service with LoadCredential=\(name)
                    """)
            }
            return String(cString: folder)
        }
    }
}
