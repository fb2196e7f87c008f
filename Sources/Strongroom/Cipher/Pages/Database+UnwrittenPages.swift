extension Database {
    /// True if SQLite has skipped unused pages as it extended the file.
    ///
    /// SQLCipher can't decrypt zeros, which have no HMAC. It fails where SQLite reads each page: in a change of the
    /// key, in `VACUUM` and in a backup. Pages are skipped with a rollback journal and `PRAGMA secure_delete = OFF`.
    var hasUnwrittenPages: Bool {
        get throws {
            guard cipher.derived?.settings.hmacAlgorithm != nil, !isInsideTransaction,
                try answer(to: "PRAGMA main.freelist_count") != "0"
            else { return false }
            return try PageAuthentication(self).hasUnwrittenPage()
        }
    }

    /// Writes the unused pages that were skipped. To be called without observers: nothing changes for them.
    func writeUnwrittenPages() throws {
        guard try hasUnwrittenPages, let settings = cipher.derived?.settings else { return }
        // Otherwise SQLite does not write a page that becomes unused.
        let former = try answer(to: "PRAGMA main.secure_delete") ?? "0"
        try runUnseen("PRAGMA main.secure_delete = ON")
        defer { try? runUnseen("PRAGMA main.secure_delete = \(former == "2" ? "FAST" : former)") }
        try runUnseen("BEGIN IMMEDIATE")
        do {
            let reserve = RawPageFormat.reserve(digest: settings.hmacAlgorithm?.rawValue ?? 0)
            // An overflow page begins with the number of the next one.
            try fillUnusedPages(of: settings.pageSize - reserve - 4)
            try runUnseen("COMMIT")
        } catch {
            try? runUnseen("ROLLBACK")
            throw error
        }
    }

    /// Fills all unused pages with a table, and makes them unused again.
    private func fillUnusedPages(of size: Int) throws {
        let table = "main.\"strongroom unused pages\""
        try runUnseen("CREATE TABLE \(table)(a)")
        while let text = try answer(to: "PRAGMA main.freelist_count"), let count = Int(text), count > 0 {
            try stops.check()
            try runUnseen("INSERT INTO \(table) VALUES (zeroblob(\(min(count, (128 << 20) / size) * size)))")
        }
        try runUnseen("DROP TABLE \(table)")
    }
}
