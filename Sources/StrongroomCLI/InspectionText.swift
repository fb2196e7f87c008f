import Strongroom

/// What `strongroom info` says: one fact a line, its name first.
struct InspectionText: CustomStringConvertible {
    let file: String
    let inspection: DatabaseFile.Inspection

    var description: String {
        facts.map { name, value in name.padding(to: 10) + value }.joined(separator: "\n")
    }

    private var facts: [(String, String)] {
        var facts = [("file", file), ("kind", kind), ("size", "\(inspection.size) bytes")]
        if let pageSize = inspection.pageSize { facts.append(("page size", "\(pageSize) bytes")) }
        if let walSize = inspection.walSize { facts.append(("WAL", "\(walSize) bytes")) }
        if inspection.hasRollbackJournal {
            facts.append(("journal", "a rollback journal waits for the next opening"))
        }
        if inspection.kind == .plaintextHeader {
            facts.append(("salt", inspection.hasSaltFile ? "in a file beside the database" : "not beside the database"))
        }
        if inspection.isRotationPending {
            facts.append(("rotation", "interrupted or under way; the next opening ends it"))
        }
        return facts
    }

    private var kind: String {
        switch inspection.kind {
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
    fileprivate func padding(to width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
