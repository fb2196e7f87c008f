import ArgumentParser

/// Which key a group of options is about; it names them.
protocol KeyRole {
    /// Before the name of each option.
    static var prefix: String { get }
    /// Before the word "passphrase" or "key" in their help.
    static var adjective: String { get }
}

/// The key of a database as it is, or the only one that a command deals with.
enum PresentKey: KeyRole {
    static let prefix = ""
    static let adjective = ""
}

/// The key that takes over.
enum NewKey: KeyRole {
    static let prefix = "new-"
    static let adjective = "new "
}

/// Where a passphrase comes from, or the key itself.
struct KeyOptions<Role: KeyRole>: ParsableArguments {
    @Option(name: .customLong(Role.prefix + "passphrase-file"),
            help: ArgumentHelp("Read the \(Role.adjective)passphrase from this file instead of the terminal; one newline at its end is dropped.",
                               valueName: "file"),
            completion: .file())
    var file: String?

    @Option(name: .customLong(Role.prefix + "passphrase-command"),
            help: ArgumentHelp("Run this line in a shell and take what it writes as the \(Role.adjective)passphrase.", valueName: "line"))
    var command: String?

    @Option(name: .customLong(Role.prefix + "passphrase-fd"),
            help: ArgumentHelp("Read the \(Role.adjective)passphrase from this open file descriptor.", valueName: "number"))
    var descriptor: Int32?

    @Option(name: .customLong(Role.prefix + "passphrase-credential"),
            help: ArgumentHelp("Read the \(Role.adjective)passphrase from this credential of the systemd service.", valueName: "name"))
    var credential: String?

    @Option(name: .customLong(Role.prefix + "passphrase-env"),
            help: ArgumentHelp("""
                Take the \(Role.adjective)passphrase from this environment variable. Discouraged: until this program has \
                taken it, other processes of the same user can read it.
                """, valueName: "name"))
    var variable: String?

    @Option(name: .customLong(Role.prefix + "raw-key-file"),
            help: ArgumentHelp("Read the \(Role.adjective)key itself from this file, 32 bytes or 64 hexadecimal digits.", valueName: "file"),
            completion: .file())
    var rawKeyFile: String?

    func validate() throws { _ = try source }

    /// False when only the terminal is left.
    var isGiven: Bool { !given.isEmpty }

    private var given: [SecretSource] {
        [
            file.map(SecretSource.file), command.map(SecretSource.command), descriptor.map(SecretSource.descriptor),
            credential.map(SecretSource.credential), variable.map(SecretSource.environment),
            rawKeyFile.map(SecretSource.rawKeyFile),
        ].compactMap { $0 }
    }

    private var source: SecretSource {
        get throws {
            guard given.count < 2 else {
                throw ValidationError("Give one of --\(Role.prefix)passphrase-… and --\(Role.prefix)raw-key-file, not several.")
            }
            return given.first ?? .terminal
        }
    }

    private var optionForFile: String { Role.prefix + "passphrase-file" }

    /// What opens `database` as it is.
    func current(of database: String) throws -> Secret {
        try source.read("Passphrase of \(database): ", option: optionForFile)
    }

    /// What is to open `database` from now on.
    func new(for database: String) throws -> Secret {
        try source.readNew("New passphrase for \(database): ", option: optionForFile)
    }
}

typealias PassphraseOptions = KeyOptions<PresentKey>
typealias NewPassphraseOptions = KeyOptions<NewKey>
