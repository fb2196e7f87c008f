import ArgumentParser
import Strongroom

struct VerifyKey: Reporting {
    static let configuration = CommandConfiguration(
        commandName: "verify-key",
        abstract: "Tell whether a passphrase opens databases.",
        discussion: "Nothing is written. Exit status 0 says yes, 12 says no; of several files the exit status is the worst.")

    static let examples = [
        (line: "strongroom verify-key notes.db", what: "asks for the passphrase and tries it"),
        (line: "strongroom verify-key --quiet *.db --passphrase-file key || mail -s keys admin", what: "in a script"),
    ]

    @Argument(help: ArgumentHelp("Encrypted databases.", valueName: "file"), completion: .file())
    var files: [String]

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var output: OutputOptions

    var database: String? { files.count == 1 ? files[0] : nil }

    func run() throws {
        let several = try SeveralFiles(files, format) { try $0.requireEncrypted() }
        let reports = try several.report(passphrase) { target, secret in
            try target.reading(secret) { _ in }
            if !output.json, !output.quiet { Console.message("\(target.name): this \(secret!.shortNoun) opens it.") }
            return FileReport(file: target.name)
        }
        try output.end(Self.self, reports) { "the key opens \($0), and \($1) not" }
    }
}
