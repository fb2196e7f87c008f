import ArgumentParser
import Foundation
import Strongroom

struct Shell: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Run SQL on a database, line by line.",
        discussion: help(
            """
            A statement may span lines, and ends with a semicolon. Ctrl-D ends the shell. Lines that begin with a dot \
            are commands of the shell; .help lists them.

            Nothing is written unless --write is given. Then each statement takes effect by itself, or with others \
            between BEGIN and COMMIT. A transaction that is open at the end is rolled back. If standard input is no \
            terminal, the first error ends the shell.
            """,
            statuses: [.absent, .busy, .wrongKey, .damaged, .diskFull, .interrupted]))

    static let examples = [
        (line: "strongroom shell notes.db", what: "asks for the passphrase, then for SQL"),
        (
            line: "echo .dump | strongroom shell notes.db --passphrase-file key > notes.sql",
            what: "writes the whole database as SQL"
        ),
        (
            line: "printf '.import notes.csv note\\n' | strongroom shell --write notes.db --passphrase-file key",
            what: "reads rows from a file"
        ),
    ]

    @Argument(help: "A database.", completion: .file())
    var file: String

    @OptionGroup(title: "Key options") var passphrase: PassphraseOptions
    @OptionGroup(title: "Format options") var format: FormatOptions
    @OptionGroup(title: "Output options") var output: OutputOptions

    @Flag(help: "Let the SQL change the database.")
    var write = false

    var database: String? { file }

    func validate() throws {
        if (try? passphrase.source.isStandardInput) == true {
            throw ValidationError("Standard input is for SQL: take the key from elsewhere.")
        }
    }

    func run() throws {
        let target = try Target(file, format)
        try target.requireDatabase()
        let secret = target.isClear ? nil : try passphrase.secret(opening: target)
        try Interruption.deferred { interruption in
            var session = ShellSession(file: file, isWriting: write, form: output.json ? .jsonl : .table, interruption)
            if session.isInteractive, !output.quiet { Console.message(greeting) }
            if write {
                try target.writing(secret, interruption) { queue in try queue.inDatabase { try session.run($0) } }
            } else {
                try target.reading(secret, isShort: false, interruption) { try session.run($0) }
            }
        }
    }

    private var greeting: String {
        let access = write ? "to read and write" : "read-only; --write lets SQL change it"
        return "\(file), \(access). .help lists what there is, Ctrl-D ends it."
    }
}
