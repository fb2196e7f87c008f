import ArgumentParser
import Strongroom

struct Info: Reporting {
    static let onlyReads = true

    static let configuration = CommandConfiguration(
        abstract: "Show file facts; with the key, also cipher settings and schema.",
        discussion: help(
            """
            Nothing is written. The command opens the databases if an option names the key, or asks for it with \
            --unlock. With --key-store it tries the current, the next and the former keys of a program that keeps its \
            key in a file, and tells which one opens each database. Of several files the exit status is the worst.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged]))

    static let examples = [
        (line: "strongroom info notes.db", what: "without a key: its kind, its size, the files beside it"),
        (line: "strongroom info notes.db --unlock", what: "asks for the passphrase and shows cipher, pages and schema"),
    ]

    @Argument(help: ArgumentHelp("Databases.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(
        help: ArgumentHelp(
            "Open the databases with the key of the key store in this file, or with its former keys.",
            valueName: "file"),
        completion: .file())
    var keyStore: String?

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    @Flag(help: "Open the databases, and show what is in them.")
    var unlock = false

    var database: String? { files.count == 1 ? files[0] : nil }

    func validate() throws {
        guard keyStore == nil || !passphrase.isGiven && !unlock else {
            throw ValidationError("--key-store gives the key: leave out --unlock and the other key options.")
        }
    }

    func run() throws {
        let isOpening = unlock || passphrase.isGiven || keyStore != nil
        let several = try SeveralFiles(files, format) { if isOpening { try $0.requireDatabase() } }
        var isFirst = true
        let reports = try several.report(passphrase, isKeyWanted: isOpening && keyStore == nil) { target, secret in
            var facts = FileFacts(target)
            if let keyStore, !target.isClear {
                let (details, key) = try target.details(in: FileKeyStore(path: keyStore))
                facts.add(details, target.settings, isClear: false, isRawKey: true)
                if let key { facts.add(key) }
            } else if isOpening {
                let own = target.isClear ? nil : secret
                facts.add(
                    try target.details(own), target.settings, isClear: target.isClear,
                    isRawKey: own?.isUsedAsKey ?? false || target.inspection.hasSlotFile)
            }
            if !output.json { try Console.output((isFirst ? "" : "\n") + facts.description) }
            isFirst = false
            return FileReport(file: target.name, members: facts.members)
        }
        try output.end(Self.self, reports) { "\($0) shown, \($1) failed" }
    }
}
