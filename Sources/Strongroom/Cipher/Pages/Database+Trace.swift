extension Database {
    /// Refuses a read that would leave a log and its index behind because this user can't remove them. The index would
    /// belong to this user, and exclude other users.
    func requireNoTrace() throws {
        guard configuration.trace == .readOnly, !NamedFile.exists(CompanionFile.logIndex.path(of: filePath)),
            try NamedFile.size(CompanionFile.log.path(of: filePath)) > 0 || usesLog()
        else { return }
        throw DatabaseError(
            .SQLITE_READONLY_CANTINIT,
            refusing: "reading \(path) would leave files beside it, which this user can't remove",
            advice: "read it as a user who may write the file and its folder")
    }

    private func usesLog() throws -> Bool {
        let header = try fileHeader()
        guard let derived = cipher.derived else { return header.bytes.count > 19 && header.bytes[19] == 2 }
        let format = try PageFormat(derived, header: cipher.header)
        let pages = PageReader(self, pageSize: format.pageSize, fileSize: header.fileSize)
        return try pages.withPage(1) { format.usesLog(firstPage: $0) } ?? false
    }
}
