import Foundation

/// A salt in a file beside a database, for when the database itself can't hold it.
///
/// A text file, so that a person with the passphrase and any SQLCipher can open the database (`PRAGMA cipher_salt`):
///
///     Strongroom salt 1
///     salt 8b0f…
///     header 32
///     check 5d41402a
///
/// `header` is the number of unencrypted bytes at the start of the database. `check` detects an edited file. A new salt
/// is appended as three more lines, and the last salt is the valid one. Content of the file is never overwritten: a
/// crash leaves the salt from before or from after, and a database that was moved or restored finds its own salt among
/// the former ones. A file with more than 1,024 former salts is replaced as a whole, without the oldest ones.
///
/// A writer holds the lock of the file until its content is complete and on the disk. Incomplete content in an unlocked
/// file is from a process that was killed, and nothing relies on it.
struct SaltFile: Hashable {
    enum Role: CompanionRole {
        /// The salt of a database with a plaintext header, for the lifetime of the database.
        case permanent
        /// The salt on which all processes that find the database empty agree. Removed when page 1 has it.
        case creation
        /// The salt of a rotation in progress. Removed when the database has it.
        case rotation

        var file: CompanionFile {
            switch self {
            case .permanent: .salt
            case .creation: .newSalt
            case .rotation: .nextSalt
            }
        }
    }

    var salt: Salt
    var header: Int

    /// The number of salts of a file that are tried if a key doesn't fit.
    static let rememberedCount = 16

    /// The greatest number of former salts that a file keeps.
    static let mostFormer = 1_024

    static func path(_ role: Role, of database: String) -> String {
        role.file.path(of: database)
    }

    // MARK: Reading

    /// Returns the valid salt. Nil if there is none.
    static func read(_ role: Role, of database: String) throws -> SaltFile? {
        try readAll(role, of: database).first
    }

    /// Returns the valid salt last, and before it the former ones, newest first.
    static func readAll(_ role: Role, of database: String) throws -> [SaltFile] {
        let content = try settledContent(role, of: database)
        // No process empties the file of an existing database.
        if role == .permanent, content.isUnfinished, !content.bytes.isEmpty || exists(role, of: database) {
            throw damage(role, of: database, content)
        }
        return content.salts.reversed()
    }

    /// Returns true if there is anything with the name.
    static func exists(_ role: Role, of database: String) -> Bool {
        NamedFile.exists(path(role, of: database))
    }

    /// Returns the bytes of the file, to see whether they change.
    static func trace(_ role: Role, of database: String) -> [UInt8] {
        ((try? sidecar.read(path(role, of: database), settled: false)) ?? nil) ?? []
    }

    /// Waits for a process that is writing the file, and returns its content.
    private static func settledContent(_ role: Role, of database: String) throws -> SaltText {
        let content = try content(role, of: database, settled: false)
        return content.isUnfinished ? try self.content(role, of: database, settled: true) : content
    }

    /// Returns the content of the file. Without bytes if there is no file.
    private static func content(_ role: Role, of database: String, settled: Bool) throws -> SaltText {
        let content = SaltText(bytes: try sidecar.read(path(role, of: database), settled: settled) ?? [])
        guard !content.isDamaged else { throw damage(role, of: database, content) }
        return content
    }

    // MARK: Writing

    /// Appends this salt to the file.
    ///
    /// - parameter model: the file whose owner and mode the file gets. Default: the database.
    func write(_ role: Role, of database: String, like model: String? = nil) throws {
        _ = try settle(role, of: database, like: model) { $0.salts.last == self }
    }

    /// Writes the file unless another connection or process was first. Returns the valid salt.
    ///
    /// - parameter model: the file whose owner and mode the new file gets. Default: the database.
    func agree(_ role: Role, of database: String, like model: String? = nil) throws -> SaltFile {
        try settle(role, of: database, like: model) { !$0.salts.isEmpty }
    }

    /// Appends to the file unless it is settled. Returns the valid salt.
    private func settle(
        _ role: Role, of database: String, like model: String? = nil, unless isSettled: (SaltText) -> Bool
    ) throws -> SaltFile {
        let path = SaltFile.path(role, of: database)
        return try SaltFile.untilUnchanged(path) { () -> SaltFile? in
            let content = try SaltFile.settledContent(role, of: database)
            if let last = content.salts.last, isSettled(content) { return last }
            let error =
                content.salts.count > SaltFile.mostFormer
                ? try replaceOldest(of: content, at: path, like: model ?? database)
                : NamedFile.extend(
                    path, like: model ?? database, expecting: content.bytes, keeping: content.wholeCount,
                    by: try content.lines(adding: self))
            if error == EAGAIN { return nil }
            guard error == 0 else { throw SaltFile.failure("write", path, error: error) }
            return self
        }
    }

    /// Replaces the file by one with this salt and the newest of the former ones. It is written in a folder of its own,
    /// which the next copy removes if this process is killed. Returns zero or an errno.
    private func replaceOldest(of content: SaltText, at path: String, like model: String) throws -> CInt {
        let text = try SaltText.text(of: content.salts.suffix(SaltFile.mostFormer) + [self])
        let (error, folder, descriptor) = StagedCopy.makeFolder(in: NamedFile.folder(of: path))
        guard error == 0 else { return error }
        defer { StagedCopy.removeFolder(folder, descriptor) }
        let next = folder + "/copy"
        let written = NamedFile.extend(next, like: model, expecting: [], keeping: 0, by: text)
        return written != 0 ? written : NamedFile.replace(path, expecting: content.bytes, by: next)
    }

    /// Throws the errors of ``write(_:of:)`` before anything else is written.
    static func requireWritable(_ role: Role, of database: String) throws {
        try requireName(of: database)
        _ = try settledContent(role, of: database)
        let path = path(role, of: database), error = NamedFile.requireWritable(path)
        guard error == 0 else { throw failure("write", path, error: error) }
    }

    /// Refuses a database whose name is too long for the names of its salt files.
    static func requireName(of database: String) throws {
        let room = Int(NAME_MAX) - Role.allCases.map(\.rawValue.utf8.count).max()!
        let name = database.utf8.split(separator: UInt8(ascii: "/")).last ?? "".utf8[...]
        guard name.count > room else { return }
        throw DatabaseError(
            .SQLITE_CANTOPEN, refusing: "the name of \(database) is too long for the files beside it",
            advice: "use \(room) bytes at most, not \(name.count)", reason: .nameTooLong)
    }

    // MARK: Removing

    /// Removes a file that is no longer needed. Does not remove a file that can't be read or does not contain salts.
    static func remove(_ role: Role, of database: String) throws {
        try remove(role, of: database) { _ in true }
    }

    /// Removes the file if it contains only this salt. An older copy of the database could need another one.
    func remove(_ role: Role, of database: String) throws {
        try SaltFile.remove(role, of: database) { $0.salts.allSatisfy { $0.salt == salt } }
    }

    /// Removes an incomplete file that a killed process has left.
    static func removeUnfinished(_ role: Role, of database: String) throws {
        try remove(role, of: database, if: \.isUnfinished)
    }

    /// Removes the file beside a database that doesn't exist if it contains only the salt of `copy`, or the beginning
    /// of it. In that case the process that was to rename `copy` to `database` was killed after it had written the
    /// salt.
    static func removeSalt(of database: String, madeFor copy: String) throws {
        let salt = try settledContent(.permanent, of: copy)
        guard !salt.salts.isEmpty else { return }
        try remove(.permanent, of: database) { salt.bytes.starts(with: $0.bytes) }
    }

    private static func remove(_ role: Role, of database: String, if isSuperseded: (SaltText) -> Bool) throws {
        guard exists(role, of: database) else { return }
        let path = path(role, of: database)
        try untilUnchanged(path) { () -> Void? in
            guard let content = try? settledContent(role, of: database), isSuperseded(content) else { return () }
            let error = NamedFile.remove(path, expecting: content.bytes)
            if error == EAGAIN { return nil }
            guard error == 0 else { throw failure("remove", path, error: error) }
            return ()
        }
    }

    /// Repeats `attempt` for as long as others change the file meanwhile.
    private static func untilUnchanged<T>(_ path: String, _ attempt: () throws -> T?) throws -> T {
        for _ in 0..<1000 {
            if let result = try attempt() { return result }
        }
        throw failure("write", path, error: EBUSY)
    }
}

// MARK: - Errors

extension SaltFile {
    private static let sidecar = Sidecar(noun: "salt file", largest: SaltText.largest, unfit: .unfitSaltFile)

    private static func failure(_ verb: String, _ path: String, error: CInt) -> DatabaseError {
        sidecar.failure(verb, path, error: error)
    }

    private static func damage(_ role: Role, of database: String, _ content: SaltText) -> DatabaseError {
        let state = content.bytes.isEmpty ? "empty" : "damaged"
        return DatabaseError(
            .SQLITE_CORRUPT, refusing: "the salt file \(path(role, of: database)) is \(state)", advice: role.cure,
            reason: .damagedSalt)
    }
}

extension SaltFile.Role {
    fileprivate var cure: String {
        switch self {
        case .permanent: "restore it from a backup, or give the salt with PlaintextHeader(salt: .provided(…))"
        case .creation: "delete it, the database was not created with it"
        case .rotation: "move it away; if the database opens then, delete it, otherwise restore it from a backup"
        }
    }
}
