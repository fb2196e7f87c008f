import Foundation

extension DatabaseKey {
    /// The users who may read a file that holds a passphrase.
    public enum Readers: Sendable {
        /// Its owner alone: mode 0600, or less.
        case owner
        /// Its owner and its group: mode 0640, or less.
        case group
        /// Everyone, as containers mount secrets in a file system of their own.
        case everyone

        fileprivate var forbidden: mode_t {
            switch self {
            case .owner: S_IRWXG | S_IRWXO
            case .group: S_IWGRP | S_IRWXO
            case .everyone: S_IWGRP | S_IWOTH
            }
        }

        fileprivate var mode: String {
            switch self {
            case .owner: "600"
            case .group: "640"
            case .everyone: "644"
            }
        }
    }
}

/// A file that holds a passphrase and nothing else but a newline at its end.
struct PassphraseFile: Sendable {
    /// More than anything that was meant to be a passphrase.
    private static let longest = 65_536

    let path: String
    let readers: DatabaseKey.Readers

    func read() throws -> SecretBytes {
        // A FIFO would keep its reader waiting.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw failure("can't be opened", errno) }
        defer { close(descriptor) }
        try check(descriptor)
        var count = 0
        let buffer = try SecretBytes(count: Self.longest + 1) { count = try fill($0, from: descriptor) }
        guard count <= Self.longest else {
            throw DatabaseError(
                refusing: "the passphrase file \(path) has more than \(Self.longest) bytes", advice: "check its name")
        }
        return try buffer.withBytes { try SecretBytes(copying: Self.withoutNewline($0.prefix(count))) }
    }

    /// Asks the open file, since the one of that name may be another one by now.
    private func check(_ descriptor: CInt) throws {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("can't be read", errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw DatabaseError(
                refusing: "the passphrase file \(path) is not a regular file", advice: "give the path of a file")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw DatabaseError(
                .SQLITE_PERM, refusing: "the passphrase file \(path) belongs to another user",
                advice: "keep the passphrase in a file of the user who runs the program")
        }
        guard status.st_mode & readers.forbidden == 0 else {
            throw DatabaseError(
                .SQLITE_PERM, refusing: "others can read the passphrase file \(path), or write it",
                advice: "chmod \(readers.mode) it, and change the passphrase if they may have read it")
        }
    }

    /// Returns the count of bytes that the file has, or of those that there is room for.
    private func fill(_ room: UnsafeMutableRawBufferPointer, from descriptor: CInt) throws -> Int {
        var count = 0
        while count < room.count {
            let got = Foundation.read(descriptor, room.baseAddress! + count, room.count - count)
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw failure("can't be read", errno) }
            if got == 0 { break }
            count += got
        }
        return count
    }

    private static func withoutNewline(_ text: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        guard text.last == UInt8(ascii: "\n") else { return text }
        let line = text.dropLast()
        return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }

    private func failure(_ what: String, _ code: CInt) -> DatabaseError {
        DatabaseError(
            .SQLITE_CANTOPEN, refusing: "the passphrase file \(path) \(what): \(String(cString: strerror(code)))",
            advice: "check its path and its permissions")
    }
}
