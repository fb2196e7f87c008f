import CStrongroom

extension DatabaseFile {
    /// The facts about a database that need its key, beyond ``inspect(path:)``.
    public struct Details: Sendable, Equatable {
        /// Bytes in a page.
        public var pageSize: Int
        /// The number of pages, free ones included.
        public var pageCount: Int
        /// Pages that hold nothing.
        public var freePageCount: Int
        /// Bytes at the start of the file that aren't encrypted, beyond the salt.
        public var plaintextHeaderSize: Int
        /// The encoding of texts, such as `UTF-8`.
        public var encoding: String
        /// The journal mode, such as `wal`.
        public var journalMode: String
        /// The number that `PRAGMA user_version` keeps for applications.
        public var userVersion: Int
        /// The number that `PRAGMA application_id` keeps for `file(1)`.
        public var applicationID: Int
        /// The number of tables, those of SQLite excluded.
        public var tableCount: Int
        /// The number of indexes, those of SQLite excluded.
        public var indexCount: Int
        /// The number of views.
        public var viewCount: Int
        /// The number of triggers.
        public var triggerCount: Int
    }

    /// Opens a database read-only and asks what it is; nil for a clear one's `encryption`.
    ///
    /// SQLite's own tables are not counted. - throws: `SQLITE_NOTADB` for a wrong key, and what opening throws.
    /// <https://www.sqlite.org/pragma.html>
    public static func details(path: String, encryption: Encryption?) throws -> Details {
        try reading(path: path, encryption: encryption) { try $0.details() }
    }
}

extension Database {
    fileprivate func details() throws -> DatabaseFile.Details {
        func number(_ pragma: String) throws -> Int { try Int.fetchOne(self, sql: "PRAGMA main.\(pragma)") ?? 0 }
        func text(_ pragma: String) throws -> String { try String.fetchOne(self, sql: "PRAGMA main.\(pragma)") ?? "" }
        func count(_ type: String) throws -> Int {
            try Int.fetchOne(self, sql: """
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
