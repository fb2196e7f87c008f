extension Database {
    /// Returns the size of the main file in bytes. Zero before the first page.
    func fileSize() throws -> Int64 {
        var size: Int64 = 0
        try check(RawConnection(openConnection).fileSize(of: "main", &size))
        return size
    }

    /// True if the file has no committed page. It is empty, or the transaction that creates it has not ended: then its
    /// process goes on, or the next read rolls it back.
    func hasNoPage() throws -> Bool {
        try hasNoPage(ofSize: fileSize())
    }

    /// True if the file had no committed page when its size was read. A header that was read with the size agrees
    /// with the answer, even if another process creates the database meanwhile.
    func hasNoPage(ofSize size: Int64) -> Bool {
        size == 0 || FirstPage.isCreatedByJournal(filePath)
    }

    /// Returns the header, read through the connection's own file. Closing another one would release the locks of this
    /// process.
    func fileHeader(of schema: String = "main") throws -> FileHeader {
        var size: Int64 = 0
        try check(RawConnection(openConnection).fileSize(of: schema, &size))
        var bytes = [UInt8](repeating: 0, count: Int(min(size, Int64(FileHeader.count))))
        if !bytes.isEmpty {
            let connection = try RawConnection(openConnection)
            try check(bytes.withUnsafeMutableBytes { connection.readFile(of: schema, at: 0, into: $0) })
        }
        return FileHeader(bytes: bytes, fileSize: size)
    }

    /// False for databases in memory and temporary databases.
    var isFileStored: Bool {
        path(of: "main") != nil
    }

    /// The absolute path of the file, without URI parameters.
    var filePath: String {
        sqliteConnection == nil ? path : path(of: "main") ?? ""
    }

    func runCipherPragma(_ pragma: String) throws {
        try cipher.settingFormat { try runUnseen("PRAGMA " + pragma) }
    }

    static let schemaRead = "SELECT count(*) FROM sqlite_master"

    func readSchema() throws {
        try execute(sql: Database.schemaRead)
    }
}
