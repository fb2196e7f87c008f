import ArgumentParser
import Foundation

/// Where a passphrase comes from. Arguments and plain environment variables are not among the places.
enum SecretSource {
    case file(String)
    case terminal

    /// The passphrase that opens what exists. `option` is what to give where there is no terminal to ask on.
    func read(_ prompt: String, option: String) throws -> Secret {
        let secret: Secret
        switch self {
        case .file(let path): secret = try Self.read(file: path)
        case .terminal: secret = try Self.ask(prompt, option: option)
        }
        secret.dropTrailingNewline()
        guard !secret.isEmpty else {
            throw Failure(.other, file: fileName, "the passphrase is empty; nothing was changed",
                          remedy: "An empty passphrase protects nothing: give one")
        }
        return secret
    }

    /// A passphrase that is about to be set: on the terminal it is asked for twice, since a slip would lock the file.
    func readNew(_ prompt: String, option: String) throws -> Secret {
        let secret = try read(prompt, option: option)
        if case .terminal = self {
            let again = try read("The same again: ", option: option)
            guard secret.hasSameBytes(as: again) else {
                throw Failure(.other, "the two passphrases differ; nothing was changed", remedy: "Run this again")
            }
        }
        return secret
    }

    private var fileName: String? {
        if case .file(let path) = self { path } else { nil }
    }

    private static func ask(_ prompt: String, option: String) throws -> Secret {
        guard let terminal = Terminal() else {
            throw Failure(.usage, "a passphrase is needed and there is no terminal to ask on",
                          remedy: "Give --\(option) FILE")
        }
        return try terminal.readSecret(prompt)
    }

    private static func read(file path: String) throws -> Secret {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(errno: errno, file: path, doing: "opening the passphrase file") }
        defer { close(descriptor) }
        warnIfReadableByAll(descriptor, path)
        let secret = Secret()
        while try secret.append(from: descriptor, named: path) > 0 {}
        return secret
    }

    private static func warnIfReadableByAll(_ descriptor: Int32, _ path: String) {
        var status = stat()
        // A pipe such as <(pass show db) is nobody else's to read, whatever its mode says.
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        if status.st_mode & S_IROTH != 0 {
            Console.warning("\(path): every user of this machine can read this passphrase; chmod 600 it")
        }
    }
}

/// The passphrase of the database as it is.
struct PassphraseOptions: ParsableArguments {
    static let name = "passphrase-file"

    @Option(name: .customLong(name),
            help: ArgumentHelp("Read the passphrase from this file instead of the terminal; one newline at its end is dropped.",
                               valueName: "file"),
            completion: .file())
    var file: String?

    private var source: SecretSource { file.map(SecretSource.file) ?? .terminal }

    func current(of database: String) throws -> Secret {
        try source.read("Passphrase of \(database): ", option: Self.name)
    }

    func new(for database: String) throws -> Secret {
        try source.readNew("New passphrase for \(database): ", option: Self.name)
    }
}

/// The passphrase that takes over.
struct NewPassphraseOptions: ParsableArguments {
    static let name = "new-passphrase-file"

    @Option(name: .customLong(name),
            help: ArgumentHelp("Read the new passphrase from this file instead of the terminal; one newline at its end is dropped.",
                               valueName: "file"),
            completion: .file())
    var file: String?

    func new(for database: String) throws -> Secret {
        let source = file.map(SecretSource.file) ?? .terminal
        return try source.readNew("New passphrase for \(database): ", option: Self.name)
    }
}
