import ArgumentParser
import Foundation
import Strongroom

struct Check: Reporting {
    static let onlyReads = true

    static let configuration = CommandConfiguration(
        abstract: "Authenticate every page of databases, and check structure and foreign keys.",
        discussion: help(
            """
            Nothing is written to the databases. An unencrypted database is checked without a passphrase, and the exit \
            status is 16. If pages are damaged, the command names them and does not check the structure. Of several \
            files the exit status is the worst.

            --sample authenticates page 1 and a part of the others, which the seed determines. --since-last \
            authenticates the pages that were written since the check before, which their HMACs tell; the first time \
            these are all. With both options, the sample is one of the other pages. If pages were left out, structure \
            and foreign keys are not checked. A page that was damaged after its check is found by a sample or a whole \
            check.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .notEncrypted, .interrupted]))

    static let examples = [
        (line: "strongroom check notes.db", what: "asks for the passphrase and reads every page"),
        (line: "strongroom check --json *.db --passphrase-file key", what: "checks them, with output for programs"),
        (
            line: "strongroom check notes.db --since-last notes.state --sample 5% --metrics notes.prom",
            what: "each night: what is new, a sample of the rest, and figures for Prometheus"
        ),
    ]

    @Argument(help: ArgumentHelp("Databases, with one passphrase.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(help: ArgumentHelp("Authenticate this share of the pages, such as 5%.", valueName: "percent"))
    var sample: SampleShare?

    @Option(help: ArgumentHelp("The seed of the sample. Default: a random one, which is printed.", valueName: "number"))
    var seed: UInt32?

    @Option(
        help: ArgumentHelp("Authenticate the pages that were written since the check in this file.", valueName: "file"),
        completion: .file())
    var sinceLast: String?

    @Option(
        help: ArgumentHelp("Write figures for Prometheus to this file, as a whole.", valueName: "file"),
        completion: .file())
    var metrics: String?

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var progress: ProgressOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    var database: String? { files.count == 1 ? files[0] : nil }

    func validate() throws {
        if seed != nil, sample == nil { throw ValidationError("--seed goes with --sample.") }
    }

    func run() throws {
        let several = try SeveralFiles(files, format) { try $0.requireDatabase() }
        var state = try sinceLast.map(CheckState.init), found: [[UInt8]: IntegrityReport] = [:]
        let seed = seed ?? UInt32.random(in: 0...UInt32.max)
        let reports = try several.report(passphrase) { target, secret in
            let selection = selection(of: target, state, seed)
            let report = try check(target, secret, selection)
            found[Array(target.name.utf8)] = report
            if report.unauthenticPages != nil { state?[target.place] = report.marks }
            return try outcome(target, secret, report, seed)
        }
        if !found.isEmpty { try state?.write() }
        if let metrics { try MetricsFile(metrics).write(figures(reports, found)) }
        try output.end(Self.self, reports) { "\($0) ok, \($1) not" }
    }

    private func selection(of target: Target, _ state: CheckState?, _ seed: UInt32) -> PageSelection {
        var selection = PageSelection()
        selection.marksPages = state != nil
        selection.former = state?[target.place]
        // The first time, all pages are new.
        if state == nil || selection.former != nil { selection.sample = sample.map { ($0.share, UInt64(seed)) } }
        return selection
    }

    private func check(_ target: Target, _ secret: GivenSecret?, _ selection: PageSelection) throws -> IntegrityReport {
        let display = ProgressDisplay("checking", files: [(target.name, 1)], progress, quiet: output.quiet)
        return try Interruption.deferred { interruption in
            defer { display.clear() }
            func check(_ selection: PageSelection) throws -> IntegrityReport {
                try target.check(secret, pagesOnly: !selection.isWhole, selection) { done in
                    try interruption.check()
                    display.show(target.name, done)
                }
            }
            let report = try check(selection)
            // A format without HMACs has nothing but its structure.
            return try report.unauthenticPages == nil && !selection.isWhole ? check(.all) : report
        }
    }

    private func outcome(
        _ target: Target, _ secret: GivenSecret?, _ report: IntegrityReport, _ seed: UInt32
    ) throws -> FileReport {
        guard report.isIntact else { return damaged(target, target.problems(report, secret)) }
        guard !target.isClear else { return clear(target, report.pageCount) }
        var members: [(String, JSON)] = [("encrypted", .bool(true)), ("pages", .count(report.pageCount))]
        let isPart = report.unauthenticPages != nil && report.authenticatedPageCount < report.pageCount
        if sample != nil || sinceLast != nil {
            members += [
                ("checked_pages", .count(isPart ? report.authenticatedPageCount : report.pageCount)),
                ("seed", sample == nil ? .null : .integer(Int64(seed))),
            ]
        }
        if !output.json, !output.quiet {
            let checked = isPart ? ", \(report.authenticatedPageCount) checked" : ""
            let chosen = isPart && sample != nil ? ", seed \(seed)" : ""
            try Console.output("\(target.name): ok, \(counted(report.pageCount, "page"))\(checked)\(chosen)")
        }
        return FileReport(file: target.name, members: members)
    }

    private func figures(_ reports: [FileReport], _ found: [[UInt8]: IntegrityReport]) -> [Metric] {
        func values(_ value: (FileReport) -> Double?) -> [([(String, String)], Double)] {
            reports.compactMap { report in value(report).map { ([("file", report.file)], $0) } }
        }
        return [
            Metric(
                "strongroom_check_status", "Exit status of the last check. Zero means intact.",
                values { Double(($0.failure?.status ?? .done).rawValue) }),
            Metric(
                "strongroom_check_pages", "Number of pages of the database.",
                values { found[Array($0.file.utf8)].map { Double($0.pageCount) } }),
            Metric(
                "strongroom_check_authenticated_pages", "Number of pages that the last check authenticated.",
                values { found[Array($0.file.utf8)].map { Double($0.authenticatedPageCount) } }),
            Metric(
                "strongroom_check_damaged_pages", "Number of pages that are not authentic.",
                values { found[Array($0.file.utf8)].map { Double($0.unauthenticPages?.count ?? 0) } }),
            Metric(
                "strongroom_check_timestamp_seconds", "Time of the last check in seconds since 1970.",
                values { _ in Date().timeIntervalSince1970.rounded() }),
        ]
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
        _ secret: GivenSecret?, pagesOnly: Bool = false, _ selection: PageSelection = .all,
        _ progress: @escaping (EncryptionProgress) throws -> Void = { _ in }
    ) throws -> IntegrityReport {
        try attributing(to: name, opening: secret) {
            let opening = try isClear ? nil : secret.map { try encryption($0.key) }
            return try DatabaseFile.check(
                path: place.path, encryption: opening, pagesOnly: pagesOnly, selection, progress: progress)
        }
    }
}

extension Target {
    /// Returns the problems of a report. Damaged pages are named with the table and the rows that they had.
    fileprivate func problems(_ report: IntegrityReport, _ secret: GivenSecret?) -> [String] {
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
