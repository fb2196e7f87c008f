import ArgumentParser
import Strongroom

struct Salvage: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Save what is left of a damaged database.",
        discussion: help(
            """
            FILE and its log are only read, page by page. Rows on authentic pages go to the tables of OUT, a new \
            encrypted database; rows whose table cannot be proved go to its table lost_and_found. No row is made up. \
            The report names each table with the rows that were saved and those that are missing.

            No program may write to FILE meanwhile. OUT has the key that is given here, without key slots. An \
            unencrypted FILE has no proof that its bytes are what was written; the key is that of OUT then. The exit \
            status is 13 if something is missing, although OUT was made.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .diskFull, .interrupted]))

    static let examples = [
        (line: "strongroom salvage notes.db saved.db", what: "asks for the passphrase, and reports by table"),
        (
            line: "strongroom salvage --json notes.db saved.db --passphrase-file key",
            what: "with a report for programs"
        ),
        (
            line: "strongroom salvage --salt-file notes.db-salt notes.db saved.db --raw-key-file data.key",
            what: "with an exported data key, where the beginning of the file is gone"
        ),
    ]

    @Argument(help: "A damaged database.", completion: .file())
    var file: String

    @Argument(help: ArgumentHelp("The encrypted database to make.", valueName: "out"), completion: .file())
    var destination: String

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var progress: ProgressOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    @Flag(help: "Replace OUT if it exists.")
    var force = false

    var database: String? { file }

    func run() throws {
        let place = try Place(file)
        guard let identity = FileIdentity(place.path) else { throw Failure.absent(file) }
        guard identity.isRegular else { throw Failure.notFile(file) }
        let kind = try attributing(to: file) { try DatabaseFile.inspect(path: place.path).kind }
        if kind == .empty {
            throw Failure(.other, file: file, "it is empty; nothing was changed", remedy: "Check the path")
        }
        let out = try NewFile(destination, replacing: force, sources: [place])
        let secret = try kind == .clear ? passphrase.new(for: destination) : passphrase.current(of: file)
        let encryption = Encryption(
            key: try secret.key, settings: format.settings, plaintextHeader: try format.header())
        var report: SalvageReport?
        try out.fill(from: place, "salvaging", progress, quiet: output.quiet, secret) { partial, progress in
            report = try DatabaseFile.salvage(
                path: place.path, to: partial, encryption: encryption, progress: progress)
        }
        guard let report else { return }
        try show(report)
    }

    private func show(_ report: SalvageReport) throws {
        let status: Status = report.isComplete ? .done : .damaged
        if !output.json, !output.quiet { for line in report.lines { try Console.output(line) } }
        let text =
            report.isComplete
            ? "\(destination): everything was saved, and checked."
            : "\(destination): saved what was left, and checked. Keep \(file) as it is."
        try output.done(
            Self.self, destination, [("source", .text(file))] + report.members, status: status, text: text)
        if status != .done { throw ReportedError(status: status) }
    }
}

extension SalvageReport {
    /// The report for people: a line for each table, and for what is damaged.
    fileprivate var lines: [String] {
        var lines: [String] = []
        if !isAuthenticated {
            lines.append("pages have no proof of what was written: changed bytes can look like rows")
        }
        if hasForeignLog {
            lines.append("the log beside it is that of another database, or of another key, and was left out")
        }
        lines += tables.map { "\($0.name): \($0.words)" }
        if let lostAndFound {
            lines.append("\(lostAndFound): \(counted(lostRowCount, "row")) whose table is not proved")
        }
        if !isSchemaComplete { lines.append("tables may be missing: a page of the schema is damaged") }
        lines += problems.map { "\($0.name): \($0.words)" }
        lines += damagedPages.prefix(100).map { page in
            "page \(page.number): damaged" + (page.content == .unreferenced ? "" : ", it had \(page.content)")
        }
        if damagedPages.count > 100 { lines.append("and \(damagedPageCount - 100) more damaged pages") }
        if let absentPages { lines.append("pages \(absentPages.lowerBound) to \(absentPages.upperBound): absent") }
        return lines
    }

    fileprivate var members: [(String, JSON)] {
        [
            ("complete", .bool(isComplete)), ("authenticated", .bool(isAuthenticated)),
            ("foreign_log", .bool(hasForeignLog)), ("schema_complete", .bool(isSchemaComplete)),
            ("tables", .list(tables.map(\.json))),
            ("lost_and_found", .optional(lostAndFound)), ("lost_rows", .count(lostRowCount)),
            ("pages", .count(pageCount)), ("damaged_pages", .list(damagedPages.map(\.json))),
            ("damaged_page_count", .count(damagedPageCount)),
            (
                "problems",
                .list(
                    problems.map { problem in
                        .object([
                            ("name", .text(problem.name)), ("kind", .text(problem.kind.rawValue)),
                            ("message", .text(problem.message)),
                        ])
                    })
            ),
        ]
    }
}

extension SalvageReport.Table {
    fileprivate var words: String {
        var words = ["\(counted(saved, "row")) saved"]
        if older > 0 { words.append("\(older) of them in an older version") }
        if missing > 0 { words.append("at least \(missing) missing") }
        if setAside > 0 { words.append("\(setAside) aside") }
        let ranges = unknownRanges.map { $0.words ?? "any rows" }
        if !ranges.isEmpty {
            let more = ranges.count > 5 ? " and \(ranges.count - 5) more ranges" : ""
            words.append("unknown: \(ranges.prefix(5).joined(separator: ", "))\(more)")
        }
        return words.joined(separator: ", ")
    }

    fileprivate var json: JSON {
        .object([
            ("name", .text(name)), ("saved", .count(saved)), ("missing", .count(missing)),
            ("missing_rows", .list(missingRows.map { .integer($0) })), ("unknown", .list(unknownRanges.map(\.json))),
            ("aside", .count(setAside)), ("older", .count(older)),
        ])
    }
}

extension SalvageReport.RowRange {
    fileprivate var json: JSON {
        .object([
            ("after", after.map { .integer($0) } ?? .null), ("through", through.map { .integer($0) } ?? .null),
        ])
    }
}

extension SalvageReport.Page {
    fileprivate var json: JSON {
        .object([("page", .count(number)), ("content", .text(content.description))])
    }
}

extension SalvageReport.Problem {
    fileprivate var words: String {
        switch kind {
        case .notCreated: "not created (\(message))"
        case .violated: "a constraint is violated (\(message))"
        case .rebuilt: message
        }
    }
}
