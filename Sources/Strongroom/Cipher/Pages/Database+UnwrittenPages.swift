extension Database {
    /// Writes the unused pages that SQLite has skipped as it extended the file.
    ///
    /// SQLCipher can't decrypt zeros, which have no HMAC. It fails where SQLite reads each page, as in a change of the
    /// key and in `VACUUM`. Pages are skipped with a rollback journal and `PRAGMA secure_delete = OFF`.
    func writeUnwrittenPages() throws {
        guard let settings = cipher.derived?.settings, settings.hmacAlgorithm != nil, !isInsideTransaction,
            try answer(to: "PRAGMA main.freelist_count") != "0", try PageAuthentication(self).hasUnwrittenPage()
        else { return }
        // Otherwise SQLite does not write a page that becomes unused.
        let former = try answer(to: "PRAGMA main.secure_delete") ?? "0"
        try runUnseen("PRAGMA main.secure_delete = ON")
        defer { try? runUnseen("PRAGMA main.secure_delete = \(former == "2" ? "FAST" : former)") }
        try runUnseen("BEGIN IMMEDIATE")
        do {
            try fillUnusedPages(of: settings.pageSize)
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
            // A row has at most 128 MB, and never fewer bytes than its pages.
            try runUnseen("INSERT INTO \(table) VALUES (zeroblob(\(min(count, (128 << 20) / size) * size)))")
        }
        try runUnseen("DROP TABLE \(table)")
    }
}
