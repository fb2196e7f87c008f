import Foundation

extension Configuration {
    /// Opens a connection. What keeps one that only reads from a database in WAL mode is told with the remedy.
    ///
    /// <https://www.sqlite.org/wal.html#readonly>
    func explainingMissingLog<T>(at path: String, _ open: () throws -> T) throws -> T {
        do {
            return try open()
        } catch let error as DatabaseError where readonly && [.SQLITE_CANTOPEN, .SQLITE_READONLY].contains(error.resultCode) {
            let files = FileManager.default
            guard files.fileExists(atPath: path), files.isReadableFile(atPath: path),
                !["-wal", "-shm"].allSatisfy({ files.fileExists(atPath: path + $0) })
            else { throw error }
            throw DatabaseError(resultCode: error.extendedResultCode, message: """
                \(path) has a write-ahead log, whose files -wal and -shm are missing, and this process can't create them: \
                keep the database open in the process that writes, or let that process set Configuration.persistentWAL
                """)
        }
    }
}
