import ArgumentParser
import Strongroom

struct Backup: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Make an encrypted copy of an encrypted database, with the same key.",
        discussion: """
            FILE may be in use and is not written to: the copy holds what was committed when it began. OUT appears when it is \
            complete and was opened and checked, in the format of SQLCipher 4. Where a program crashed and left something to \
            roll back, FILE is recovered first, as by any opening.
            """)

    @Argument(help: "An encrypted database.", completion: .file())
    var file: String

    @Argument(help: ArgumentHelp("The copy to make.", valueName: "out"), completion: .file())
    var destination: String

    @OptionGroup var passphrase: PassphraseOptions
    @OptionGroup var format: FormatOptions
    @OptionGroup var progress: ProgressOptions
    @OptionGroup var output: OutputOptions

    @Flag(help: "Replace OUT if it exists.")
    var force = false

    func run() throws {
        let target = try Target(file, format)
        try target.requireEncrypted()
        let out = try NewFile(path: destination, replacing: force)
        let key = try passphrase.current(of: file).key
        // A read-only connection can't roll back what a crash left.
        let queue = try target.open(key, readonly: !target.inspection.hasRollbackJournal)
        try out.fill(from: file, "copying", progress, quiet: output.quiet) { partial, progress in
            try queue.vacuum(into: partial, encryption: Encryption(key: key), progress: progress)
            try queue.close()
        }
        try output.done(Self.self, destination, [("source", .text(file))], text: "\(destination): copied and checked.")
    }
}
