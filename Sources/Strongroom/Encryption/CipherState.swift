/// What a connection knows of its own encryption.
final class CipherState {
    /// What opens the main database; nil for clear text.
    var key: DatabaseKey?
    /// What SQLCipher was given; nil until the key is settled, in memory, and for clear text.
    var derived: DerivedKey?
    /// Bytes of the file that aren't encrypted.
    var header = 0
    /// The salt is with the caller, not beside the file.
    var isSaltProvided = false

    /// The file was empty, and the salt for its creation stands beside it, until the first commit.
    var isCreating = false

    /// The passphrase was given and its derivation put off: statements like `PRAGMA kdf_iter` may still say how.
    var isPending = false
    /// Names of the pragmas that said so.
    var setUpPragmas: Set<String> = []

    /// The key of a `PRAGMA key` that is being compiled.
    var keyInSQL: DatabaseKey?

    /// Whether temporary data may come from encrypted pages, of the main database or of an attached one.
    var keepsTemporaryDataInMemory = false

    /// Shared with the other connections of the access.
    var keyring = Keyring()

    var isKeyed: Bool { key != nil || derived != nil }
}
