import ArgumentParser
import Strongroom

struct Backup: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Make an encrypted copy of an encrypted database, with the same key.",
        discussion: """
            FILE may be in use: the copy holds what was committed when it began. OUT appears when it is complete and was \
            opened and checked, in the format of SQLCipher 4.
            """)

    @Argument(help: "An encrypted database.", completion: .file())
    var file: String

    @Argument(help: ArgumentHelp("The copy to make.", valueName: "out"), completion: .file())
    var destination: String

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Replace OUT if it exists.")
    var force = false

    func run() throws {
        let target = try Target(file, settings: format.settings)
        try target.requireEncrypted()
        let out = try NewFile(path: destination, replacing: force)
        let encryption = target.encryption(try passphrase.current(of: file).key)
        try out.fill(from: file, "copying", quiet: output.quiet) { partial, progress in
            try DatabaseFile.migrate(path: file, to: partial, from: encryption, progress: progress)
        }
        output.done(Self.self, destination, [("source", .text(file))], text: "\(destination): copied and checked.")
    }
}
