import Strongroom

// Failures for the errors of the library, with exit status and remedy.

extension Failure {
    /// Returns true if the error is about the file that is written, not the one that is read.
    static func isOfDisk(_ error: DatabaseError) -> Bool {
        switch error.resultCode {
        case .SQLITE_FULL, .SQLITE_CANTOPEN: true
        case .SQLITE_IOERR: writing.contains(error.extendedResultCode)
        default: false
        }
    }

    private static let writing: [ResultCode] = [
        .SQLITE_IOERR_WRITE, .SQLITE_IOERR_FSYNC, .SQLITE_IOERR_DIR_FSYNC, .SQLITE_IOERR_TRUNCATE,
    ]

    init(_ error: DatabaseError, file: String) {
        if let version = error.formatVersion {
            self.init(otherFormat: version, file: file)
        } else if let known = Failure(surroundings: error, file: file) {
            self = known
        } else if let known = error.reason.flatMap({ Failure(reason: $0, file: file) }) {
            self = known
        } else if error.isWrongKeyError {
            self.init(
                .wrongKey, file: file, "this passphrase does not open it; nothing was changed",
                remedy: """
                    Check the passphrase, and that this is an encrypted database with pages of the usual size \
                    (--page-size)
                    """)
            if let advice = error.recoverySuggestion { addRemedy(advice.prefix(1).uppercased() + advice.dropFirst()) }
        } else {
            self.init(
                code: error.extendedResultCode, said: error.failureReason ?? "\(error.extendedResultCode)",
                file: file)
        }
    }

    /// Creates a failure about a sidecar, a plaintext header or SQLite itself, with the library's own remedy. Nil for
    /// other errors.
    private init?(surroundings error: DatabaseError, file: String) {
        let status: Status
        switch error.reason {
        case .foreignLog: status = .damaged
        case .notRestorable: status = .other
        case .replacementPending: status = error.resultCode == .SQLITE_FULL ? .diskFull : .other
        case .changedMeanwhile: status = .busy
        case .damagedSalt, .contradictoryHeader, .damagedSlotFile, .forgedSlotFile: status = .damaged
        case .unfitSaltFile, .nameTooLong, .unfitLibrary, .unfitSlotFile, .newerSlotFile, .foreignSlotFile,
            .olderSlotFile,
            .unfitKeySlots, .unfitKeySlot, .existingKeySlot, .missingKeySlot, .lastKeySlot, .droppedKeySlots,
            .weakKeyCost, .excessiveKeyCost, .unsupportedDerivation, .missingKey, .keyStoreLocked, .keyStoreFailed:
            status = .other
        case .mistypedRecoveryCode: status = .wrongKey
        case .unfitBackup where error.resultCode == .SQLITE_CORRUPT: status = .damaged
        case .unfitBackup: status = .other
        default: return nil
        }
        let advice = error.recoverySuggestion.map { $0.prefix(1).uppercased() + $0.dropFirst() }
        guard error.reason != .replacementPending else {
            self.init(status, file: file, error.failureReason ?? "", remedy: advice)
            return
        }
        self.init(status, file: file, "\(error.failureReason ?? ""); nothing was changed", remedy: advice)
    }

    /// Creates a failure for a reason; nil if the result code says as much.
    init?(reason: DatabaseError.Reason, file: String) {
        switch reason {
        case .missingSalt:
            self.init(
                .other, file: file, "its header is plaintext and its salt is missing; nothing was changed",
                remedy: "Put \(shellQuoted(CompanionFile.salt.path(of: file))) back, or give the salt with --salt-file")
        case .wrongSalt:
            self.init(
                .wrongKey, file: file, "the key fits and the salt does not; nothing was changed",
                remedy: "Check --salt-file, or the salt after a raw key")
            isOfSalt = true
        case .missingPlaintextHeader:
            self.init(
                .other, file: file,
                "it has no plaintext header; its salt is the file's first 16 bytes; nothing was changed",
                remedy: "Leave out --salt-file")
        case .unfitKeySlots:
            self.init(
                .other, file: file,
                """
                it has no key slots, or its slot file \(CompanionFile.keys.path(of: file)) is missing; nothing was \
                changed
                """,
                remedy: """
                    If it has had slots, put that file back, for example with: strongroom key restore. If not, \
                    strongroom rotate --slots gives it some
                    """)
        case .notEncrypted:
            self.init(
                .other, file: file, "it is not encrypted; nothing was changed",
                remedy: "Make an encrypted copy with: strongroom encrypt")
        case .notDatabase:
            self.init(.other, file: file, "it is not a database; nothing was changed", remedy: "Check the path")
        default:
            return nil
        }
    }

    private init(code: ResultCode, said: String, file: String) {
        let permissions = "Check the permissions of the file and of its folder"
        switch (code, code.primaryResultCode) {
        case (.SQLITE_READONLY_ROLLBACK, _), (.SQLITE_READONLY_RECOVERY, _):
            self.init(
                .other, file: file,
                """
                a program ended during a write and left \(file)-journal, which must be rolled back before the file can \
                be read; nothing was changed
                """,
                remedy: """
                    Open it with its program, or roll back with: strongroom query \(shellQuoted(file)) --write \
                    'SELECT 1'
                    """)
        case (.SQLITE_READONLY_CANTINIT, _):
            self.init(
                .other, file: file, "its log can only be read by a user who may write it; nothing was changed",
                remedy: "Run this as a user who may write the file and its folder")
        case (_, .SQLITE_BUSY), (_, .SQLITE_LOCKED):
            self.init(
                .busy, file: file, "another program is using it (\(said)); nothing was changed",
                remedy: "Stop that program or let it finish, then run this again")
        case (_, .SQLITE_CORRUPT):
            self.init(
                .damaged, file: file, "it is damaged (\(said))",
                remedy: "Keep a copy of it as it is, and restore from a backup")
        case (_, .SQLITE_FULL):
            self.init(
                .diskFull, file: file, "the disk is full (\(said)); what had begun is undone",
                remedy: "Make room, then run this again")
        case (_, .SQLITE_READONLY), (_, .SQLITE_PERM):
            self = Failure(.other, file: file, "it cannot be written (\(said))", remedy: permissions)
                .naming(rightsOf: file)
            isOfWriting = true
        case (_, .SQLITE_INTERRUPT):
            self.init(.interrupted, file: file, "interrupted; what had begun is undone")
        case (_, .SQLITE_CANTOPEN):
            self = Failure(.other, file: file, "it cannot be opened (\(said))", remedy: permissions)
                .naming(rightsOf: file)
        default:
            self.init(.other, file: file, said)
        }
    }

    /// Creates the failure for a key that is right and a format that is not the given one.
    private init(otherFormat version: Int, file: String) {
        let remedy =
            version == 4
            ? "Leave out --sqlcipher-version and --page-size"
            : """
            Give it today's format with: strongroom migrate \(shellQuoted(file)) --in-place; or give \
            --sqlcipher-version \(version) to other commands
            """
        self.init(
            .other, file: file, "its format is that of SQLCipher \(version); nothing was changed",
            details: [("sqlcipher_version", .integer(Int64(version)))], remedy: remedy)
    }
}
