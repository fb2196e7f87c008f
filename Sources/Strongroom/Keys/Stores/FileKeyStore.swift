import CStrongroom
import Foundation

/// A key store in a file that only its owner may read. The next key is in a file beside it, whose name ends in `-next`.
///
/// The file has mode 0600. It gets its name only when it is complete and on the disk. A file is refused if another user
/// than root owns it, if others may read or write it, or if it is a symbolic link. The folder must exist: a missing
/// folder may be one that is not mounted, so that it does not count as a store without a key.
///
/// The file contains one line of text, `x'<64 hexadecimal digits>'`, which any SQLCipher accepts as a key.
public struct FileKeyStore: KeyStore {
    /// The path of the file.
    public let path: String

    /// Creates a store in a file. Keep it on another disk than the database, or out of the database's backups: the
    /// two together give access to the data.
    public init(path: String) {
        self.path = path
    }

    /// Returns the key in the file.
    public func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey {
        let file = SecretFile(path: path(entry), readers: .owner, followsLinks: false)
        return try StoredText.key(file.stored(), in: path(entry))
    }

    /// Writes the key into a new file.
    public func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError) {
        let text = try StoredText.spelling(key), path = path(entry)
        let error = text.withBytes { strongroom_file_create(path, path + "-partial", $0.baseAddress, $0.count) }
        if error == EEXIST { throw .exists }
        guard error == 0 else { throw .failed("\(path) can't be written: \(SecretFile.Failure.words(error))") }
    }

    /// Removes the file. Does not remove a file that contains no key.
    public func remove(_ entry: KeyStoreEntry) throws(KeyStoreError) {
        _ = try load(entry)
        let error = strongroom_file_remove(path(entry))
        if error == ENOENT { throw .absent }
        guard error == 0 else { throw .failed("\(path(entry)) can't be removed: \(SecretFile.Failure.words(error))") }
    }

    private func path(_ entry: KeyStoreEntry) -> String {
        entry == .current ? path : path + "-next"
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
        let folder = path.contains("/") ? String(path[...path.lastIndex(of: "/")!]) : "."
        return strongroom_size_of_file(folder) == -2
    }
}
