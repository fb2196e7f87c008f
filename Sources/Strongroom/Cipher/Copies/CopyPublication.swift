import Foundation

/// The naming of a finished copy, together with its salt and its slot file, in the folder beside its own.
///
/// At every instant the name leads to a whole database, or to none. The salt is written first: without it, a database
/// with a plaintext header can't be opened. Beside a database that is to be replaced, the salt joins the former ones,
/// and the slot file takes the place of that of a rotation in progress: opening finds the one that fits, and ends the
/// publication as it ends a rotation.
///
/// A record beside the copy names the destination. With it, the next copy undoes what a killed process has begun, or
/// finishes what has happened.
struct CopyPublication {
    /// The path of the finished copy, which no connection has open.
    private let copy: String
    private let destination: String

    private var own: SlotFiles { SlotFiles(database: copy) }
    private var files: SlotFiles { SlotFiles(database: destination) }

    init(of copy: String, as destination: String) {
        (self.copy, self.destination) = (copy, destination)
    }

    // MARK: - Publishing

    /// Names the copy. It replaces nothing. After a failure all names are as before.
    ///
    /// - throws: `SQLITE_CANTOPEN` if a name is taken.
    func run() throws {
        try writeRecord()
        let salt = try giveSalt()
        do {
            let hasKeys = try giveSlotFile()
            do {
                try move()
            } catch {
                if hasKeys { try files.changing { try $0.remove(.current) } }
                throw error
            }
            if hasKeys { try own.changing { try $0.remove(.current) } }
        } catch {
            try salt?.remove(.permanent, of: destination)
            throw error
        }
        try salt?.remove(.permanent, of: copy)
    }

    /// Replaces the database at the destination, which exists, by the copy.
    ///
    /// - parameter replace: renames the copy to the destination. After an error that it throws, or of an earlier step,
    ///   the former database opens as before.
    func run(replacingBy replace: () throws -> Void) throws {
        let next = try own.read(.current), former = next == nil ? try files.read(.current) : nil
        try writeRecord(former: former)
        let salt = try SaltFile.read(.permanent, of: copy)
        try salt?.write(.permanent, of: destination, like: copy)
        if let next { try files.changing { try $0.write(next, as: .rotation, like: copy) } }
        do {
            try replace()
        } catch {
            undo()
            throw error
        }
        // A program that has opened the former database meanwhile may have removed it.
        if let next, try files.read(.rotation) != next, try files.read(.current)?.salt != next.salt {
            try files.changing { try $0.write(next, as: .rotation) }
        }
        try finish(next, former: former)
    }

    /// Writes the salt beside the destination, where there must be none. Nil without a salt.
    private func giveSalt() throws -> SaltFile? {
        guard let salt = try SaltFile.read(.permanent, of: copy) else { return nil }
        let name = SaltFile.path(.permanent, of: destination)
        guard !NamedFile.exists(name), try salt.agree(.permanent, of: destination, like: copy) == salt
        else { throw DatabaseError.taken(name) }
        return salt
    }

    /// Writes the slot file beside the destination, where there must be none. False without one.
    private func giveSlotFile() throws -> Bool {
        guard let file = try own.read(.current) else { return false }
        try files.changing { change in
            guard !files.exists(.current) else { throw DatabaseError.taken(files.path(.current)) }
            try change.write(file, as: .current, like: copy)
        }
        return true
    }

    private func move() throws {
        let error = NamedFile.move(copy, to: destination)
        if error == EEXIST { throw DatabaseError.taken(destination) }
        guard error == 0 else {
            throw DatabaseError(
                resultCode: .SQLITE_IOERR, message: "can't rename \(copy): \(String(cString: strerror(error)))")
        }
    }

    // MARK: - The end

    /// Makes the slot file of the copy, which has its name, the only one.
    ///
    /// - parameter former: the slot file of the replaced database, if the copy has none.
    private func finish(_ next: SlotFile?, former: SlotFile?) throws {
        if next != nil || former != nil {
            try files.changing { change in
                // A process that has opened the database may have done it.
                if let next, try files.read(.rotation) == next {
                    try change.write(next, as: .current, replacesDamaged: true)
                    try change.remove(.rotation)
                } else if let former, try files.read(.current) == former {
                    try change.remove(.current)
                }
            }
        }
        if next != nil { try own.changing { try $0.remove(.current) } }
    }

    /// Removes what the copy, which has not got its name, was to have beside the destination. Files of others stay.
    private func undo() {
        if SaltFile.exists(.permanent, of: copy), NamedFile.isOwn(SaltFile.path(.permanent, of: destination)) {
            try? SaltFile.removeSalt(of: destination, madeFor: copy)
        }
        guard own.exists(.current) else { return }
        let role: SlotFiles.Role = NamedFile.exists(destination) ? .rotation : .current
        files.removeLeftOvers()
        if NamedFile.isOwn(files.path(role)) { try? files.removeKeys(madeFor: own, as: role) }
    }

    // MARK: - Left-overs

    /// Undoes or finishes the publication of a copy whose process was killed.
    ///
    /// - parameters:
    ///   - copy: the path that the copy has, or had, in a folder of this user.
    ///   - folder: the folder of its destination.
    static func settle(_ copy: String, in folder: String) {
        guard let name = readRecord(of: copy) else { return }
        let publication = CopyPublication(of: copy, as: folder + "/" + name)
        guard !NamedFile.exists(copy) else { return publication.undo() }
        guard NamedFile.exists(publication.destination) else { return }
        let former = (try? SlotFiles.read(copy + formerEnding)) ?? nil
        try? publication.finish((try? publication.own.read(.current)) ?? nil, former: former)
    }

    private static let recordEnding = "-destination", formerEnding = "-former-keys"

    /// Writes the name of the destination, and the slot file that is to be removed, beside the copy.
    private func writeRecord(former: SlotFile? = nil) throws {
        guard former != nil || own.exists(.current) || SaltFile.exists(.permanent, of: copy) else { return }
        let name = NamedFile.name(of: destination)
        for (ending, text) in [(Self.recordEnding, Array(name.utf8)), (Self.formerEnding, former?.text ?? [])]
        where !text.isEmpty {
            let error = NamedFile.extend(copy + ending, like: copy, expecting: [], keeping: 0, by: text)
            guard error == 0 else { throw CopyStaging.failure("write beside \(copy)", error) }
        }
    }

    private static func readRecord(of copy: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: Int(NAME_MAX) + 1)
        let count = NamedFile.read(copy + recordEnding, settled: false, into: &buffer)
        guard count > 0, count <= Int(NAME_MAX), let name = String(bytes: buffer.prefix(Int(count)), encoding: .utf8),
            !name.utf8.contains(UInt8(ascii: "/")), !name.utf8.contains(0), name != ".", name != ".."
        else { return nil }
        return name
    }
}

extension DatabaseFile {
    /// Names a finished database, which no connection has open, in a folder beside its own, together with its salt and
    /// its slot file. It replaces a database only if `replace` does it, which renames it to the destination. After a
    /// failure all names are as before.
    ///
    /// - throws: `SQLITE_CANTOPEN` if a name is taken.
    package static func rename(
        _ copy: String, to destination: String, by replace: (() throws -> Void)? = nil
    ) throws {
        let publication = CopyPublication(of: copy, as: destination)
        if let replace { try publication.run(replacingBy: replace) } else { try publication.run() }
    }

    /// Undoes or finishes what a killed process has begun to publish in `folder`.
    package static func settlePublication(of copy: String, in folder: String) {
        CopyPublication.settle(copy, in: folder)
    }
}

extension DatabaseError {
    static func taken(_ path: String) -> DatabaseError {
        DatabaseError(.SQLITE_CANTOPEN, refusing: "\(path) exists", advice: "name a new file", reason: .fileExists)
    }
}
