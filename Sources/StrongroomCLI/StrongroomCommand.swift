import ArgumentParser

struct StrongroomCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "strongroom",
        abstract: "Encrypts SQLite databases, checks them and changes their keys.",
        discussion: """
            A passphrase is asked for on the terminal, or read from the place that an option names, or that the \
            variables STRONGROOM_PASSPHRASE_FILE and STRONGROOM_PASSPHRASE_COMMAND name; for a new one, \
            STRONGROOM_NEW_PASSPHRASE_FILE and STRONGROOM_NEW_PASSPHRASE_COMMAND. It is never an argument, because \
            other users can read arguments.

            \(HelpPart.example)
              strongroom create notes.db

            \(HelpPart.statuses) \(Status.allCases.map { "\($0.rawValue) \($0.meaning)" }.joined(separator: "; ")).
            """,
        subcommands: [
            Create.self, Encrypt.self, Decrypt.self, Info.self, Check.self, VerifyKey.self, Rotate.self, Migrate.self,
            Backup.self, Backups.self, Salvage.self, Replicate.self, Restore.self, Replicas.self, Verify.self,
            Prune.self, Forget.self, Vacuum.self, Query.self, Shell.self, Keygen.self, Key.self, FormerKeysCommand.self,
            Completions.self, Manual.self,
        ])

    @Flag(help: "Show the versions of Strongroom, SQLCipher, SQLite and the crypto provider.")
    var version = false

    func run() throws {
        guard version else {
            throw ValidationError("no command given")
        }
        try Console.output(try Versions.current().description)
    }
}
