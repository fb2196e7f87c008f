import ArgumentParser
import Strongroom

struct Info: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Show what is known of databases without their key, and more with it.",
        discussion: help(
            """
            Nothing is written. The command opens the databases if an option names the key, or asks for it with \
            --unlock. Of several files the exit status is the worst.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged]))

    static let examples = [
        (line: "strongroom info notes.db",
         what: "without a key: its kind, its size, the files beside it"),
        (line: "strongroom info notes.db --unlock", what: "asks for the passphrase and shows cipher, pages and schema"),
    ]

    @Argument(help: ArgumentHelp("Databases.", valueName: "file"), completion: .file())
    var files: [String]

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    @Flag(help: "Open the databases, and show what is in them.")
    var unlock = false

    var database: String? { files.count == 1 ? files[0] : nil }

    func run() throws {
        let isOpening = unlock || passphrase.isGiven
        let several = try SeveralFiles(files, format) { if isOpening { try $0.requireDatabase() } }
        var isFirst = true
        let reports = try several.report(passphrase, isKeyWanted: isOpening) { target, secret in
            var facts = FileFacts(target)
            if isOpening {
                let own = target.isClear ? nil : secret
                facts.add(try target.details(own), target.settings, isClear: target.isClear,
                          isRawKey: own?.isUsedAsKey ?? false || target.inspection.hasKeyFile)
            }
            if !output.json { try Console.output((isFirst ? "" : "\n") + facts.description) }
            isFirst = false
            return FileReport(file: target.name, members: facts.members)
        }
        try output.end(Self.self, reports) { "\($0) shown, \($1) failed" }
    }
}
