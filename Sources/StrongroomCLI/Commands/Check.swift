import ArgumentParser
import Strongroom

struct Check: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Check every page of a database, its structure and its foreign keys.",
        discussion: "Nothing is written. A clear database is checked without a passphrase.")

    @Argument(help: "A database.", completion: .file())
    var file: String

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var output: OutputOptions

    func run() throws {
        let target = try Target(file, format)
        try target.requireDatabase()
        let key = target.isClear ? nil : try passphrase.current(of: file).key
        let queue = try target.open(key, readonly: true)
        let report = try attributing(to: file) { try queue.checkIntegrity() }
        try attributing(to: file) { try queue.close() }
        guard report.isIntact else {
            if !output.json { for problem in problems(in: report) { try Console.output("\(file): \(problem)") } }
            throw Failure(.damaged, file: file, "it is damaged", details: [("problems", .list(problems(in: report).map(JSON.text)))],
                          remedy: "Keep a copy of it as it is, and restore from a backup")
        }
        let text = "\(file): ok, \(report.pageCount) pages"
        if output.json {
            try output.done(Self.self, file, [("pages", .count(report.pageCount))], text: text)
        } else if !output.quiet {
            try Console.output(text)
        }
    }

    private func problems(in report: IntegrityReport) -> [String] {
        (report.unauthenticPages ?? []).map { "page \($0) is not what was written with this key" }
            + report.structureProblems + report.foreignKeyProblems
    }
}
