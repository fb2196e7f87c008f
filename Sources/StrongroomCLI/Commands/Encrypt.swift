import ArgumentParser
import Strongroom

struct Encrypt: ParsableCommand {
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

    @Flag(help: "Replace OUT if it exists.")
    var force = false

    func run() throws {
        try Target(source).requireClear()
        let out = try NewFile(path: destination, replacing: force)
        let key = try passphrase.new(for: destination).key
        var progress = ProgressLine("encrypting")
        try Interruption.deferred { interruption in
            defer { out.discard() }
            try attributing(to: source) {
                try DatabaseFile.encrypt(path: source, to: out.partial, encryption: Encryption(key: key)) { done in
                    try interruption.check()
                    progress.show(completed: done.completedPageCount, of: done.totalPageCount)
                }
            }
            try out.publish()
        }
        progress.clear()
        Console.message("\(destination): encrypted and checked. \(source) is still clear text.")
    }
}
