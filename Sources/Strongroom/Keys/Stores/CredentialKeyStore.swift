import Foundation

/// A key store that reads a credential of a systemd service: the file `$CREDENTIALS_DIRECTORY/NAME`.
///
/// The unit of the service contains `LoadCredentialEncrypted=NAME` or a similar setting (systemd.exec(5)). The
/// credential is the text `x'<64 hexadecimal digits>'`. A service can't write its credentials, so storing and removing
/// fail: a database is only created if the credential exists, and the administrator changes the key.
public struct CredentialKeyStore: KeyStore {
    /// The name of the credential.
    public let name: String

    /// Creates a store for the credential with a name, which contains no slash.
    public init(name: String) {
        self.name = name
    }

    /// Returns the current key. A credential has no next key.
    public func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey {
        let path = try path
        guard entry == .current else { throw .absent }
        return try StoredText.key(SecretFile(path: path, readers: .group, followsLinks: true).stored(), in: path)
    }

    /// Throws ``KeyStoreError/failed(_:)``: credentials are read-only.
    public func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError) {
        throw .failed("""
            credentials are read-only: make the key with systemd-creds, and pass it as \(name) to the service
            """)
    }

    /// Throws ``KeyStoreError/failed(_:)``: credentials are read-only.
    public func remove(_ entry: KeyStoreEntry) throws(KeyStoreError) {
        throw .failed("credentials are read-only: take \(name) out of the unit of the service")
    }

    private var path: String {
        get throws(KeyStoreError) {
            guard !name.isEmpty, !name.contains("/"), name != ".", name != ".." else {
                throw .failed("\"\(name)\" is not the name of a credential")
            }
            guard let folder = getenv("CREDENTIALS_DIRECTORY") else {
                throw .failed("""
                    CREDENTIALS_DIRECTORY is not set: run this from a systemd service with LoadCredential=\(name)
                    """)
            }
            return String(cString: folder) + "/" + name
        }
    }
}
