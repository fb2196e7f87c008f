/// The result of a check of a whole database.
public struct IntegrityReport: Sendable, Equatable {
    /// Pages that aren't what was written under the key: damaged, or tampered with. Nil where there is no HMAC to
    /// tell.
    public var unauthenticPages: [Int]?
    /// The problems that `PRAGMA integrity_check` finds in b-trees, indexes and constraints; empty when all is well.
    public var structureProblems: [String]
    /// Rows that refer to nothing.
    public var foreignKeyProblems: [String]
    /// Pages in the database.
    public var pageCount: Int

    /// A Boolean value that indicates whether the check found no problem.
    public var isIntact: Bool {
        (unauthenticPages ?? []).isEmpty && structureProblems.isEmpty && foreignKeyProblems.isEmpty
    }
}

extension Database {
    /// Checks pages, structure and foreign keys, on a connection that has read nothing before.
    func integrityReport(
        pagesOnly: Bool = false, progress: ((EncryptionProgress) throws -> Void)? = nil) throws -> IntegrityReport
    {
        let pages = try pageCount
        var report = IntegrityReport(
            unauthenticPages: nil, structureProblems: [], foreignKeyProblems: [], pageCount: pages)
        if let derived = cipher.derived, derived.settings.hmacAlgorithm != nil {
            report.unauthenticPages = try PageAuthentication(self).badPages {
                try self.stops.check()
                try progress?($0)
            }
        }
        if pagesOnly { return report }
        report.structureProblems = structureProblems()
        // Foreign keys can't be followed through damaged pages.
        if report.structureProblems.isEmpty { report.foreignKeyProblems = try foreignKeyProblems() }
        return report
    }

    /// <https://www.sqlite.org/pragma.html#pragma_integrity_check>
    private func structureProblems() -> [String] {
        do {
            let lines = try String.fetchAll(self, sql: "PRAGMA integrity_check")
            return lines == ["ok"] ? [] : lines
        } catch {
            return [(error as? DatabaseError)?.failureReason ?? "the database can't be read"]
        }
    }

    /// <https://www.sqlite.org/pragma.html#pragma_foreign_key_check>
    private func foreignKeyProblems() throws -> [String] {
        try Row.fetchAll(self, sql: "PRAGMA foreign_key_check").map { row in
            let rowID: Int64? = row[1]
            let table: String = row[0], target: String = row[2]
            return "\(table)\(rowID.map { " rowid \($0)" } ?? ""): nothing in \(target)"
        }
    }

    /// The report of a file, by a connection of its own.
    static func integrityReport(path: String, configuration: Configuration) throws -> IntegrityReport {
        try forIntegrityCheck(path: path, configuration: configuration).withSoleAccess { try $0.wholeReport() }
    }

    /// A connection that has read nothing.
    static func forIntegrityCheck(path: String, configuration: Configuration) throws -> Database {
        try Database(path: path, description: "checkIntegrity", configuration: configuration)
    }

    /// Sets the connection up, and checks what it finds.
    func wholeReport() throws -> IntegrityReport {
        try setUp()
        return try integrityReport()
    }
}
