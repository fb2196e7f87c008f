extension DatabaseFile {
    /// The properties of a file that can be read without its key.
    public struct Inspection: Sendable, Equatable {
        /// The kind of a file.
        public enum Kind: String, Sendable, Equatable {
            /// The file does not exist.
            case absent
            /// An empty file, as SQLite creates it before the first write.
            case empty
            /// A SQLite database in clear text.
            case clear
            /// Encrypted from the first byte, or random bytes, which look the same.
            case encrypted
            /// Encrypted except for a plaintext header.
            case plaintextHeader
            /// Certainly not a database: text, fewer than 512 bytes, or not a regular file.
            case notDatabase
        }

        /// The kind of the file.
        public var kind: Kind
        /// The size of the file in bytes.
        public var size: Int64
        /// The page size in bytes. Nil if the header is encrypted.
        public var pageSize: Int?
        /// The size of the write-ahead log in bytes. Nil without one.
        public var walSize: Int64?
        /// A Boolean value that indicates whether the next opening will roll back a journal.
        public var hasRollbackJournal: Bool
        /// The 16 bytes of the salt, from the file or from the salt file beside it. Nil for a file without a salt, and
        /// if the salt file is missing or damaged.
        public var salt: [UInt8]?
        /// A Boolean value that indicates whether there is a salt file beside the database.
        public var hasSaltFile: Bool
        /// A Boolean value that indicates whether there is a slot file beside the database. The secret of any of its
        /// slots opens it.
        public var hasSlotFile: Bool
        /// The slots in the slot file, which are not authenticated without a secret. Empty without a readable slot
        /// file.
        public var keySlots: [KeySlot]
        /// The problems of the slot file that can be detected without a secret.
        public var slotFileProblems: [SlotFileProblem]
        /// A Boolean value that indicates whether a change of key was interrupted, or is in progress. The next opening
        /// with either key finishes or discards it.
        public var isRotationPending: Bool
    }

    /// Returns the properties of a file that can be read without its key. It reads through SQLite, so that locks on an
    /// open database are kept.
    ///
    /// - throws: `SQLITE_CANTOPEN` if the file can't be read. <https://www.sqlite.org/fileformat.html>
    public static func inspect(path: String) throws -> Inspection {
        let path = realPath(path)
        guard NamedFile.isRegular(path) else {
            let isAbsent = NamedFile.size(path) == -1
            return Inspection(path: path, kind: isAbsent ? .absent : .notDatabase, header: nil)
        }
        let header = try withUnusedConnection(path) { try $0.fileHeader() }
        return Inspection(path: path, kind: kind(of: header), header: header)
    }

    private static func kind(of header: FileHeader) -> Inspection.Kind {
        if header.fileSize == 0 { return .empty }
        if header.isClear { return .clear }
        if header.hasPlaintextHeader { return .plaintextHeader }
        return header.fileSize < 512 || header.looksLikeText ? .notDatabase : .encrypted
    }

    /// Runs `body` with a connection that takes no lock, because nothing is read through it as a database.
    static func withUnusedConnection<T>(_ path: String, _ body: (Database) throws -> T) throws -> T {
        var configuration = Configuration()
        configuration.readonly = true
        return try Database(path: path, description: "DatabaseFile.inspect", configuration: configuration)
            .withSoleAccess(body)
    }
}

extension DatabaseFile.Inspection {
    fileprivate init(path: String, kind: Kind, header: FileHeader?) {
        let log = NamedFile.size(CompanionFile.log.path(of: path))
        let journal = NamedFile.size(CompanionFile.journal.path(of: path))
        // A damaged salt file contains no salt. Opening reports it.
        let file = (try? SaltFile.read(.permanent, of: path)) ?? nil
        self.init(
            kind: kind,
            size: header?.fileSize ?? 0,
            pageSize: header?.pageSize,
            walSize: log >= 0 ? log : nil,
            hasRollbackJournal: journal > 0,
            salt: kind == .encrypted ? header?.salt?.bytes : kind == .plaintextHeader ? file?.salt.bytes : nil,
            hasSaltFile: SaltFile.exists(.permanent, of: path),
            hasSlotFile: SlotFiles(database: path).exists(.current),
            keySlots: ((try? SlotFiles(database: path).read(.current)) ?? nil)?.slots ?? [],
            slotFileProblems: SlotFileProblem.all(path, header),
            isRotationPending: SaltFile.exists(.rotation, of: path) || SlotFiles(database: path).exists(.rotation))
    }
}
