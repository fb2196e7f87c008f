import ArgumentParser
import Strongroom

struct Encrypt: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Make an encrypted copy of a clear SQLite database.",
        discussion: """
            PLAIN is read and left as it is. OUT appears when it is complete and was opened and compared, and is \
            readable by its owner only. Remember that PLAIN stays clear: remove it when OUT is in use.
            """)

    @Argument(help: ArgumentHelp("A clear SQLite database.", valueName: "plain"), completion: .file())
    var source: String

    @Argument(help: ArgumentHelp("The encrypted database to make.", valueName: "out"), completion: .file())
    var destination: String

    @OptionGroup var passphrase: PassphraseOptions

    @OptionGroup var progress: ProgressOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Replace OUT if it exists.")
    var force = false

    func run() throws {
        try Target(source).requireClear()
        let out = try NewFile(path: destination, replacing: force)
        let key = try passphrase.new(for: destination).key
        try out.fill(from: source, "encrypting", progress, quiet: output.quiet) { partial, progress in
            try DatabaseFile.encrypt(path: source, to: partial, encryption: Encryption(key: key), progress: progress)
        }
        try output.done(Self.self, destination, [("source", .text(source))],
                        text: "\(destination): encrypted and checked. \(source) is still clear text.")
    }
}
