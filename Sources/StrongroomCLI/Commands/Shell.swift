import ArgumentParser
import Foundation
import Strongroom

struct Shell: Reporting {
    static let configuration = CommandConfiguration(
        abstract: "Run SQL on a database, line by line.",
        discussion: help(
            """
            A statement may span lines, and ends with a semicolon. Ctrl-C ends a statement, Ctrl-D the shell. Lines \
            that begin with a dot are commands of the shell; .help lists them.

            On a terminal, lines are edited as in other shells. Statements stay in ~/.strongroom_history, which only \
            you can read, unless they contain a key. ~/.editrc has your key bindings.

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

    @Flag(help: "Keep the statements of this session in no file, and do not offer those of former ones.")
    var noHistory = false

    var database: String? { file }
    var isReading: Bool { !write }

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
            var session = ShellSession(
                file: file, isWriting: write, form: output.json ? .jsonl : .table, keepsHistory: !noHistory,
                interruption
            ) { try backUp(target, secret, to: $0, interruption) }
            if session.isInteractive, !output.quiet { Console.message(greeting) }
            if write {
                try target.writing(secret, interruption, watchesItself: true) { queue in
                    try queue.inDatabase { try session.run($0) }
                }
            } else {
                try target.reading(secret, isShort: false, interruption) { try session.run($0) }
            }
        }
    }

    private func backUp(
        _ target: Target, _ secret: GivenSecret?, to path: String, _ interruption: Interruption
    ) throws {
        guard let secret else { throw Failure(reason: .notEncrypted, file: file)! }
        let out = try NewFile(path, replacing: false, sources: [target.place])
        try out.fill(with: target, secret, ProgressOptions.parse([]), quiet: true, interruption)
    }

    private var greeting: String {
        let access = write ? "to read and write" : "read-only; --write lets SQL change it"
        return "\(file), \(access). .help lists what there is, Ctrl-D ends it."
    }
}
