extension DatabaseFile {
    /// The facts about a database that need its key, beyond ``inspect(path:)``.
    public struct Details: Sendable, Equatable {
        /// The size of a page in bytes.
        public var pageSize: Int
        /// The number of pages, including unused ones.
        public var pageCount: Int
        /// The number of unused pages.
        public var freePageCount: Int
        /// The number of unencrypted bytes at the start of the file.
        public var plaintextHeaderSize: Int
        /// The encoding of texts, such as `UTF-8`.
        public var encoding: String
        /// The journal mode, such as `wal`.
        public var journalMode: String
        /// The number that `PRAGMA user_version` stores for applications.
        public var userVersion: Int
        /// The number that `PRAGMA application_id` stores for `file(1)`.
        public var applicationID: Int
        /// The number of tables, without SQLite's own.
        public var tableCount: Int
        /// The number of indexes, without SQLite's own.
        public var indexCount: Int
        /// The number of views.
        public var viewCount: Int
        /// The number of triggers.
        public var triggerCount: Int
    }

    /// Opens a database read-only, and returns its properties.
    ///
    /// - parameters:
    ///   - path: the path of the database.
    ///   - encryption: the encryption. Nil for a database in clear text.
    /// - throws: `SQLITE_NOTADB` for a wrong key, and the other errors of opening.
    ///
    /// Source: <https://www.sqlite.org/pragma.html>.
    public static func details(path: String, encryption: Encryption?) throws -> Details {
        try reading(path: path, encryption: encryption) { try $0.details() }
    }
}

extension Database {
    package func details() throws -> DatabaseFile.Details {
        func number(_ pragma: String) throws -> Int { try Int.fetchOne(self, sql: "PRAGMA main.\(pragma)") ?? 0 }
        func text(_ pragma: String) throws -> String { try String.fetchOne(self, sql: "PRAGMA main.\(pragma)") ?? "" }
        func count(_ type: String) throws -> Int {
            try Int.fetchOne(
                self,
                sql: """
                    SELECT count(*) FROM sqlite_master WHERE type = ? AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                    """, arguments: [type]) ?? 0
        }
        return try isolated { _ in
            DatabaseFile.Details(
                pageSize: try number("page_size"), pageCount: try number("page_count"),
                freePageCount: try number("freelist_count"),
                plaintextHeaderSize: cipher.header, encoding: try text("encoding"),
                journalMode: try text("journal_mode"),
                userVersion: try number("user_version"), applicationID: try number("application_id"),
                tableCount: try count("table"), indexCount: try count("index"), viewCount: try count("view"),
                triggerCount: try count("trigger"))
        }
    }
}
