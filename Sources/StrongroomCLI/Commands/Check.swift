import ArgumentParser
import Strongroom

struct Check: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check every page of a database, its structure and its foreign keys.",
        discussion: "Nothing is written. A clear database is checked without a passphrase.")

    @Argument(help: "A database.", completion: .file())
    var file: String

    @OptionGroup var passphrase: PassphraseOptions

    func run() throws {
        let target = try Target(file)
        let key = target.inspection.kind == .clear ? nil : try passphrase.current(of: file).key
        let queue = try target.open(key, readonly: true)
        let report = try attributing(to: file) { try queue.checkIntegrity() }
        try attributing(to: file) { try queue.close() }
        guard report.isIntact else {
            for problem in report.problems { Console.output("\(file): \(problem)") }
            throw Failure(.damaged, file: file, "\(report.problems.count) problem(s) found",
                          remedy: "Keep a copy of it as it is, and restore from a backup")
        }
        Console.output("\(file): ok")
    }
}
