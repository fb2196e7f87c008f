import Foundation

/// The slot files of a database. They are beside the real file, have its owner and mode, and are replaced as a whole.
///
/// A change locks and writes the scratch file, and renames it. Readers find the content from before or from after the
/// change. A killed process leaves at most a scratch file, which the next change takes over.
struct SlotFiles {
    enum Role: CompanionRole {
        /// The slots of the data key that the database has.
        case current
        /// The slots of the new data key of a rotation in progress.
        case rotation
        /// The next content of either.
        case scratch

        var file: CompanionFile {
            switch self {
            case .current: .keys
            case .rotation: .nextKeys
            case .scratch: .newKeys
            }
        }
    }

    private static let sidecar = Sidecar(noun: "slot file", largest: SlotFile.largestSize, unfit: .unfitSlotFile)

    /// The path of the database, with symbolic links resolved.
    let database: String

    func path(_ role: Role) -> String { role.file.path(of: database) }

    // MARK: Reading

    /// Returns true if there is anything with the name.
    func exists(_ role: Role) -> Bool { NamedFile.exists(path(role)) }

    /// Returns the content of a slot file. Nil if there is none.
    func read(_ role: Role) throws -> SlotFile? { try SlotFiles.read(path(role)) }

    /// Returns the slot file for the data key of a salt. Nil if there is none. While a rotation is pending, it may be
    /// the next one.
    func read(for salt: Salt) throws -> SlotFile? {
        // In between, the next one may have become the current one.
        for role in [Role.current, .rotation, .current] {
            if let file = try read(role), file.salt == salt { return file }
        }
        return nil
    }

    /// The bytes of the current slot file and of that of a rotation, to see whether they change.
    var traces: [[UInt8]] {
        [Role.current, .rotation].map { ((try? SlotFiles.sidecar.read(path($0), settled: false)) ?? nil) ?? [] }
    }

    /// Returns the content of the slot file at a path. Nil if there is none.
    static func read(_ path: String) throws -> SlotFile? {
        guard let bytes = try sidecar.read(path, settled: false) else { return nil }
        do {
            return try SlotFile(text: bytes)
        } catch let error as DatabaseError {
            throw DatabaseError(
                error.extendedResultCode, error.reason ?? .damagedSlotFile,
                "\(path): \(error.failureReason ?? "the slot file is damaged")", advice: error.recoverySuggestion)
        }
    }

    /// Refuses a database with a slot file, which contains its key.
    func requireNone() throws {
        guard let role = [Role.current, .rotation].first(where: exists) else { return }
        throw DatabaseError.missingKey(
            database, because: "\(path(role)) belongs to a database that has a key",
            advice: "restore that database and open it with a secret of its slot file, or move the file away")
    }

    // MARK: Changing

    /// Runs `body` while no other thread or process changes the slot files.
    func changing<T>(_ body: (Change) throws -> T) throws -> T {
        let scratch = path(.scratch), descriptor = ScratchFile.open(scratch, like: database)
        guard descriptor >= 0 else { throw SlotFiles.sidecar.failure("write", scratch, error: -descriptor) }
        defer { ScratchFile.close(descriptor, scratch) }
        return try body(Change(files: self, descriptor: descriptor))
    }

    /// Runs `body` like `changing`, unless a rotation brings in other slots.
    func changingSlots<T>(_ body: (Change) throws -> T) throws -> T {
        try changing { change in
            guard !exists(.rotation) else {
                throw DatabaseError(
                    .SQLITE_BUSY, refusing: "the data key is being renewed",
                    advice: "try again when that is finished; opening the database for writing ends it after a crash",
                    reason: .checkpointPending)
            }
            return try body(change)
        }
    }

    /// Removes what a killed change has left.
    func removeLeftOvers() { ScratchFile.sweep(path(.scratch)) }

    /// Removes a slot file, complete or not, if it is that of `copy`. In that case the process that was to rename
    /// `copy` to the database was killed before that.
    func removeKeys(madeFor copy: SlotFiles, as role: Role) throws {
        guard let own = try copy.read(.current) else { return }
        try changing { change in
            if try read(role) == own { try change.remove(role) }
        }
    }

    /// The right to change the slot files. One of them can be written, as the last step.
    struct Change {
        let files: SlotFiles
        fileprivate let descriptor: CInt

        /// Replaces a slot file. The new content is on the disk when this returns. After an error, the file has the
        /// former content or the new one, as a whole.
        ///
        /// - parameter model: the file whose owner and mode the slot file gets. Default: the database.
        /// - parameter replacesDamaged: true to also replace a file that is malformed. Links and folders are never
        ///   replaced.
        func write(_ file: SlotFile, as role: Role, like model: String? = nil, replacesDamaged: Bool = false) throws {
            let path = files.path(role), text = file.text
            if replacesDamaged {
                _ = try SlotFiles.sidecar.read(path, settled: false)
            } else {
                _ = try files.read(role)
            }
            let error = ScratchFile.publish(
                descriptor, files.path(.scratch), as: path, like: model ?? files.database, text)
            guard error == 0 else { throw SlotFiles.sidecar.failure("write", path, error: error) }
        }

        /// Removes a file, if there is one.
        func remove(_ role: Role) throws {
            let path = files.path(role), error = NamedFile.remove(path)
            guard error == 0 || error == ENOENT else { throw SlotFiles.sidecar.failure("remove", path, error: error) }
        }
    }
}
