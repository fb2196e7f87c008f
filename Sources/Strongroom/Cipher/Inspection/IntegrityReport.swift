/// The result of a check of a whole database.
public struct IntegrityReport: Sendable, Equatable {
    /// The numbers of the pages that are not authentic: damaged, or tampered with. Nil for a format without HMAC.
    public var unauthenticPages: [Int]?
    /// The problems that `PRAGMA integrity_check` finds in b-trees, indexes and constraints. Empty if there are none.
    /// Also empty if there are unauthentic pages: SQLite would then report problems of good pages, too.
    /// <https://www.sqlite.org/pragma.html#pragma_integrity_check>
    public var structureProblems: [String]
    /// The rows whose foreign keys refer to missing rows.
    public var foreignKeyProblems: [String]
    /// The number of pages in the database.
    public var pageCount: Int
    /// The number of pages that were authenticated. All of them, unless a command has asked for a part.
    package var authenticatedPageCount = 0
    /// The marks of the pages, for the next check. Empty unless they were asked for.
    package var marks = PageMarks()

    /// A Boolean value that indicates whether the check found no problem.
    public var isIntact: Bool {
        (unauthenticPages ?? []).isEmpty && structureProblems.isEmpty && foreignKeyProblems.isEmpty
    }
}

extension Database {
    /// Checks pages, structure and foreign keys, on a connection that has not read yet.
    func integrityReport(
        pagesOnly: Bool = false, _ selection: PageSelection = .all,
        progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws -> IntegrityReport {
        let pages = try pageCount
        var report = IntegrityReport(
            unauthenticPages: nil, structureProblems: [], foreignKeyProblems: [], pageCount: pages)
        if let derived = cipher.derived, derived.settings.hmacAlgorithm != nil {
            let pages = try PageAuthentication(self).authenticate(selection) {
                try self.stops.check()
                try progress?($0)
            }
            (report.unauthenticPages, report.authenticatedPageCount) = (pages.bad, pages.count)
            report.marks = pages.marks
        }
        if pagesOnly || report.unauthenticPages?.isEmpty == false { return report }
        report.structureProblems = try structureProblems()
        // Foreign keys can't be followed through damaged pages.
        if report.structureProblems.isEmpty { report.foreignKeyProblems = try foreignKeyProblems() }
        return report
    }

    /// Returns the problems of the structure. <https://www.sqlite.org/pragma.html#pragma_integrity_check>
    private func structureProblems() throws -> [String] {
        do {
            let lines = try String.fetchAll(self, sql: "PRAGMA integrity_check")
            return lines == ["ok"] ? [] : lines
        } catch let error as DatabaseError where !error.isInterruptionError {
            return [error.failureReason ?? "the database can't be read"]
        }
    }

    /// Returns the violations of foreign keys. <https://www.sqlite.org/pragma.html#pragma_foreign_key_check>
    private func foreignKeyProblems() throws -> [String] {
        try Row.fetchAll(self, sql: "PRAGMA foreign_key_check").map { row in
            let rowID: Int64? = row[1]
            let table: String = row[0], target: String = row[2]
            return "\(table)\(rowID.map { " rowid \($0)" } ?? ""): no such row in \(target)"
        }
    }

    /// Returns the report of a file, by a connection of its own.
    static func integrityReport(path: String, configuration: Configuration) throws -> IntegrityReport {
        try forIntegrityCheck(path: path, configuration: configuration).withSoleAccess { try $0.wholeReport() }
    }

    /// Returns a connection that has not read yet.
    static func forIntegrityCheck(path: String, configuration: Configuration) throws -> Database {
        try Database(path: path, description: "checkIntegrity", configuration: configuration)
    }

    /// Sets the connection up, and returns its report.
    func wholeReport() throws -> IntegrityReport {
        try setUp()
        return try integrityReport()
    }
}
