import CStrongroom
import Foundation

extension DatabaseFile {
    /// Writes an encrypted copy of a clear database, and opens and checks it before it gets its name. The original stays.
    ///
    /// Everything is kept: schema, rowids, autoincrement, full-text indexes, `user_version`, `application_id`, encoding and
    /// journal mode. `progress` may throw to stop; it is called in the middle of long statements and checks, too, and hears of the last page
    /// when the copy is checked.
    ///
    /// - throws: `SQLITE_CANTOPEN` if `destination` exists, `SQLITE_NOTADB` if `path` isn't in clear text. Nothing is left behind.
    public static func encrypt(
        path: String, to destination: String, encryption: Encryption, progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws {
        try copy(path, nil, to: destination, encryption, progress)
    }

    /// Writes a clear copy of an encrypted database. See ``encrypt(path:to:encryption:progress:)``.
    public static func decrypt(
        path: String, to destination: String, encryption: Encryption, progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws {
        try copy(path, encryption, to: destination, nil, progress)
    }

    /// Writes a copy in another encryption, by default in the format of SQLCipher 4 with the same key. See
    /// ``encrypt(path:to:encryption:progress:)``.
    public static func migrate(
        path: String, to destination: String, from old: Encryption, as new: Encryption? = nil, progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws {
        try copy(path, old, to: destination, new ?? Encryption(key: old.key), progress)
    }

    private static func copy(
        _ path: String, _ old: Encryption?, to destination: String, _ new: Encryption?, _ progress: ((EncryptionProgress) throws -> Void)?
    ) throws {
        try requireAbsent(destination)
        try withDatabase(path, old) { try copy($0, to: destination, new, progress) }
    }

    /// Copies what a connection sees.
    static func copy(
        _ source: Database, to destination: String, _ new: Encryption?, _ progress: ((EncryptionProgress) throws -> Void)?
    ) throws {
        try requireAbsent(destination)
        // Of its own, so that two copies to one destination don't meet before the end; the second finds the name taken there.
        let partial = try "\(destination).partial-\(hexadecimal(Salt.random().bytes.prefix(4)))"
        do {
            let copying = CopyProgress(pageCount: try source.pageCount, progress)
            let counts = try withDatabase(partial, new) { try DatabaseCopy(from: source, to: $0, progress: copying).run() }
            try withDatabase(partial, new) { copy in try copy.stopping(by: copying) { try verify(copy, counts, copying) } }
            try copying.complete()
            try give(partial, theName: destination)
        } catch {
            try? removeDatabase(partial)
            throw error
        }
    }

    /// Neither the file nor what SQLite or Strongroom would take for a part of it.
    private static func requireAbsent(_ path: String) throws {
        for file in companions(of: path) where strongroom_file_exists(file) { throw exists(file) }
    }

    private static func exists(_ path: String) -> DatabaseError {
        DatabaseError(.SQLITE_CANTOPEN, refusing: "\(path) exists", advice: "name a new file", reason: .fileExists)
    }

    private static func companions(of path: String) -> [String] {
        (["", "-journal", "-wal", "-shm"] + SaltFile.Role.allCases.map(\.rawValue)).map { path + $0 }
    }

    private static func withDatabase<T>(_ path: String, _ encryption: Encryption?, _ body: (Database) throws -> T) throws -> T {
        var configuration = Configuration()
        configuration.encryption = encryption
        configuration.foreignKeysEnabled = false
        configuration.busyMode = .timeout(5)
        return try Database(path: path, description: "DatabaseFile", configuration: configuration).withSoleAccess { database in
            try database.setUp()
            return try body(database)
        }
    }

    private static func verify(_ database: Database, _ counts: [String: Int], _ progress: CopyProgress) throws {
        let report = try database.integrityReport { _ in try progress.check() }
        guard (report.unauthenticPages ?? []).isEmpty, report.structureProblems.isEmpty else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the copy is damaged: \(report.structureProblems.first ?? "a page isn't authentic")")
        }
        for (table, count) in counts where try Int.fetchOne(database, sql: "SELECT count(*) FROM \(quoted(table))") != count {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "the copy of \(table) is not complete")
        }
    }

    /// Gives a finished database, which nobody has open, its name in the same folder, together with its salt. A salt
    /// never takes the place of another, nor the database unless `replacing`; after a failure both names are as they were.
    ///
    /// - throws: `SQLITE_CANTOPEN` where a name is taken.
    package static func give(_ partial: String, theName destination: String, replacing: Bool = false) throws {
        // The salt first: a database with a plaintext header is nothing without it.
        let salt = try giveSalt(of: partial, to: destination)
        do {
            try move(partial, destination, replacing)
        } catch {
            try salt?.remove(.permanent, of: destination)
            throw error
        }
        try salt?.remove(.permanent, of: partial)
    }

    /// Writes the salt that is beside one database beside another, where there may be none. Nil without one.
    private static func giveSalt(of partial: String, to destination: String) throws -> SaltFile? {
        guard let salt = try SaltFile.read(.permanent, of: partial) else { return nil }
        let name = SaltFile.path(.permanent, of: destination)
        guard !strongroom_file_exists(name), try salt.agree(.permanent, of: destination, like: partial) == salt
        else { throw exists(name) }
        return salt
    }

    private static func move(_ from: String, _ to: String, _ replacing: Bool) throws {
        let error = strongroom_file_move(from, to, replacing)
        if error == EEXIST { throw exists(to) }
        guard error == 0 else {
            throw DatabaseError(resultCode: .SQLITE_IOERR, message: "can't rename \(from): \(String(cString: strerror(error)))")
        }
    }

    private static func removeDatabase(_ path: String) throws {
        for file in companions(of: path) {
            guard strongroom_file_remove(file) == 0 else {
                throw DatabaseError(resultCode: .SQLITE_IOERR, message: "can't remove \(file)")
            }
        }
    }
}

func quoted(_ name: String) -> String {
    "\"" + name.replacingOccurrences(of: "\"", with: "\"\"") + "\""
}

extension Database {
    /// Writes a copy without unused pages, which opens as the original does.
    func vacuum(into filePath: String) throws {
        // SQLCipher's VACUUM INTO hands on the key and the salt, and nothing that says how they are used.
        guard let encryption = try encryptionBeyondDefaults() else {
            return try execute(sql: "VACUUM INTO ?", arguments: [filePath])
        }
        try DatabaseFile.copy(self, to: filePath, encryption, nil)
    }

    /// Refuses the statement `VACUUM INTO` where nothing would open the copy, or everybody could.
    ///
    /// The copy gets the key of the main database, whichever database it is of, and SQLCipher's default format; or parts of that.
    func requireReadableCopy(of schemaName: String) throws {
        if !cipher.isKeyed, cipher.keepsTemporaryDataInMemory, schemaName != "main" {
            throw DatabaseError(
                refusing: "VACUUM INTO may write an attached database in clear text, as the main one is",
                advice: "open it by itself and use vacuum(into:)")
        }
        guard let encryption = try encryptionBeyondDefaults() else { return }
        // In memory, the key is one that nobody knows.
        guard cipher.derived == nil || !encryption.settings.statements(schema: "main").isEmpty else { return }
        throw DatabaseError(refusing: "VACUUM INTO would write a copy that no key opens", advice: "use vacuum(into:)")
    }

    /// Nil where the key and the salt tell everything.
    private func encryptionBeyondDefaults() throws -> Encryption? {
        guard let key = cipher.key else { return nil }
        guard let derived = cipher.derived else {
            // Nothing is derived in memory.
            if let encryption = configuration.encryption { return encryption }
            let format = try formatInUse()
            return Encryption(key: key, settings: format.settings, plaintextHeader: format.header)
        }
        if derived.settings.statements(schema: "main").isEmpty, cipher.header == 0 { return nil }
        var encryption = Encryption(key: key, settings: derived.settings)
        if cipher.header > 0 {
            encryption.plaintextHeader = PlaintextHeader(
                size: cipher.header, salt: cipher.isSaltProvided ? .provided(Array(derived.salt.bytes)) : .sidecar)
        }
        return encryption
    }
}
