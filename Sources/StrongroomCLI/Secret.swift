import Foundation
import Strongroom

/// The bytes of a passphrase between its source and the library: kept out of swap where the system allows, wiped when
/// let go, and never turned into a `String`.
final class Secret {
    /// Longer than anything that was meant to be a passphrase.
    static let longest = 65_536

    private let storage: UnsafeMutableRawBufferPointer
    private var count = 0

    init() {
        // One byte more than is accepted tells "as long as possible" from "too long".
        storage = .allocate(byteCount: Self.longest + 1, alignment: Int(getpagesize()))
        _ = mlock(storage.baseAddress!, storage.count)
    }

    deinit {
        wipe(storage)
        _ = munlock(storage.baseAddress!, storage.count)
        storage.deallocate()
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage[..<count]) }
    var isEmpty: Bool { count == 0 }
    var endsInNewline: Bool { bytes.last == UInt8(ascii: "\n") }

    /// The key for the library, which keeps its own copy in locked memory.
    var key: DatabaseKey { .passphrase(bytes) }

    func hasSameBytes(as other: Secret) -> Bool { bytes.elementsEqual(other.bytes) }

    /// Reads what is there and returns how much it was; 0 at the end.
    func append(from descriptor: Int32, named name: String) throws -> Int {
        let room = UnsafeMutableRawBufferPointer(rebasing: storage[count...])
        while true {
            let got = read(descriptor, room.baseAddress, room.count)
            if got >= 0 {
                count += got
                guard count <= Self.longest else {
                    throw Failure(.other, file: name, "more than \(Self.longest) bytes: this is no passphrase",
                                  remedy: "Check the file's name")
                }
                return got
            }
            guard errno == EINTR else { throw Failure(errno: errno, file: name, doing: "reading the passphrase") }
        }
    }

    /// Takes one newline off the end, as `echo` and editors leave it there.
    func dropTrailingNewline() {
        if endsInNewline { count -= 1 }
    }
}

/// Never inlined: a compiler that sees the memory freed next may leave the zeros out.
@inline(never)
private func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
    _ = memset(bytes.baseAddress!, 0, bytes.count)
}
