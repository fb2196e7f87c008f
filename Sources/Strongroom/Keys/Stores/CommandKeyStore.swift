import CStrongroom
import Foundation

/// Keeps a key by a program, which knows where.
///
/// The program gets two more arguments: what to do (`load`, `store` or `remove`), and which key (`current` or `next`).
/// The key is one line of text, `x'<64 hexadecimal digits>'`, on its standard output for `load` and on its standard
/// input for `store`; it is never an argument, and no shell is involved. How it ends is what it answers:
///
/// | Exit status | Answer |
/// | --- | --- |
/// | 0 | done |
/// | 44 | absent: there is no such key |
/// | 45 | there is such a key already, for `store`, which replaces none |
/// | 36 | locked: try again when it is unlocked |
/// | any other, or a signal | failed |
///
/// The numbers are those of macOS's `security`. What the program writes to its standard error goes to that of the
/// process.
public struct CommandKeyStore: KeyStore {
    /// The program and its first arguments. A program without a slash is looked up in `PATH`.
    public let arguments: [String]
    /// Seconds that the program may take for one call, before it is ended and the call has failed.
    public let timeout: Double

    public init(_ arguments: [String], timeout: Double = 60) {
        self.arguments = arguments
        self.timeout = timeout
    }

    public func load(_ entry: KeyStoreEntry) throws(KeyStoreError) -> DatabaseKey {
        try StoredText.key(run("load", entry), in: "what \(program) writes")
    }

    public func store(_ key: DatabaseKey, as entry: KeyStoreEntry) throws(KeyStoreError) {
        _ = try run("store", entry, input: StoredText.spelling(key))
    }

    public func remove(_ entry: KeyStoreEntry) throws(KeyStoreError) {
        _ = try run("remove", entry)
    }

    private var program: String { arguments.first ?? "the program" }

    private func run(
        _ verb: String, _ entry: KeyStoreEntry, input: SecretBytes? = nil) throws(KeyStoreError) -> SecretBytes
    {
        guard !arguments.isEmpty else { throw .failed("the command has no program") }
        let call = StoreProgram(arguments: arguments + [verb, entry.rawValue], timeout: timeout)
        let end = try call.run(input: input, capacity: StoredText.capacity)
        switch end.status {
        case 0: return end.output
        case 44: throw .absent
        case 45: throw .exists
        case 36: throw .locked("\(program) says so")
        default: throw .failed("\(program) \(verb) ended with \(end.words)")
        }
    }
}

/// A program that is run once for a store.
struct StoreProgram {
    let arguments: [String]
    let timeout: Double

    struct End {
        /// The exit status; nil after a signal.
        let status: Int32?
        let output: SecretBytes
        let words: String
    }

    /// - parameter capacity: how many bytes the program may write.
    func run(input: SecretBytes? = nil, capacity: Int) throws(KeyStoreError) -> End {
        var count = 0, status: CInt = 0, error: CInt = 0
        do {
            let room = try SecretBytes(count: capacity) { output in
                error = call(input, output, &count, &status)
            }
            guard error == 0 else { throw failure(error) }
            let output = try room.withBytes { try SecretBytes(copying: $0.prefix(count)) }
            return end(status, output)
        } catch {
            throw error as? KeyStoreError ?? .failed("there is no memory for the key")
        }
    }

    private func call(
        _ input: SecretBytes?, _ output: UnsafeMutableRawBufferPointer, _ count: inout Int, _ status: inout CInt
    ) -> CInt {
        var words: [UnsafeMutablePointer<CChar>?] = arguments.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        let milliseconds = CInt(max(0, min(timeout * 1000, 1e9)))
        func run(_ bytes: UnsafeRawBufferPointer) -> CInt {
            strongroom_run(
                &words, bytes.baseAddress, bytes.count, output.baseAddress, output.count, &count, milliseconds, &status)
        }
        return input?.withBytes(run) ?? run(UnsafeRawBufferPointer(start: nil, count: 0))
    }

    private func end(_ status: CInt, _ output: SecretBytes) -> End {
        let signal = status & 0x7f, code = (status >> 8) & 0xff
        return signal == 0
            ? End(status: code, output: output, words: "status \(code)")
            : End(status: nil, output: output, words: "signal \(signal)")
    }

    private func failure(_ error: CInt) -> KeyStoreError {
        let program = arguments[0]
        switch error {
        case ETIMEDOUT: return .failed("\(program) did not end within \(timeout) seconds, and was ended")
        case EFBIG: return .failed("\(program) writes more than a key")
        default: return .failed("\(program) can't be run: \(String(cString: strerror(error)))")
        }
    }
}
