import ArgumentParser

/// The passphrase of the database as it is, or the key itself.
struct PassphraseOptions: ParsableArguments {
    @Option(name: .customLong("passphrase-file"),
            help: ArgumentHelp("Read the passphrase from this file instead of the terminal; one newline at its end is dropped.",
                               valueName: "file"),
            completion: .file())
    var file: String?

    @Option(name: .customLong("passphrase-command"),
            help: ArgumentHelp("Run this line in a shell and take what it writes as the passphrase.", valueName: "line"))
    var command: String?

    @Option(name: .customLong("passphrase-fd"),
            help: ArgumentHelp("Read the passphrase from this open file descriptor.", valueName: "number"))
    var descriptor: Int32?

    @Option(name: .customLong("passphrase-credential"),
            help: ArgumentHelp("Read the passphrase from this credential of the systemd service.", valueName: "name"))
    var credential: String?

    @Option(name: .customLong("passphrase-env"),
            help: ArgumentHelp("Take the passphrase from this environment variable. Discouraged: other processes of the same user can read it.",
                               valueName: "name"))
    var variable: String?

    @Option(name: .customLong("raw-key-file"),
            help: ArgumentHelp("Read the key itself from this file, 32 bytes or 64 hexadecimal digits.", valueName: "file"),
            completion: .file())
    var rawKeyFile: String?

    static let name = "passphrase-file"

    func validate() throws { _ = try source }

    private var source: SecretSource {
        get throws {
            try .only(of: [
                file.map(SecretSource.file), command.map(SecretSource.command), descriptor.map(SecretSource.descriptor),
                credential.map(SecretSource.credential), variable.map(SecretSource.environment),
                rawKeyFile.map(SecretSource.rawKeyFile),
            ], options: "--passphrase-… and --raw-key-file")
        }
    }

    func current(of database: String) throws -> Secret {
        try source.read("Passphrase of \(database): ", option: Self.name)
    }

    func new(for database: String) throws -> Secret {
        try source.readNew("New passphrase for \(database): ", option: Self.name)
    }
}

/// The passphrase that takes over, or the key itself.
struct NewPassphraseOptions: ParsableArguments {
    @Option(name: .customLong("new-passphrase-file"),
            help: ArgumentHelp("Read the new passphrase from this file instead of the terminal; one newline at its end is dropped.",
                               valueName: "file"),
            completion: .file())
    var file: String?

    @Option(name: .customLong("new-passphrase-command"),
            help: ArgumentHelp("Run this line in a shell and take what it writes as the new passphrase.", valueName: "line"))
    var command: String?

    @Option(name: .customLong("new-passphrase-fd"),
            help: ArgumentHelp("Read the new passphrase from this open file descriptor.", valueName: "number"))
    var descriptor: Int32?

    @Option(name: .customLong("new-passphrase-credential"),
            help: ArgumentHelp("Read the new passphrase from this credential of the systemd service.", valueName: "name"))
    var credential: String?

    @Option(name: .customLong("new-passphrase-env"),
            help: ArgumentHelp("Take the new passphrase from this environment variable. Discouraged: other processes of the same user can read it.",
                               valueName: "name"))
    var variable: String?

    @Option(name: .customLong("new-raw-key-file"),
            help: ArgumentHelp("Read the new key itself from this file, 32 bytes or 64 hexadecimal digits.", valueName: "file"),
            completion: .file())
    var rawKeyFile: String?

    static let name = "new-passphrase-file"

    func validate() throws { _ = try source }

    private var source: SecretSource {
        get throws {
            try .only(of: [
                file.map(SecretSource.file), command.map(SecretSource.command), descriptor.map(SecretSource.descriptor),
                credential.map(SecretSource.credential), variable.map(SecretSource.environment),
                rawKeyFile.map(SecretSource.rawKeyFile),
            ], options: "--new-passphrase-… and --new-raw-key-file")
        }
    }

    func new(for database: String) throws -> Secret {
        try source.readNew("New passphrase for \(database): ", option: Self.name)
    }
}
