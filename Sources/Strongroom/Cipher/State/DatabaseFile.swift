/// Operations on database files: inspection without a key, and copies in another encryption.
public enum DatabaseFile {
    /// Returns the path beside which SQLite creates the sidecars of a database, with symbolic links resolved.
    static func realPath(_ path: String) -> String {
        NamedFile.realPath(path) ?? path
    }
}
