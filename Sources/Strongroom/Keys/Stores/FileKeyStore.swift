import CStrongroom
import Foundation

/// Keeps a key in a file that only its owner may read, and the next one beside it, in a file named like it with
/// `-next` at the end.
///
/// The file is made with mode 0600, under its name only when it is whole and on the disk. A file that another user
/// owns (root excepted), that others may read or write, or that is a symbolic link, is refused. The folder must exist:
/// a folder that is missing is one that is not mounted yet, and not a store without a key.
///
/// The file holds one line of text, `x'<64 hexadecimal digits>'`, which any SQLCipher takes as a key.
public struct FileKeyStore: KeyStore {
    public let path: String

    /// A store in a file. Keep it on another disk than the database, or out of its backups: with both, everyone can
    /// read.
    public init(path: String) {
        self.path = path
    }

    public func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey {
        let file = SecretFile(path: path(entry), readers: .owner, followsLinks: false)
        return try StoredText.key(file.stored(), in: path(entry))
    }

    public func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError) {
        let text = try StoredText.spelling(key), path = path(entry)
        let error = text.withBytes { strongroom_file_create(path, path + "-partial", $0.baseAddress, $0.count) }
        if error == EEXIST { throw .exists }
        guard error == 0 else { throw .failed("\(path) can't be written: \(SecretFile.Failure.words(error))") }
    }

    /// A file that holds no key is left alone.
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
    /// The content of the file, as stores tell it.
    func stored() throws(KeyStoreError) -> SecretBytes {
        do {
            return try read()
        } catch SecretFile.Failure.unreadable(ENOENT) where isFolderThere {
            throw .absent
        } catch SecretFile.Failure.exposed {
            throw .failed("\(path) can be read by others, or written: chmod \(readers.mode) it")
        } catch {
            throw .failed("\(path) \((error as? SecretFile.Failure)?.words ?? "can't be read: there is no memory")")
        }
    }

    private var isFolderThere: Bool {
        let folder = path.contains("/") ? String(path[...path.lastIndex(of: "/")!]) : "."
        return strongroom_size_of_file(folder) == -2
    }
}
