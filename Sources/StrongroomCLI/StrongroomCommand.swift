import ArgumentParser

struct StrongroomCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "strongroom",
        abstract: "Encrypts SQLite databases, checks them and changes their keys.",
        discussion: """
            A passphrase is asked for on the terminal, or read from one of the places that the options name, or that \
            STRONGROOM_PASSPHRASE_FILE, STRONGROOM_PASSPHRASE_COMMAND and, for new ones, STRONGROOM_NEW_PASSPHRASE_FILE and \
            STRONGROOM_NEW_PASSPHRASE_COMMAND name; it is never an argument, because every user of the machine can read arguments.

            Exit status: 0 done, 1 failed, 2 wrong usage, 10 no such file, 11 busy, 12 wrong key, 13 damaged, \
            14 disk full, 15 rotated while the former key is still read, 130 interrupted.
            """,
        subcommands: [
            Create.self, Encrypt.self, Decrypt.self, Info.self, Check.self, VerifyKey.self, Rotate.self, Migrate.self,
            Backup.self, Vacuum.self, Query.self, Shell.self, Keygen.self, Key.self, Completions.self, Manual.self,
        ])

    @Flag(help: "Show the versions of Strongroom, SQLCipher, SQLite and the crypto provider.")
    var version = false

    func run() throws {
        guard version else {
            throw ValidationError("Name a command; strongroom --help lists them.")
        }
        try Console.output(try Versions.current().description)
    }
}
