import ArgumentParser
import Foundation

/// The key that a group of options gives, and the prefix of their names.
protocol KeyRole {
    /// The prefix of each option's name.
    static var prefix: String { get }
    /// The word before "passphrase" or "key" in their help.
    static var adjective: String { get }
}

/// The present key of a database, or the only key of a command.
enum PresentKey: KeyRole {
    static let prefix = ""
    static let adjective = ""
}

/// The new key of a database.
enum NewKey: KeyRole {
    static let prefix = "new-"
    static let adjective = "new "
}

/// The options for the source of a key.
struct KeyOptions<Role: KeyRole>: ParsableArguments {
    @Option(
        name: .customLong(Role.prefix + "passphrase-file"),
        help: ArgumentHelp(
            """
            Read the \(Role.adjective)passphrase from this file, or from standard input for -. One newline at its \
            end is dropped.
            """, valueName: "file"),
        completion: .file())
    var file: String?

    @Option(
        name: .customLong(Role.prefix + "passphrase-command"),
        help: ArgumentHelp(
            """
            Use the output of this shell command as the \(Role.adjective)passphrase. It reads standard input only from \
            a terminal.
            """,
            valueName: "line"))
    var command: String?

    @Option(
        name: .customLong(Role.prefix + "passphrase-fd"),
        help: ArgumentHelp(
            "Read the \(Role.adjective)passphrase from this open file descriptor.",
            valueName: "number"))
    var descriptor: Int32?

    @Option(
        name: .customLong(Role.prefix + "passphrase-credential"),
        help: ArgumentHelp("Read the \(Role.adjective)passphrase from this systemd credential.", valueName: "name"))
    var credential: String?

    @Option(
        name: .customLong(Role.prefix + "passphrase-env"),
        help: ArgumentHelp(
            """
            Read the \(Role.adjective)passphrase from this environment variable. Discouraged: other processes of \
            the same user can read it until this program has removed it.
            """, valueName: "name"))
    var variable: String?

    @Option(
        name: .customLong(Role.prefix + "raw-key-file"),
        help: ArgumentHelp(
            """
            Read the \(Role.adjective)key itself from this file, or from standard input for -: 32 bytes or 64 \
            hexadecimal digits; with its salt, 48 bytes or 96 digits.
            """, valueName: "file"),
        completion: .file())
    var rawKeyFile: String?

    func validate() throws { _ = try source }

    /// True if an option gives the key.
    var isGiven: Bool { !given.isEmpty }

    /// True if the key is given without asking on the terminal.
    var isKnown: Bool { (try? source.isTerminal) == false }

    private var given: [SecretSource] {
        [
            file.map(SecretSource.file), command.map(SecretSource.command), descriptor.map(SecretSource.descriptor),
            credential.map(SecretSource.credential), variable.map(SecretSource.environment),
            rawKeyFile.map(SecretSource.rawKeyFile),
        ].compactMap { $0 }
    }

    var source: SecretSource {
        get throws {
            guard given.count < 2 else {
                throw ValidationError(
                    "Give one of --\(Role.prefix)passphrase-… and --\(Role.prefix)raw-key-file, not several.")
            }
            return try given.first ?? fromEnvironment ?? .terminal
        }
    }

    /// The source that the environment names, for scripts and services.
    private var fromEnvironment: SecretSource? {
        get throws {
            let name = "STRONGROOM_" + Role.prefix.uppercased().replacingOccurrences(of: "-", with: "_") + "PASSPHRASE_"
            func value(_ ending: String) -> String? {
                getenv(name + ending).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
            }
            let sources = [
                value("FILE").map(SecretSource.file),
                value("COMMAND").map(SecretSource.command),
            ].compactMap { $0 }
            guard sources.count < 2 else {
                throw ValidationError("Set one of \(name)FILE and \(name)COMMAND, not both.")
            }
            return sources.first
        }
    }

    private var optionForFile: String { Role.prefix + "passphrase-file" }

    /// Returns the key that opens `database` now.
    func current(of database: String) throws -> GivenSecret {
        try source.read("Passphrase of \(database): ", option: optionForFile)
    }

    /// Returns the new key for `database`.
    func new(for database: String) throws -> GivenSecret {
        try source.readNew("New passphrase for \(database): ", option: optionForFile)
    }

    /// Calls `use` with the key of `database`. A wrong key that was typed may be typed again, twice.
    func unlocking<T>(_ database: String, _ use: (_ secret: GivenSecret, _ isLast: Bool) throws -> T) throws -> T {
        var tries = try source.isTerminal ? 3 : 1
        while true {
            tries -= 1
            let secret = try current(of: database)
            do {
                return try use(secret, tries == 0)
            } catch let failure as Failure where failure.status == .wrongKey {
                guard tries > 0 else { throw failure.naming(isRawKey: secret.isUsedAsKey) }
                Console.message("strongroom: \(failure.file ?? database): this passphrase does not open it. Try again.")
            }
        }
    }
}

extension Failure {
    /// Returns the failure with the words for a raw key instead of a passphrase.
    func naming(isRawKey: Bool) -> Failure {
        guard status == .wrongKey, isRawKey, !isOfSalt else { return self }
        var failure = self
        failure.happened = "this raw key does not open it; nothing was changed"
        failure.remedy = """
            Check the key, and that this is an encrypted database with pages of the usual size (--page-size)
            """
        return failure
    }
}

typealias PassphraseOptions = KeyOptions<PresentKey>
typealias NewPassphraseOptions = KeyOptions<NewKey>
