import ArgumentParser
import Strongroom

struct VerifyKey: Reporting {
    static let onlyReads = true

    static let configuration = CommandConfiguration(
        commandName: "verify-key",
        abstract: "Test whether a passphrase opens databases.",
        discussion: help(
            """
            Nothing is written. The exit status is 0 if the passphrase opens the databases, and 12 if it does not; of \
            several files it is the worst.
            """,
            statuses: [.absent, .busy, .wrongKey]))

    static let examples = [
        (line: "strongroom verify-key notes.db", what: "asks for the passphrase and tries it"),
        (line: "strongroom verify-key --quiet *.db --passphrase-file key || mail -s keys admin", what: "in a script"),
    ]

    @Argument(help: ArgumentHelp("Encrypted databases.", valueName: "file"), completion: .file())
    var files: [String]

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    var database: String? { files.count == 1 ? files[0] : nil }

    func run() throws {
        let several = try SeveralFiles(files, format) { try $0.requireEncrypted() }
        let reports = try several.report(passphrase) { target, secret in
            try target.reading(secret) { _ in }
            if !output.json, !output.quiet { Console.message("\(target.name): this \(secret!.shortNoun) opens it.") }
            return FileReport(file: target.name)
        }
        try output.end(Self.self, reports) { "the key opens \($0) of \($0 + $1)" }
    }
}
