import CStrongroom
import Foundation

extension DatabaseFile {
    /// Writes an encrypted copy of a clear database, and opens and checks it before it gets its name. The original
    /// stays.
    ///
    /// Everything is kept: schema, rowids, autoincrement, full-text indexes, `user_version`, `application_id`,
    /// encoding and journal mode. `progress` may throw to stop; it is called in the middle of long statements and
    /// checks, too, and hears of the last page when the copy is checked. The cancellation of the calling task stops,
    /// too, and so does ``Database/suspendNotification``. The files of the original and their folder stay as they are.
    ///
    /// - throws: `SQLITE_CANTOPEN` if `destination` exists, `SQLITE_NOTADB` if `path` isn't in clear text. Nothing is
    ///   left behind.
    public static func encrypt(
        path: String, to destination: String, encryption: Encryption,
        progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws {
        try copy(path, nil, to: destination, encryption, progress)
    }

    /// Writes a clear copy of an encrypted database. See ``encrypt(path:to:encryption:progress:)``.
    public static func decrypt(
        path: String, to destination: String, encryption: Encryption,
        progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws {
        try copy(path, encryption, to: destination, nil, progress)
    }

    /// Writes a copy in another encryption, by default in the format of SQLCipher 4 with the same key. See
    /// ``encrypt(path:to:encryption:progress:)``.
    public static func migrate(
        path: String, to destination: String, from old: Encryption, as new: Encryption? = nil,
        progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws {
        try copy(path, old, to: destination, new ?? Encryption(key: old.key), progress)
    }

    private static func copy(
        _ path: String, _ old: Encryption?, to destination: String, _ new: Encryption?,
        _ progress: ((EncryptionProgress) throws -> Void)?
    ) throws {
        CopyStaging.removeLeftOvers(beside: destination)
        try requireAbsent(destination)
        try reading(path: path, encryption: old, busyTimeout: 5) { try copy($0, to: destination, new, progress) }
    }

    /// Copies what a connection sees.
    static func copy(
        _ source: Database, to destination: String, _ new: Encryption?,
        _ progress: ((EncryptionProgress) throws -> Void)?
    ) throws {
        try source.stops.refuseReadLocks()
        let copying = try CopyProgress(of: source, progress)
        try requireAbsent(destination)
        let new = try settled(new, forCopyOf: source, at: destination)
        try make(destination, as: new, from: source, copying) { partial in
            try withDatabase(partial, new) { try DatabaseCopy(from: source, to: $0, progress: copying).run() }
        }
    }

    /// Makes a copy by `write`, opens and checks it as its user will, from its files alone, and gives it its name.
    ///
    /// - parameter write: answers how many rows each table should have.
    static func make(
        _ destination: String, as encryption: Encryption?, from source: Database, _ progress: CopyProgress,
        _ write: (_ path: String) throws -> [String: Int]
    ) throws {
        CopyStaging.removeLeftOvers(beside: destination)
        try requireAbsent(destination)
        let staging = try CopyStaging(beside: destination)
        defer { staging.remove() }
        let keyFile = try encryption.flatMap { try source.keyFile(forCopyWith: $0.key) }
        let original = source.isFileStored ? source.filePath : nil
        try staging.create(like: original)
        let counts = try write(staging.path)
        if let keyFile, let encryption { try keyFile.give(to: staging.path, encryption) }
        try withDatabase(staging.path, encryption) { copy in
            try copy.stopping(by: progress) { try verify(copy, counts, progress) }
        }
        try progress.complete()
        try staging.takeMode(of: original)
        try rename(staging.path, to: destination)
    }

    /// Removes what killed copies have left in a folder.
    package static func removeLeftOversOfCopies(in folder: String) {
        CopyStaging.removeLeftOvers(beside: folder + "/")
    }

    /// Removes the salt and the key file of a copy that was killed before it got its name in `folder`.
    package static func removeSidecars(ofUnnamed copy: String, in folder: String) {
        CopyStaging.removeSidecars(of: copy, in: folder)
    }

    /// Neither the file nor what SQLite or Strongroom would take for a part of it.
    private static func requireAbsent(_ path: String) throws {
        for file in companions(of: path) where strongroom_file_exists(file) { throw exists(file) }
    }

    private static func exists(_ path: String) -> DatabaseError {
        DatabaseError(.SQLITE_CANTOPEN, refusing: "\(path) exists", advice: "name a new file", reason: .fileExists)
    }

    private static func companions(of path: String) -> [String] {
        let sidecars = SaltFile.Role.allCases.map(\.rawValue) + KeyFiles.Role.allCases.map(\.rawValue)
        return (["", "-journal", "-wal", "-shm"] + sidecars).map { path + $0 }
    }

    /// A connection that knows what the user of the database does, and derives its key by itself.
    static func withDatabase<T>(_ path: String, _ encryption: Encryption?, _ body: (Database) throws -> T) throws -> T {
        var configuration = Configuration()
        configuration.encryption = encryption
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(5)
        let database = try Database(path: path, description: "DatabaseFile", configuration: configuration)
        return try database.withSoleAccess { database in
            try database.setUp()
            return try database.followingSuspensions { try body(database) }
        }
    }

    private static func verify(_ database: Database, _ counts: [String: Int], _ progress: CopyProgress) throws {
        try progress.check(completed: 0)
        let report = try database.integrityReport { try progress.check(completed: $0.completedPageCount) }
        guard (report.unauthenticPages ?? []).isEmpty, report.structureProblems.isEmpty else {
            throw DatabaseError(
                resultCode: .SQLITE_CORRUPT,
                message: "the copy is damaged: \(report.structureProblems.first ?? "a page isn't authentic")")
        }
        for (table, count) in counts
        where try Int.fetchOne(database, sql: "SELECT count(*) FROM \(quoted(table))") != count {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the copy of \(table) is not complete")
        }
    }

    /// Gives a finished database, which nobody has open, its name in the same folder, together with its salt and its
    /// key file. These take the place of no other, nor does the database unless `replace` does it; after a failure all
    /// names are as they were.
    ///
    /// - throws: `SQLITE_CANTOPEN` where a name is taken.
    package static func rename(
        _ partial: String, to destination: String, by replace: (() throws -> Void)? = nil) throws
    {
        // The salt first: a database with a plaintext header is nothing without it.
        let salt = try copySalt(of: partial, to: destination)
        do {
            let hasKeys = try copyKeys(of: partial, to: destination)
            do {
                if let replace { try replace() } else { try move(partial, destination) }
            } catch {
                if hasKeys { try KeyFiles(database: destination).changing { try $0.remove(.current) } }
                throw error
            }
            if hasKeys { try KeyFiles(database: partial).changing { try $0.remove(.current) } }
        } catch {
            try salt?.remove(.permanent, of: destination)
            throw error
        }
        try salt?.remove(.permanent, of: partial)
    }

    /// Writes the salt that is beside one database beside another, where there may be none. Nil without one.
    private static func copySalt(of partial: String, to destination: String) throws -> SaltFile? {
        guard let salt = try SaltFile.read(.permanent, of: partial) else { return nil }
        let name = SaltFile.path(.permanent, of: destination)
        guard !strongroom_file_exists(name), try salt.agree(.permanent, of: destination, like: partial) == salt
        else { throw exists(name) }
        return salt
    }

    /// Writes the key file that is beside one database beside another, where there may be none. False without one.
    private static func copyKeys(of partial: String, to destination: String) throws -> Bool {
        guard let file = try KeyFiles(database: partial).read(.current) else { return false }
        let files = KeyFiles(database: destination)
        try files.changing { change in
            guard !files.exists(.current) else { throw exists(files.path(.current)) }
            try change.write(file, as: .current, like: partial)
        }
        return true
    }

    private static func move(_ from: String, _ to: String) throws {
        let error = strongroom_file_move(from, to)
        if error == EEXIST { throw exists(to) }
        guard error == 0 else {
            throw DatabaseError(
                resultCode: .SQLITE_IOERR, message: "can't rename \(from): \(String(cString: strerror(error)))")
        }
    }
}

func quoted(_ name: String) -> String {
    "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\""
}
