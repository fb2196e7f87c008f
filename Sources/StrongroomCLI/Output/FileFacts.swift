import Strongroom

/// The output of `strongroom info`: one fact a line, its name first; and as JSON.
struct FileFacts: CustomStringConvertible {
    private var lines: [(String, String)]
    private(set) var members: [(String, JSON)]

    /// Creates the facts that are known without a key.
    init(_ target: Target) {
        let inspection = target.inspection
        lines = [("file", target.name), ("kind", Self.words(inspection.kind)), ("size", "\(inspection.size) bytes")]
        members = [
            ("kind", .text(inspection.kind.rawValue)),
            ("size", .integer(inspection.size)),
            ("page_size", .optional(inspection.pageSize)),
            ("wal_size", inspection.walSize.map { .integer($0) } ?? .null),
            ("has_rollback_journal", .bool(inspection.hasRollbackJournal)),
            ("has_salt_file", .bool(inspection.hasSaltFile)),
            ("is_rotation_pending", .bool(inspection.isRotationPending)),
            ("has_slot_file", .bool(inspection.hasSlotFile)),
            ("key_slots", .list(inspection.keySlots.map(\.json))),
            ("slot_file_problems", .list(inspection.slotFileProblems.map { .text($0.rawValue) })),
            ("sqlite_version", .text(Versions.sqlite)),
            ("has_wal_reset_bug", .bool(Database.libraryHasWALResetBug)),
            // All connections of this program are fenced if the library has the bug.
            ("is_fenced", .bool(Database.libraryHasWALResetBug)),
        ]
        if let pageSize = inspection.pageSize { lines.append(("page size", "\(pageSize) bytes")) }
        if let walSize = inspection.walSize { lines.append(("WAL", "\(walSize) bytes")) }
        if inspection.hasRollbackJournal {
            lines.append(("journal", "a rollback journal waits for the next opening"))
        }
        if inspection.kind == .plaintextHeader {
            lines.append(("salt", inspection.hasSaltFile ? "in a file beside the database" : "not beside the database"))
        }
        lines += inspection.keySlots.map { ("slot", $0.line) }
        lines += inspection.slotFileProblems.map { ("warning", Self.words($0)) }
        if inspection.isRotationPending {
            lines.append(("rotation", "interrupted or in progress; the next opening ends it"))
        }
        if let note = Versions.walResetNote { lines.append(("SQLite", "\(Versions.sqlite), \(note)")) }
    }

    /// Adds the facts of an opened database.
    mutating func add(_ details: DatabaseFile.Details, _ settings: CipherSettings, isClear: Bool, isRawKey: Bool) {
        lines.removeAll { $0.0 == "page size" }
        // The key has opened it.
        if let kind = lines.firstIndex(where: { $0.0 == "kind" }), !isClear, details.plaintextHeaderSize == 0 {
            lines[kind].1 = "encrypted"
        }
        lines.append(("pages", "\(details.pageCount) of \(details.pageSize) bytes, \(details.freePageCount) free"))
        if !isClear { addCipher(settings, details, isRawKey: isRawKey) }
        lines += [
            (
                "schema",
                "\(counted(details.tableCount, "table")), \(counted(details.indexCount, "index", "indexes")), "
                    + "\(counted(details.viewCount, "view")), \(counted(details.triggerCount, "trigger"))"
            ),
            ("journal", details.journalMode), ("encoding", details.encoding),
            ("versions", "user_version \(details.userVersion), application_id \(details.applicationID)"),
        ]
        members.removeAll { $0.0 == "page_size" }
        members += [
            ("page_size", .count(details.pageSize)), ("pages", .count(details.pageCount)),
            ("free_pages", .count(details.freePageCount)),
            ("tables", .count(details.tableCount)), ("indexes", .count(details.indexCount)),
            ("views", .count(details.viewCount)),
            ("triggers", .count(details.triggerCount)), ("journal_mode", .text(details.journalMode)),
            ("encoding", .text(details.encoding)), ("user_version", .count(details.userVersion)),
            ("application_id", .count(details.applicationID)),
        ]
    }

    private mutating func addCipher(_ settings: CipherSettings, _ details: DatabaseFile.Details, isRawKey: Bool) {
        let kdf = "PBKDF2-HMAC-SHA\(settings.kdfAlgorithm.rawValue)"
        let hmac = settings.hmacAlgorithm.map { "HMAC-SHA\($0.rawValue)" }
        lines += [
            ("key", isRawKey ? "raw, not derived" : "\(kdf), \(settings.kdfIterations) rounds"),
            ("pages are", hmac.map { "AES-256-CBC, authenticated by \($0)" } ?? "AES-256-CBC, not authenticated"),
        ]
        if details.plaintextHeaderSize > 0 {
            lines.append(("header", "\(details.plaintextHeaderSize) bytes unencrypted"))
        }
        members += [
            ("kdf", isRawKey ? .null : .text(kdf)),
            ("kdf_iterations", isRawKey ? .null : .count(settings.kdfIterations)),
            ("hmac", .optional(hmac)), ("plaintext_header_size", .count(details.plaintextHeaderSize)),
        ]
    }

    /// Adds the key of a store that opened the database.
    mutating func add(_ key: StoredKey) {
        let name: String, text: String
        var former: FormerKey?
        switch key {
        case .current: (name, text) = ("current", "the current one")
        case .next: (name, text) = ("next", "the next one: a rotation was interrupted")
        case .former(let key):
            (name, text) = ("former", "a former one, \(key.identifier), replaced \(key.date.formatted(.iso8601))")
            former = key
        }
        lines.append(("stored key", text))
        members += [("stored_key", .text(name)), ("former_key", former?.json ?? .null)]
    }

    var description: String {
        lines.map { name, value in name.padding(to: 10) + value }.joined(separator: "\n")
    }

    private static func words(_ problem: SlotFileProblem) -> String {
        switch problem {
        case .unreadable: "the slot file cannot be read, or is damaged"
        case .foreign: "the slot file is older than the database expects, or belongs to another one"
        case .noRecoveryCode: "no slot is for a recovery code (strongroom key add --recovery-code)"
        case .readableByOthers: "every user of this machine can read the slot file (chmod o-r)"
        }
    }

    private static func words(_ kind: DatabaseFile.Inspection.Kind) -> String {
        switch kind {
        case .absent: "absent"
        case .empty: "empty: nothing was written to it yet"
        case .clear: "clear: a SQLite database that anyone can read"
        case .encrypted: "encrypted, or random bytes: only a key can tell"
        case .plaintextHeader: "encrypted, with a plaintext header"
        case .notDatabase: "not a database"
        }
    }
}

extension String {
    func padding(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
