import Foundation

extension Configuration {
    private static let codesOfMissingLog: [ResultCode] = [
        .SQLITE_CANTOPEN, .SQLITE_READONLY_DIRECTORY, .SQLITE_READONLY_CANTINIT,
    ]

    /// Opens a connection. If a read-only connection fails for want of the files of the write-ahead log, the error
    /// names the remedy.
    ///
    /// <https://www.sqlite.org/wal.html#readonly>
    func explainingMissingLog<T>(at path: String, _ open: () throws -> T) throws -> T {
        do {
            return try open()
        } catch let error as DatabaseError
            where readonly && error.reason == nil && error.recoverySuggestion == nil
            && Self.codesOfMissingLog.contains(error.extendedResultCode)
        {
            let files = FileManager.default
            var isFolder: ObjCBool = false
            guard files.fileExists(atPath: path, isDirectory: &isFolder), !isFolder.boolValue,
                files.isReadableFile(atPath: path),
                ![CompanionFile.log, .logIndex].allSatisfy({ files.fileExists(atPath: $0.path(of: path)) })
            else { throw error }
            throw DatabaseError(
                error.extendedResultCode, .missingLog,
                "\(path) has a write-ahead log, whose files -wal and -shm are missing, "
                    + "and this process can't create them",
                advice: "keep the database open in the process that writes, or let it set Configuration.persistentWAL")
        }
    }
}
