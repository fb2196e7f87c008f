extension Configuration {
    /// Opens a database with `open`. Migrates it in its place and opens it again if it has an older format and the
    /// configuration allows that.
    func migratingOlderFormat<T>(at path: String, _ open: () throws -> T) throws -> T {
        do {
            return try open()
        } catch let error as DatabaseError where error.reason == .olderFormat {
            guard case .migrate(let progress) = olderFormats, !readonly, let encryption,
                let settings = CipherSettings.formats.first(where: { $0.version == error.formatVersion })?.settings
            else { throw error }
            try DatabaseFile.migrateInPlace(
                path: path, from: Encryption(key: encryption.key, settings: settings), as: encryption,
                progress: progress.map { report in { report($0) } })
            return try open()
        }
    }
}
