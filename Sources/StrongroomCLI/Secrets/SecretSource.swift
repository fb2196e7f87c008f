import ArgumentParser
import Foundation

/// The source of a passphrase or a key. Arguments are no source.
enum SecretSource {
    case file(String)
    case rawKeyFile(String)
    case command(String)
    case descriptor(Int32)
    case credential(String)
    case environment(String)
    case terminal

    /// True if the source is standard input.
    var isStandardInput: Bool {
        switch self {
        case .file("-"), .rawKeyFile("-"), .descriptor(STDIN_FILENO): true
        default: false
        }
    }

    var isTerminal: Bool { if case .terminal = self { true } else { false } }

    /// Returns the passphrase of an existing database. `option` is the option that messages suggest if there is no
    /// terminal.
    func read(_ prompt: String, option: String) throws -> GivenSecret {
        let secret: GivenSecret
        switch self {
        case .file(let path): secret = try Self.read(file: path)
        case .rawKeyFile(let path): secret = try Self.read(file: path, isRawKey: true)
        case .command(let line): secret = try Self.read(command: line)
        case .descriptor(let number): secret = try Self.read(descriptor: number, named: "file descriptor \(number)")
        case .credential(let name): secret = try Self.read(file: Self.credential(name))
        case .environment(let name): secret = try Self.read(variable: name)
        case .terminal: secret = try Self.ask(prompt, option: option)
        }
        secret.dropTrailingNewline()
        try check(secret)
        return secret
    }

    private func check(_ secret: GivenSecret) throws {
        guard !secret.isEmpty else {
            throw Failure(
                .other, keyFile: fileName, "the \(secret.noun) is empty; nothing was changed",
                remedy: "An empty \(secret.noun) protects nothing: give one")
        }
        if secret.isRawKey {
            do {
                _ = try secret.key
            } catch var failure as Failure {
                failure.keyFile = fileName
                throw failure
            }
        } else if secret.hasByteOrderMark {
            let name = fileName.map { $0 + ": " } ?? ""
            Console.warning(
                """
                \(name)the passphrase begins with a byte order mark; save it as plain text if that is not meant
                """)
        }
    }

    /// Returns a new passphrase. The terminal asks for it twice, because a typing error would lock the file,
    /// and again if the two differ.
    func readNew(_ prompt: String, option: String) throws -> GivenSecret {
        guard isTerminal else { return try read(prompt, option: option) }
        for _ in 1...3 {
            let secret = try read(prompt, option: option)
            if try secret.hasSameBytes(as: read("Repeat passphrase: ", option: option)) { return secret }
            Console.message("strongroom: the two passphrases differ.")
        }
        throw Failure(.other, "the two passphrases differed three times; nothing was changed", remedy: "Run this again")
    }

    var fileName: String? {
        switch self {
        case .file(let path), .rawKeyFile(let path): path
        default: nil
        }
    }

    private static func ask(_ prompt: String, option: String) throws -> GivenSecret {
        guard let terminal = Terminal() else {
            throw Failure(
                .usage, "a passphrase is needed and there is no terminal to ask on; nothing was changed",
                remedy: "Give --\(option) FILE")
        }
        return try terminal.readSecret(prompt)
    }

    private static func read(file path: String, isRawKey: Bool = false) throws -> GivenSecret {
        if path == "-" { return try read(descriptor: STDIN_FILENO, named: "standard input", isRawKey: isRawKey) }
        guard !path.isEmpty else {
            throw Failure(
                .usage, "an empty name names no key file; nothing was changed",
                remedy: "Check the options and the environment")
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(errno: errno, ofKeyFile: path) }
        defer { close(descriptor) }
        warnIfReadableByAll(descriptor, path)
        return try read(descriptor: descriptor, named: path, isRawKey: isRawKey)
    }

    private static func read(descriptor: Int32, named name: String, isRawKey: Bool = false) throws -> GivenSecret {
        let secret = GivenSecret(isRawKey: isRawKey)
        while try secret.append(from: descriptor, named: name) > 0 {}
        return secret
    }

    /// Returns the standard output of a shell command line. It reads standard input only from a terminal, where it may
    /// ask a person: otherwise this command itself may need what is there.
    private static func read(command line: String) throws -> GivenSecret {
        let process = Process(), pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", line]
        if isatty(STDIN_FILENO) != 1 { process.standardInput = FileHandle.nullDevice }
        process.standardOutput = pipe
        try process.run()
        try? pipe.fileHandleForWriting.close()
        let secret = try read(descriptor: pipe.fileHandleForReading.fileDescriptor, named: "the passphrase command")
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw Failure(
                .other, "the passphrase command ended with \(process.terminationStatus); nothing was changed",
                remedy: "Run it by itself to see why")
        }
        return secret
    }

    /// Returns the file of a credential that systemd passed to the service (systemd.exec(5), LoadCredential=).
    private static func credential(_ name: String) throws -> String {
        guard let folder = getenv("CREDENTIALS_DIRECTORY") else {
            throw Failure(
                .other,
                "CREDENTIALS_DIRECTORY is not set, so there is no credential \(name); nothing was changed",
                remedy: "Run this from a systemd service with LoadCredential=")
        }
        guard !name.isEmpty, !name.contains("/"), name != "..", name != "." else {
            throw Failure(
                .usage, "the name of a credential has no slash; nothing was changed",
                remedy: "Check the name")
        }
        return String(cString: folder) + "/" + name
    }

    private static func read(variable name: String) throws -> GivenSecret {
        guard let value = getenv(name) else {
            throw Failure(
                .other, "the environment has no variable \(name); nothing was changed",
                remedy: "Check its name")
        }
        let secret = GivenSecret()
        try secret.append(value, named: name)
        // /proc/PID/environ shows this memory, and child processes must not inherit it.
        wipe(UnsafeMutableRawBufferPointer(start: value, count: strlen(value)))
        unsetenv(name)
        return secret
    }

    private static func warnIfReadableByAll(_ descriptor: Int32, _ path: String) {
        var status = stat()
        // A pipe such as <(pass show db) can't be read by other users, whatever its mode.
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
        if status.st_mode & S_IROTH != 0 {
            Console.warning("\(path): every user of this machine can read this passphrase; chmod 600 it")
        }
    }
}
