import Foundation

/// The place of a database that is restored.
struct RestoreDestination {
    /// The path with symbolic links resolved.
    let path: String
    /// The path as it was given, for messages.
    let name: String

    private var isNew: Bool { !NamedFile.exists(path) }

    /// Makes a database with `make` in a folder beside this one, and replaces this one by it.
    ///
    /// - parameters:
    ///   - size: the size of all files in bytes.
    ///   - model: the file whose mode the database gets if there is none. Nil for the mode that it was made with.
    ///   - isLocked: true if a connection of the caller keeps all others out.
    /// - returns: the path that the former database has now, as the name was given.
    func fill(
        _ former: FormerDatabase, size: Int64, like model: String?, isLocked: Bool = false,
        _ make: (_ copy: String) throws -> Void
    ) throws -> String? {
        try Replacement.settle(path)
        CopyStaging.removeLeftOvers(beside: path)
        try requireReplaceable(size)
        let suffix = try former == .kept && !isNew ? freeSuffix() : nil
        if !isNew, !isLocked { _ = try FileHold(path, exclusively: true) }
        let staging = try makeStaging()
        do {
            try make(staging.path)
            try publish(staging, suffix, like: model, isLocked)
        } catch let error as DatabaseError where error.reason == .replacementPending {
            staging.leave()
            throw error
        } catch {
            staging.remove()
            throw error
        }
        staging.remove()
        return suffix.map { name + $0 }
    }

    private func makeStaging() throws -> CopyStaging {
        do {
            return try CopyStaging(beside: path)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_CANTOPEN {
            throw DatabaseError.unfitForRestore(
                error.message ?? "a folder can't be made beside \(name)",
                advice: "check the permissions of the folder that it is in")
        }
    }

    private func publish(_ staging: CopyStaging, _ suffix: String?, like model: String?, _ isLocked: Bool) throws {
        let files = [staging.path] + CompanionFile.allCases.filter(\.isRestored).map { $0.path(of: staging.path) }
        let wasNew = isNew
        if let model = wasNew ? model : path {
            for file in files where NamedFile.exists(file) {
                let error = StagedCopy.takeMode(file, of: model)
                guard error == 0 || wasNew else { throw CopyStaging.failure("give a file the mode of \(name)", error) }
            }
        }
        let hold = try wasNew || isLocked ? nil : FileHold(path, exclusively: true)
        try withExtendedLifetime(hold) {
            try Replacement(of: path, by: staging.path, suffix: suffix).run()
        }
    }

    // MARK: - Obstacles

    private func requireReplaceable(_ size: Int64) throws {
        guard NamedFile.size(NamedFile.folder(of: path)) == -2 else {
            throw DatabaseError.unfitForRestore("the folder of \(name) does not exist", advice: "make it")
        }
        guard isNew || ReplacedFile.number(path) > 0 else {
            throw DatabaseError.unfitForRestore("\(name) is not a file")
        }
        if !isNew, try DatabaseFile.inspect(path: path).kind == .notDatabase {
            throw DatabaseError.notDatabase(name, "it is text, or too short; no backup replaces it")
        }
        try SaltFile.requireName(of: path)
        for companion in CompanionFile.allCases where companion.isReplaced {
            let file = companion.path(of: path), number = ReplacedFile.number(file)
            guard number >= 0 else {
                throw DatabaseError.unfitForRestore("\(file) is not a file", advice: "move it away")
            }
            // What is left of a database that was moved away may belong to it.
            guard number > 0, isNew else { continue }
            throw DatabaseError.unfitForRestore(
                "\(file) belongs to a database that is not there",
                advice: "move it away, or put its database back")
        }
        guard ReplacedFile.canGiveOwner(of: path) else {
            throw DatabaseError.unfitForRestore(
                "\(name) belongs to another user, and the restored one would not",
                advice: "run this as that user, or as root")
        }
        let free = NamedFile.room(NamedFile.folder(of: path)).free
        guard free > size else {
            throw DatabaseError(
                .SQLITE_FULL, refusing: "\(size) bytes are needed beside \(name), and \(free) are free",
                advice: "make room")
        }
    }

    /// Returns what the names of the former files get: the time, and a number if another one has it already.
    private func freeSuffix() throws -> String {
        let time = Date().formatted(.iso8601.dateSeparator(.omitted).timeSeparator(.omitted))
        var suffix = ".former-" + time, count = 1
        while true {
            let all = [path + suffix] + CompanionFile.allCases.map { $0.path(of: path + suffix) }
            guard all.allSatisfy({ NamedFile.name(of: $0).utf8.count <= Int(NAME_MAX) }) else {
                throw DatabaseError(
                    .SQLITE_CANTOPEN, refusing: "the name of \(name) leaves no room for that of its former files",
                    advice: "discard the former database, or give it a shorter name", reason: .nameTooLong)
            }
            if !all.contains(where: NamedFile.exists) { return suffix }
            count += 1
            suffix = ".former-\(time)-\(count)"
        }
    }
}
