import CSQLCipher
import CStrongroom

/// Database files as a whole: what can be known of them without a key, and copies in another encryption.
public enum DatabaseFile {
    /// The facts that a file shows without its key.
    public struct Inspection: Sendable, Equatable {
        /// The kinds of file.
        public enum Kind: String, Sendable, Equatable {
            /// No such file.
            case absent
            /// A file without content, as SQLite makes it before the first write.
            case empty
            /// A SQLite database in clear text.
            case clear
            /// Encrypted from the first byte on; or random bytes, which look the same.
            case encrypted
            /// Encrypted except for a readable header.
            case plaintextHeader
            /// Certainly not a database: a text, a directory, or less than a page.
            case notDatabase
        }

        /// The kind of the file.
        public var kind: Kind
        /// Bytes of the file.
        public var size: Int64
        /// The page size in bytes, where the header shows it.
        public var pageSize: Int?
        /// Bytes of the write-ahead log; nil without one.
        public var walSize: Int64?
        /// A rollback journal waits for the next opening.
        public var hasRollbackJournal: Bool
        /// The 16 bytes that passphrases are derived with: from the file, or from the salt file beside it.
        public var salt: [UInt8]?
        /// A salt file stands beside the database.
        public var hasSaltFile: Bool
        /// A key file stands beside the database: the secret of any of its slots opens it.
        public var hasKeyFile: Bool
        /// The slots that the key file lists, which only an unlocking authenticates. Empty without a key file that can
        /// be read.
        public var keySlots: [KeySlot]
        /// The problems of the key file that show without a secret.
        public var keyFileProblems: [KeyFileProblem]
        /// A change of key was interrupted, or is under way. The next opening, with whichever key works, finishes or
        /// forgets it.
        public var isRotationPending: Bool
    }

    /// Returns what a file shows without its key. Reads through SQLite, whose locks on an open database stay as they
    /// are.
    ///
    /// - throws: `SQLITE_CANTOPEN` when the file can't be read. <https://www.sqlite.org/fileformat.html>
    public static func inspect(path: String) throws -> Inspection {
        let path = realPath(path)
        guard strongroom_is_regular_file(path) else {
            let isAbsent = strongroom_size_of_file(path) == -1
            return Inspection(path: path, kind: isAbsent ? .absent : .notDatabase, header: nil)
        }
        let header = try withUnusedConnection(path) { try $0.fileHeader() }
        return Inspection(path: path, kind: kind(of: header), header: header)
    }

    /// Returns the path beside which SQLite puts the files of a database, symbolic links resolved.
    static func realPath(_ path: String) -> String {
        guard let real = strongroom_real_path(path) else { return path }
        defer { sqlite3_free(real) }
        return String(validatingCString: real) ?? path
    }

    private static func kind(of header: FileHeader) -> Inspection.Kind {
        if header.fileSize == 0 { return .empty }
        if header.isClear { return .clear }
        if header.hasPlaintextHeader { return .plaintextHeader }
        return header.fileSize < 512 || header.looksLikeText ? .notDatabase : .encrypted
    }

    /// A connection through which nothing is read as a database: it takes no lock.
    private static func withUnusedConnection<T>(_ path: String, _ body: (Database) throws -> T) throws -> T {
        var configuration = Configuration()
        configuration.readonly = true
        return try Database(path: path, description: "DatabaseFile.inspect", configuration: configuration)
            .withSoleAccess(body)
    }
}

extension DatabaseFile.Inspection {
    fileprivate init(path: String, kind: Kind, header: FileHeader?) {
        let log = strongroom_size_of_file(path + "-wal"), journal = strongroom_size_of_file(path + "-journal")
        // A damaged salt file is no salt; opening says so.
        let file = (try? SaltFile.read(.permanent, of: path)) ?? nil
        self.init(
            kind: kind,
            size: header?.fileSize ?? 0,
            pageSize: header?.pageSize,
            walSize: log >= 0 ? log : nil,
            hasRollbackJournal: journal > 0,
            salt: kind == .encrypted ? header?.salt?.bytes : kind == .plaintextHeader ? file?.salt.bytes : nil,
            hasSaltFile: SaltFile.exists(.permanent, of: path),
            hasKeyFile: KeyFiles(database: path).exists(.current),
            keySlots: ((try? KeyFiles(database: path).read(.current)) ?? nil)?.slots ?? [],
            keyFileProblems: KeyFileProblem.all(path, header),
            isRotationPending: SaltFile.exists(.rotation, of: path) || KeyFiles(database: path).exists(.rotation))
    }
}
