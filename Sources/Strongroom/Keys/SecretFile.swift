import Foundation

/// A file that contains only a secret, and optionally a newline at its end.
struct SecretFile: Sendable {
    /// The reason why a file isn't read.
    enum Failure: Error {
        /// An `errno` of opening or reading the file.
        case unreadable(CInt)
        case notAFile
        case foreign
        case exposed
        case tooLong
    }

    /// The greatest size in bytes. A larger file was not meant to be a secret.
    static let longest = 65_536

    let path: String
    let readers: DatabaseKey.Readers
    let followsLinks: Bool

    func read() throws -> SecretBytes {
        // Opening a FIFO would block.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW))
        guard descriptor >= 0 else { throw errno == ELOOP ? Failure.notAFile : .unreadable(errno) }
        defer { close(descriptor) }
        try check(descriptor)
        var count = 0
        let buffer = try SecretBytes(count: Self.longest + 1) { count = try fill($0, from: descriptor) }
        guard count <= Self.longest else { throw Failure.tooLong }
        return try buffer.withBytes { try SecretBytes(copying: Self.withoutNewline($0.prefix(count))) }
    }

    /// Checks the open file, because the name may refer to another file by now.
    private func check(_ descriptor: CInt) throws {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Failure.unreadable(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure.notAFile }
        guard status.st_uid == geteuid() || status.st_uid == 0 else { throw Failure.foreign }
        guard status.st_mode & readers.forbidden == 0 else { throw Failure.exposed }
    }

    /// Returns the number of bytes that were read: those of the file, or as many as fit.
    private func fill(_ room: UnsafeMutableRawBufferPointer, from descriptor: CInt) throws -> Int {
        var count = 0
        while count < room.count {
            let got = Foundation.read(descriptor, room.baseAddress! + count, room.count - count)
            if got < 0 && errno == EINTR { continue }
            guard got >= 0 else { throw Failure.unreadable(errno) }
            if got == 0 { break }
            count += got
        }
        return count
    }

    /// Returns the text without one newline at the end: LF, or CR LF.
    static func withoutNewline(_ text: Slice<UnsafeRawBufferPointer>) -> Slice<UnsafeRawBufferPointer> {
        guard text.last == UInt8(ascii: "\n") else { return text }
        let line = text.dropLast()
        return line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    }
}

extension SecretFile.Failure {
    /// The end of a sentence that begins with the path of the file.
    var words: String {
        switch self {
        case .unreadable(let error): "can't be read: \(Self.words(error))"
        case .notAFile: "is not a regular file"
        case .foreign: "belongs to another user"
        case .exposed: "can be read or written by others"
        case .tooLong: "has more than \(SecretFile.longest) bytes"
        }
    }

    static func words(_ error: CInt) -> String {
        switch error {
        case EPERM: "it belongs to another user"
        case NamedFile.notAFile: "it is not a regular file"
        default: String(cString: strerror(error))
        }
    }
}
