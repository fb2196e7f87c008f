import Foundation

/// A key store that is a program.
///
/// The program gets two more arguments: the action (`load`, `store` or `remove`), and the name of the key (`current`,
/// `next`, or that of a former key). A key is one line of text, `x'<64 hexadecimal digits>'`. The program writes the
/// key to its standard output for `load`, at most 128 bytes, and reads it from its standard input for `store`. What it
/// writes to its standard output for `store` and `remove` is ignored. A key is never an argument, and no shell is
/// involved.
///
/// For the action `list`, which has no name, the program writes the names of its keys, each on a line, at most 64 KiB.
/// A rotation fails if the program does not know `list`, unless ``FormerKeys/discard`` is given.
///
/// Under the name `database`, the program stores and loads the path of the database, one line of text. While that
/// database exists, the key creates no other one. If the program refuses this name, the key can create several.
///
/// The exit status is the answer:
///
/// | Exit status | Answer |
/// | --- | --- |
/// | 0 | success |
/// | 44 | absent: there is no such key |
/// | 45 | for `store`: there is such a key already, and it was not replaced |
/// | 36 | locked: try again when the store is unlocked |
/// | any other, or a signal | failed |
///
/// The numbers are those of macOS's `security`. The program inherits the standard error of the process.
public struct CommandKeyStore: KeyStore {
    /// The program and its first arguments. A program without a slash is looked up in `PATH`.
    public let arguments: [String]
    /// The time limit of one call in seconds. Default: 60. When it is exceeded, the program is ended and the call
    /// fails.
    public let timeout: Double

    /// Creates a store that runs `arguments`, with a limit of 60 seconds by default.
    public init(_ arguments: [String], timeout: Double = 60) {
        self.arguments = arguments
        self.timeout = timeout
    }

    /// Runs the program to load a key.
    public func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey {
        try StoredText.key(read("load", entry.rawValue), in: "what \(program) writes")
    }

    /// Runs the program to store a key.
    public func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError) {
        try run("store", entry.rawValue, input: StoredText.spelling(key))
    }

    /// Runs the program to remove a key.
    public func remove(_ entry: KeyStoreEntry) throws(KeyStoreError) {
        try run("remove", entry.rawValue)
    }

    /// Runs the program to list its keys.
    public func formerKeys() throws(KeyStoreError) -> [FormerKey]? {
        do {
            return try FormerKey.all(in: read("list", nil, capacity: FormerKey.listCapacity))
        } catch .absent {
            return []
        }
    }

    /// Runs the program to load a former key.
    public func load(_ key: FormerKey) throws(KeyStoreError) -> DatabaseKey {
        try StoredText.key(read("load", key.name), in: "what \(program) writes")
    }

    /// Runs the program to store a former key.
    public func store(_ key: DatabaseKey, as former: FormerKey) throws(KeyStoreError) {
        try run("store", former.name, input: StoredText.spelling(key))
    }

    /// Runs the program to remove a former key.
    public func remove(_ key: FormerKey) throws(KeyStoreError) {
        try run("remove", key.name)
    }

    // MARK: The database

    /// Runs the program to load the path, under the name `database`. Nil if the program refuses the name.
    public func databasePath() throws(KeyStoreError) -> String? {
        do {
            return try StoredText.path(read("load", "database", capacity: StoredText.pathCapacity))
        } catch .absent, .failed {
            return nil
        }
    }

    /// Runs the program to remove the former path, and to store the new one.
    public func recordDatabasePath(_ path: String) throws(KeyStoreError) {
        let line = try StoredText.line(path)
        do { try run("remove", "database") } catch .absent {}
        try run("store", "database", input: line)
    }

    private var program: String { arguments.first ?? "the program" }

    /// Runs the program for what it writes.
    private func read(
        _ verb: String, _ name: String?, capacity: Int = StoredText.capacity
    ) throws(KeyStoreError) -> SecretBytes {
        try run(verb, name, capacity: capacity).get()
    }

    @discardableResult
    private func run(
        _ verb: String, _ name: String?, input: SecretBytes? = nil, capacity: Int = StoredText.capacity
    ) throws(KeyStoreError) -> Result<SecretBytes, KeyStoreError> {
        guard !arguments.isEmpty else { throw .failed("the command has no program") }
        let call = StoreProgram(arguments: arguments + [verb] + (name.map { [$0] } ?? []), timeout: timeout)
        let end = try call.run(input: input, capacity: capacity)
        switch end.status {
        case 0:
            return end.output.mapError { _ in .failed("\(program) \(verb) wrote more than \(capacity) bytes") }
        case 44: throw .absent
        case 45: throw .exists
        case 36: throw .locked("\(program) says so")
        default: throw .failed("\(program) \(verb) ended with \(end.words)")
        }
    }
}

/// One call of a store's program.
struct StoreProgram {
    let arguments: [String]
    let timeout: Double

    struct End {
        /// The exit status. Nil after a signal.
        let status: Int32?
        /// The output, or the failure of a program that wrote more than the capacity.
        let output: Result<SecretBytes, KeyStoreError>
        let words: String
    }

    /// Runs the program to its end, however much it writes.
    ///
    /// - parameter capacity: the greatest number of bytes that the output is read for. Not zero.
    func run(input: SecretBytes? = nil, capacity: Int) throws(KeyStoreError) -> End {
        var count = 0, status: CInt = 0, error: CInt = 0
        do {
            let room = try SecretBytes(count: capacity) { output in
                error = call(input, output, &count, &status)
            }
            guard error == 0 else { throw failure(error) }
            guard count <= capacity else {
                return end(status, .failure(.failed("\(arguments[0]) wrote more than \(capacity) bytes")))
            }
            return try end(status, .success(room.withBytes { try SecretBytes(copying: $0.prefix(count)) }))
        } catch {
            throw error as? KeyStoreError ?? .failed("there is no memory for the key")
        }
    }

    private func call(
        _ input: SecretBytes?, _ output: UnsafeMutableRawBufferPointer, _ count: inout Int, _ status: inout CInt
    ) -> CInt {
        let milliseconds = CInt(max(0, min(timeout * 1000, 1e9)))
        func run(_ bytes: UnsafeRawBufferPointer) -> CInt {
            let end = ChildProcess.run(arguments, input: bytes, output: output, milliseconds: milliseconds)
            (count, status) = (end.count, end.status)
            return end.error
        }
        return input?.withBytes(run) ?? run(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    private func end(_ status: CInt, _ output: Result<SecretBytes, KeyStoreError>) -> End {
        let signal = status & 0x7f, code = (status >> 8) & 0xff
        return signal == 0
            ? End(status: code, output: output, words: "status \(code)")
            : End(status: nil, output: output, words: "signal \(signal)")
    }

    private func failure(_ error: CInt) -> KeyStoreError {
        let program = arguments[0]
        switch error {
        case ETIMEDOUT: return .failed("\(program) did not end within \(timeout) seconds, and was ended")
        default: return .failed("\(program) can't be run: \(String(cString: strerror(error)))")
        }
    }
}
