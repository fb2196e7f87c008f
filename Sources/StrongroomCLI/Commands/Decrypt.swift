import ArgumentParser
import Strongroom

struct Decrypt: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Make an unencrypted copy of an encrypted database.",
        discussion: help(
            """
            FILE is left as it is. Anyone who can read OUT can read its contents, and deleting OUT does not erase it \
            from the disk. The command asks for confirmation; without a terminal it needs --yes.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .diskFull, .interrupted]))

    static let examples = [
        (line: "strongroom decrypt notes.db plain.db", what: "asks for the passphrase, and for a confirmation"),
        (line: "strongroom decrypt --yes notes.db plain.db --passphrase-file key", what: "in a script"),
    ]

    @Argument(help: "An encrypted database.", completion: .file())
    var file: String

    @Argument(help: ArgumentHelp("The unencrypted database to make.", valueName: "out"), completion: .file())
    var destination: String

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var progress: ProgressOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    @Flag(help: "Replace OUT if it exists.")
    var force = false

    @Flag(help: "Write clear text without asking.")
    var yes = false

    var database: String? { file }

    func run() throws {
        let target = try Target(file, format)
        try target.requireEncrypted()
        let out = try NewFile(destination, replacing: force, sources: [target.place])
        Console.warning("\(destination) will be clear text, which every reader of the file can read")
        if !yes { try confirm() }
        let secret = try passphrase.secret(opening: target), encryption = try target.encryption(secret.key)
        try out.fill(from: target.place, "decrypting", progress, quiet: output.quiet, secret) { partial, progress in
            try DatabaseFile.decrypt(path: target.place.path, to: partial, encryption: encryption, progress: progress)
        }
        try output.done(
            Self.self, destination, [("source", .text(file))],
            text: "\(destination): decrypted and checked. It is clear text.")
    }

    private func confirm() throws {
        guard let terminal = Terminal() else {
            throw Failure(
                .usage, file: destination,
                "it would be clear text, and there is no terminal to ask on; nothing was changed",
                remedy: "Give --yes if that is what you want")
        }
        guard try terminal.confirms("Write clear text to \(destination)?") else {
            throw Failure(
                .other, file: destination, "not confirmed; nothing was changed",
                remedy: "Type yes, or give --yes")
        }
    }
}
