import CSQLCipher

extension Configuration {
    var openingFlags: CInt {
        guard readonly else { return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE }
        return trace == .removed || trace == .alone ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY
    }

    /// Returns the name and the flags with which SQLite opens the database.
    func opening(_ path: String) -> (name: String, flags: CInt) {
        if SQLiteURI(path: path) != nil { return (path, openingFlags | SQLITE_OPEN_URI) }
        // https://www.sqlite.org/uri.html#uriimmutable
        if trace == .untouched {
            return (SQLiteURI.name(ofFile: path) + "?immutable=1", openingFlags | SQLITE_OPEN_URI)
        }
        // SQLCipher always reads names as URIs.
        return (path.utf8.starts(with: "file:".utf8) ? "./" + path : path, openingFlags)
    }

    /// Throws if the database would be created and its name is too long for those of its sidecars.
    func requireCreatable(_ path: String) throws {
        guard encryption != nil, !readonly, !path.utf8.starts(with: "file:".utf8) else { return }
        if !NamedFile.exists(path) { try SaltFile.requireName(of: path) }
    }
}

extension Database {
    /// Sets the connection up, before the first read.
    func setUpTrace() throws {
        guard let trace = configuration.trace else { return }
        try runUnseen("PRAGMA query_only = 1")
        guard trace == .alone else { return }
        try runUnseen("PRAGMA locking_mode = EXCLUSIVE")
        log.setCheckpointsAtClose(false)
    }
}
