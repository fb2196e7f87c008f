import CStrongroom
import Foundation

/// A file that holds a secret and nothing else but a newline at its end.
struct SecretFile: Sendable {
    /// The reason why a file isn't read.
    enum Failure: Error {
        /// An errno, of opening the file or of reading it.
        case unreadable(CInt)
        case notAFile
        case foreign
        case exposed
        case tooLong
    }

    /// More than anything that was meant to be a secret.
    static let longest = 65_536

    let path: String
    let readers: DatabaseKey.Readers
    let followsLinks: Bool

    func read() throws -> SecretBytes {
        // A FIFO would keep its reader waiting.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | (followsLinks ? 0 : O_NOFOLLOW))
        guard descriptor >= 0 else { throw errno == ELOOP ? Failure.notAFile : .unreadable(errno) }
        defer { close(descriptor) }
        try check(descriptor)
        var count = 0
        let buffer = try SecretBytes(count: Self.longest + 1) { count = try fill($0, from: descriptor) }
        guard count <= Self.longest else { throw Failure.tooLong }
        return try buffer.withBytes { try SecretBytes(copying: Self.withoutNewline($0.prefix(count))) }
    }

    /// Asks the open file, since the one of that name may be another one by now.
    private func check(_ descriptor: CInt) throws {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw Failure.unreadable(errno) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw Failure.notAFile }
        guard status.st_uid == geteuid() || status.st_uid == 0 else { throw Failure.foreign }
        guard status.st_mode & readers.forbidden == 0 else { throw Failure.exposed }
    }

    /// Returns the count of bytes that the file has, or of those that there is room for.
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

    /// One newline at the end doesn't count: LF, or CR LF.
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
        case .exposed: "can be read by others, or written"
        case .tooLong: "has more than \(SecretFile.longest) bytes"
        }
    }

    static func words(_ error: CInt) -> String {
        switch error {
        case EPERM: "it belongs to another user"
        case CInt(STRONGROOM_NOT_A_FILE): "it is not a regular file"
        default: String(cString: strerror(error))
        }
    }
}
