import Foundation

/// A key store in a file that only its owner may read. The next key is in a file beside it, whose name ends in `-next`.
///
/// The file has mode 0600. It gets its name only when it is complete and on the disk. A file is refused if neither the
/// user of the process nor root owns it, if others may read or write it, or if it is a symbolic link. The folder must
/// exist: a missing folder may be one that is not mounted, so that it does not count as a store without a key.
///
/// The file contains one line of text, `x'<64 hexadecimal digits>'`, which any SQLCipher accepts as a key.
///
/// Each former key is in such a file, too, whose name ends in `-former-`, the seconds since 1970, and the identifier of
/// the key. The path of the database is in a file whose name ends in `-database`: one store has the key of one database
/// and of its copies.
public struct FileKeyStore: KeyStore {
    /// The path of the file.
    public let path: String

    /// Creates a store in a file. Keep the file on another disk than the database, or out of the database's backups: a
    /// person who has both can read the data.
    public init(path: String) {
        self.path = path
    }

    /// Returns the key in the file.
    public func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey { try load(at: path(entry)) }

    /// Writes the key into a new file.
    public func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError) {
        try create(path(entry), StoredText.spelling(key))
    }

    /// Removes the file. Does not remove a file that contains no key.
    public func remove(_ entry: KeyStoreEntry) throws(KeyStoreError) { try remove(at: path(entry)) }

    // MARK: Former keys

    /// Lists the files of former keys.
    public func formerKeys() throws(KeyStoreError) -> [FormerKey]? {
        let url = URL(fileURLWithPath: path), prefix = url.lastPathComponent + "-", names: [String]
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path)
        } catch {
            throw .failed("the folder of \(path) can't be read: \(error.localizedDescription)")
        }
        return names.compactMap { Substring($0).remainder(after: prefix).flatMap { FormerKey(name: String($0)) } }
    }

    /// Returns the key in the file of a former key.
    public func load(_ key: FormerKey) throws(KeyStoreError) -> DatabaseKey { try load(at: path(key)) }

    /// Writes a former key into a new file.
    public func store(_ key: DatabaseKey, as former: FormerKey) throws(KeyStoreError) {
        try create(path(former), StoredText.spelling(key))
    }

    /// Removes the file of a former key. Does not remove a file that contains no key.
    public func remove(_ key: FormerKey) throws(KeyStoreError) { try remove(at: path(key)) }

    // MARK: The database

    /// Returns the path in the file whose name ends in `-database`.
    public func databasePath() throws(KeyStoreError) -> String? {
        let text: SecretBytes
        do {
            text = try SecretFile(path: path + "-database", readers: .owner, followsLinks: false).stored()
        } catch .absent {
            return nil
        }
        return text.withBytes { String(decoding: $0, as: UTF8.self) }
    }

    /// Writes the path into the file whose name ends in `-database`.
    public func recordDatabasePath(_ path: String) throws(KeyStoreError) {
        let file = self.path + "-database", line = try StoredText.line(path)
        let error = NamedFile.remove(file)
        guard error == 0 || error == ENOENT else { throw .failed("\(file): \(SecretFile.Failure.words(error))") }
        try create(file, line)
    }

    // MARK: Files

    private func path(_ entry: KeyStoreEntry) -> String {
        entry == .current ? path : path + "-next"
    }

    private func path(_ key: FormerKey) -> String { path + "-" + key.name }

    private func load(at path: String) throws(KeyStoreError) -> DatabaseKey {
        try StoredText.key(SecretFile(path: path, readers: .owner, followsLinks: false).stored(), in: path)
    }

    private func create(_ path: String, _ text: SecretBytes) throws(KeyStoreError) {
        let error = text.withBytes { NamedFile.create(path, partial: path + "-partial", $0) }
        if error == EEXIST { throw .exists }
        guard error == 0 else { throw .failed("\(path) can't be written: \(SecretFile.Failure.words(error))") }
    }

    private func remove(at path: String) throws(KeyStoreError) {
        _ = try load(at: path)
        let error = NamedFile.remove(path)
        if error == ENOENT { throw .absent }
        guard error == 0 else { throw .failed("\(path) can't be removed: \(SecretFile.Failure.words(error))") }
    }
}

extension SecretFile {
    /// Returns the content of the file, with the errors of stores.
    func stored() throws(KeyStoreError) -> SecretBytes {
        do {
            return try read()
        } catch SecretFile.Failure.unreadable(ENOENT) where isFolderThere {
            throw .absent
        } catch SecretFile.Failure.exposed {
            throw .failed("\(path) can be read or written by others: chmod \(readers.mode) it")
        } catch {
            throw .failed("\(path) \((error as? SecretFile.Failure)?.words ?? "can't be read: there is no memory")")
        }
    }

    private var isFolderThere: Bool {
        let folder = NamedFile.folder(of: path)
        return NamedFile.size(folder) == -2
    }
}
