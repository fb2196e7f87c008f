import ArgumentParser
import Strongroom

struct Info: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Show what can be known of a database without its key, and more with it.",
        discussion: """
            The key is asked for with --unlock, or taken from where one of the options says. Nothing is written.
            """)

    @Argument(help: "A database.", completion: .file())
    var file: String

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Open the database and show what is in it, too.")
    var unlock = false

    func run() throws {
        let target = try Target(file, format)
        var facts = FileFacts(target)
        if unlock || passphrase.isGiven {
            try target.requireDatabase()
            let secret = target.isClear ? nil : try passphrase.current(of: file)
            let encryption = try secret.map { target.encryption(try $0.key) }
            let details = try attributing(to: file) { try DatabaseFile.details(path: file, encryption: encryption) }
            facts.add(details, target.settings, isClear: target.isClear, isRawKey: secret?.isUsedAsKey ?? false)
        }
        if output.json {
            try output.done(Self.self, file, facts.members, text: "")
        } else {
            try Console.output(facts.description)
        }
    }
}
