import ArgumentParser
import Strongroom

struct Check: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Authenticate every page of databases, and check structure and foreign keys.",
        discussion: help(
            """
            Nothing is written. An unencrypted database is checked without a passphrase, and the exit status is 16. If \
            pages are damaged, the command names them and does not check the structure. Of several files the exit \
            status is the worst.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .notEncrypted, .interrupted]))

    static let examples = [
        (line: "strongroom check notes.db", what: "asks for the passphrase and reads every page"),
        (line: "strongroom check --json *.db --passphrase-file key", what: "checks them, with output for programs"),
    ]

    @Argument(help: ArgumentHelp("Databases, with one passphrase.", valueName: "file"), completion: .file())
    var files: [String]

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var progress: ProgressOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    var database: String? { files.count == 1 ? files[0] : nil }

    func run() throws {
        let several = try SeveralFiles(files, format) { try $0.requireDatabase() }
        let reports = try several.report(passphrase, check)
        try output.end(Self.self, reports) { "\($0) ok, \($1) not" }
    }

    private func check(_ target: Target, _ secret: Secret?) throws -> FileReport {
        let display = ProgressDisplay("checking", files: [(target.name, 1)], progress, quiet: output.quiet)
        let report = try Interruption.deferred { interruption in
            defer { display.clear() }
            return try target.check(secret) { done in
                try interruption.check()
                display.show(target.name, done)
            }
        }
        guard report.isIntact else { return damaged(target, target.problems(report, secret)) }
        guard !target.isClear else { return clear(target, report.pageCount) }
        if !output.json, !output.quiet {
            try Console.output("\(target.name): ok, \(counted(report.pageCount, "page"))")
        }
        return FileReport(
            file: target.name, members: [("encrypted", .bool(true)), ("pages", .count(report.pageCount))])
    }

    /// Nothing is damaged, and everybody can read it.
    private func clear(_ target: Target, _ pageCount: Int) -> FileReport {
        FileReport(
            file: target.name,
            failure: Failure(
                .notEncrypted, file: target.name, "it is not encrypted; its \(counted(pageCount, "page")) are intact",
                details: [("encrypted", .bool(false)), ("pages", .count(pageCount))],
                remedy: "Make an encrypted copy with: strongroom encrypt"))
    }

    private func damaged(_ target: Target, _ problems: [String]) -> FileReport {
        if !output.json { for problem in problems { try? Console.output("\(target.name): \(problem)") } }
        return FileReport(
            file: target.name,
            failure: Failure(
                .damaged, file: target.name, "it is damaged",
                details: [("encrypted", .bool(!target.isClear)), ("problems", .list(problems.map(JSON.text)))],
                remedy: """
                    Keep a copy of it as it is, and restore from a backup; without one, strongroom salvage saves the \
                    rows of other pages
                    """))
    }
}

extension Target {
    /// Checks the database, with its key or, if it is unencrypted, without one.
    func check(
        _ secret: Secret?, pagesOnly: Bool = false, _ progress: @escaping (EncryptionProgress) throws -> Void = { _ in }
    ) throws -> IntegrityReport {
        try attributing(to: name, opening: secret) {
            let opening = try isClear ? nil : secret.map { try encryption($0.key) }
            return try DatabaseFile.check(
                path: place.path, encryption: opening, pagesOnly: pagesOnly,
                progress: progress)
        }
    }
}

extension Target {
    /// Returns the problems of a report. Damaged pages are named with the table and the rows that they had.
    fileprivate func problems(_ report: IntegrityReport, _ secret: Secret?) -> [String] {
        guard report.unauthenticPages?.isEmpty == false, let key = try? secret?.key,
            let found = try? DatabaseFile.damage(path: place.path, encryption: encryption(key))
        else { return report.problems }
        let contents = Dictionary(found.damagedPages.map { ($0.number, $0.content) }) { first, _ in first }
        return zip(report.unauthenticPages ?? [], report.problems).map { page, problem in
            guard let content = contents[page], content != .unreferenced else { return problem }
            return "\(problem): it had \(content)"
        }
    }
}

extension IntegrityReport {
    /// The problems, in one sentence each.
    var problems: [String] {
        let pages = unauthenticPages ?? []
        guard pages.isEmpty else { return pages.map { "page \($0) is not what was written with this key" } }
        let structure = structureProblems.flatMap { $0.split(separator: "\n").map(String.init) }
        return structure.filter { !$0.hasPrefix("***") } + foreignKeyProblems
    }
}
