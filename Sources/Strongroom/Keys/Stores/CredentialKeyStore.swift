import Foundation

/// Reads a key that systemd passes to a service: the file `$CREDENTIALS_DIRECTORY/NAME`.
///
/// The unit of the service says `LoadCredentialEncrypted=NAME`, or another of its kind (systemd.exec(5)); the
/// credential holds `x'<64 hexadecimal digits>'`. A service can't write its credentials: storing and removing fail, so
/// that a database is created only where the credential is there, and its key is changed by who makes the credential.
public struct CredentialKeyStore: KeyStore {
    public let name: String

    /// A credential of the service, by its name, without slashes.
    public init(name: String) {
        self.name = name
    }

    /// The current key. A credential knows no next one.
    public func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey {
        let path = try path
        guard entry == .current else { throw .absent }
        return try StoredText.key(SecretFile(path: path, readers: .group, followsLinks: true).stored(), in: path)
    }

    public func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError) {
        throw .failed("""
            credentials are read-only: make the key with systemd-creds, and pass it as \(name) to the service
            """)
    }

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
