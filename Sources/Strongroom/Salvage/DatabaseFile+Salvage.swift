extension DatabaseFile {
    /// Writes a new encrypted database with every row of a damaged one that is on authentic pages.
    ///
    /// All pages of the database, of its write-ahead log and of its rollback journal are read and authenticated, on all
    /// processors. The salvage goes on if the header, the schema, an index, a page of references, the log or the end of
    /// the file is damaged. It looks for a missing salt beside the database, and finds a missing page size by trying.
    /// Rows whose table can't be proved go into the table `lost_and_found`, with page, cell and values. No row is put
    /// together from pages of different commits. The files of the original don't change. The cancellation of the
    /// calling task stops the salvage.
    ///
    /// The salvage needs one byte of memory for each page of the database, and room for the longest row.
    ///
    /// - parameters:
    ///   - path: the path of the damaged database: encrypted with the key of `encryption`, or with a key in its slots,
    ///     or in clear text. No process may write to it meanwhile.
    ///   - destination: the path of the new database.
    ///   - encryption: the encryption of the new database, and of the damaged one unless that is in clear text.
    ///   - progress: called as pages are read, written and verified. An error that it throws stops the salvage.
    /// - returns: the rows that were saved and that are missing, by table, and the damaged pages by number.
    /// - throws: `SQLITE_NOTADB` if no page was written with the key, with the reason `missingSalt` if there is no
    ///   salt; `SQLITE_CANTOPEN` with the reason `fileExists` if `destination` or one of its sidecars exists;
    ///   `SQLITE_BUSY` if a program writes to the damaged database.
    ///   After an error, no file of the new database remains.
    ///
    /// Source: <https://www.sqlite.org/fileformat2.html>.
    @discardableResult
    public static func salvage(
        path: String, to destination: String, encryption: Encryption,
        progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws -> SalvageReport {
        try requireAbsent(destination)
        return try DamagedFiles.reading(realPath(path)) { files in
            let pages = try pages(of: files, encryption, progress)
            let plan = try SalvagePlan(pages) { try Task.checkCancellation() }
            var encryption = encryption
            encryption = try settled(encryption, at: destination)
            CopyStaging.removeLeftOvers(beside: destination)
            let staging = try CopyStaging(beside: destination)
            defer { staging.remove() }
            try staging.create(like: files.path, isEncrypted: true)
            var report = try write(plan, staging.path, encryption, progress)
            report.problems += try verify(staging.path, encryption, report, progress)
            try files.requireUnchanged()
            try staging.copyMode(of: files.path)
            try rename(staging.path, to: destination)
            return report
        }
    }

    /// Reports what a salvage would save, and writes nothing: which damaged pages contained what.
    ///
    /// - parameters:
    ///   - path: the path of the database.
    ///   - encryption: its encryption. Nil for clear text.
    package static func damage(
        path: String, encryption: Encryption?, progress: ((EncryptionProgress) throws -> Void)? = nil
    ) throws -> SalvageReport {
        try DamagedFiles.reading(realPath(path)) { files in
            let pages = try pages(of: files, encryption, progress)
            let plan = try SalvagePlan(pages) { try Task.checkCancellation() }
            let reader = SalvageReader(plan, RowCount()) { _ in try Task.checkCancellation() }
            try reader.run()
            return reader.report
        }
    }

    // MARK: - Reading

    private static func pages(
        of files: DamagedFiles, _ encryption: Encryption?, _ progress: ((EncryptionProgress) throws -> Void)?
    ) throws -> DamagedPages {
        var first = [UInt8](repeating: 0, count: FileHeader.count)
        let hasHeader = first.withUnsafeMutableBytes { files.read(at: 0, into: $0) }
        let isClear = hasHeader && FileHeader(bytes: first, fileSize: files.size).isClear
        let pages: DamagedPages
        if isClear || encryption == nil {
            pages = DamagedPages(files, nil, pageSize: ClearPageSize(files).size)
        } else {
            do {
                let format = try DamagedKey(files: files, encryption: encryption!).format()
                pages = DamagedPages(files, format, pageSize: format.pageSize)
            } catch let error as DatabaseError {
                // A file in clear text whose header is damaged looks like an encrypted one.
                guard let size = ClearPageSize(files).plausibleSize else { throw error }
                pages = DamagedPages(files, nil, pageSize: size)
            }
        }
        try pages.examine { done, total in
            try Task.checkCancellation()
            try progress?(
                EncryptionProgress(completedPageCount: min(done, total - 1), totalPageCount: total, phase: .checking))
        }
        return pages
    }

    // MARK: - Writing

    private static func write(
        _ plan: SalvagePlan, _ path: String, _ encryption: Encryption,
        _ progress: ((EncryptionProgress) throws -> Void)?
    ) throws -> SalvageReport {
        let total = max(1, plan.pages.count)
        return try withDatabase(path, encryption) { target in
            let watch = try CopyProgress(of: target, pageCount: total, progress)
            let writer = SalvageWriter(plan, target)
            try writer.setUp()
            var report = SalvageReport()
            try target.stopping(by: watch) {
                try target.inTransaction(.immediate) {
                    try writer.createTables()
                    let reader = SalvageReader(plan, writer) { try watch.advance(to: $0) }
                    try reader.run()
                    report = try SalvageFinish(writer: writer, report: reader.report).createTheRest()
                    return .commit
                }
            }
            report.lostAndFound = writer.lostName
            report.problems = writer.problems
            try SalvageFinish(writer: writer, report: report).order()
            return report
        }
    }

    /// Opens the new database as its user will, and checks it. Returns the constraints that its rows violate.
    private static func verify(
        _ path: String, _ encryption: Encryption, _ report: SalvageReport,
        _ progress: ((EncryptionProgress) throws -> Void)?
    ) throws -> [SalvageReport.Problem] {
        try withDatabase(path, encryption) { database in
            let watch = try CopyProgress(of: database, progress)
            try watch.check(completed: 0)
            let found = try database.stopping(by: watch) {
                try database.integrityReport { try watch.check(completed: $0.completedPageCount) }
            }
            let violations = found.structureProblems.filter { problem in
                ["CHECK constraint failed in ", "NULL value in "].contains { problem.hasPrefix($0) }
            }
            guard (found.unauthenticPages ?? []).isEmpty, violations.count == found.structureProblems.count else {
                let problem = found.structureProblems.first { !violations.contains($0) }
                throw DatabaseError(
                    resultCode: .SQLITE_CORRUPT,
                    message: "the new database is damaged: \(problem ?? "a page isn't authentic")")
            }
            try watch.complete()
            return (violations + found.foreignKeyProblems).prefix(1000).map { text in
                let name = String(text.split(separator: text.hasPrefix("CHECK") ? " " : ":").last ?? "")
                return SalvageReport.Problem(name: name, kind: .violated, message: text)
            }
        }
    }
}

/// A receiver that only counts: every row has room in its table.
private final class RowCount: SalvageSink {
    func save(_ row: StoredRecord, rowID: Int64, in table: PlannedTree) -> Bool { true }

    func setAside(_ row: StoredRecord, rowID: Int64?, root: Int, page: Int, cell: Int) {}

    func finish(_ table: PlannedTree) {}
}

/// The page size of a file in clear text, from its header or from its pages.
struct ClearPageSize {
    private let files: DamagedFiles

    init(_ files: DamagedFiles) { self.files = files }

    /// The size in the header, unless pages contradict it, or the one at which most pages look like pages, or the usual
    /// one.
    var size: Int {
        let plausible = plausibleSize
        if let shown = sizeInHeader, plausible.map({ plausibleCount($0).found < 4 }) ?? true { return shown }
        return plausible ?? 4096
    }

    private var sizeInHeader: Int? {
        var first = [UInt8](repeating: 0, count: FileHeader.count)
        guard first.withUnsafeMutableBytes({ files.read(at: 0, into: $0) }) else { return nil }
        return DatabaseHeader(first)?.pageSize
    }

    /// The size at which most pages look like pages of a b-tree. Nil if none do.
    ///
    /// The beginning of a page looks like that of a larger one, too: of equal sizes, the smallest counts.
    var plausibleSize: Int? {
        let counts = [512, 1024, 2048, 4096, 8192, 16384, 32768, 65536].map { size in
            let (found, total) = plausibleCount(size)
            return (size, share: Double(found) / Double(max(1, total)))
        }
        guard let most = counts.map(\.share).max(), most > 0 else { return nil }
        return counts.first { $0.share > most * 0.7 }?.0
    }

    private func plausibleCount(_ size: Int) -> (found: Int, total: Int) {
        let count = Int(files.size / Int64(size)), numbers = stride(from: 1, through: count, by: max(1, count / 256))
        let found = numbers.filter { number in
            var page = [UInt8](repeating: 0, count: size)
            guard page.withUnsafeMutableBytes({ files.read(at: Int64(number - 1) * Int64(size), into: $0) }),
                let parsed = BTreePage(page, number: number, usable: size)
            else { return false }
            return parsed.cellCount > 0 && parsed.isPlausible
        }
        return (found.count, Array(numbers).count)
    }
}
