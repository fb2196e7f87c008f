import Foundation
import Strongroom

/// The bytes of a passphrase on the way from its source to the library: locked in memory if the system allows it, wiped
/// on release, and never converted to a `String`.
final class GivenSecret {
    /// The maximum length of a passphrase in bytes.
    static let longest = 65_536

    private let storage: UnsafeMutableRawBufferPointer
    private var count = 0
    /// True if the bytes are the key itself.
    let isRawKey: Bool

    init(isRawKey: Bool = false) {
        self.isRawKey = isRawKey
        // One byte more than the maximum distinguishes the longest passphrase from one that is too long.
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

    /// True if nothing is derived from the bytes: they are the key, or the key as `x'…'`.
    var isUsedAsKey: Bool {
        isRawKey
            || count >= 3 && storage[0] | 0x20 == UInt8(ascii: "x") && storage[1] == UInt8(ascii: "'")
                && bytes.last == UInt8(ascii: "'")
    }

    /// The name of these bytes in messages.
    var noun: String { isUsedAsKey ? "raw key" : "passphrase" }

    /// The short name, for messages that name the database before.
    var shortNoun: String { isUsedAsKey ? "key" : "passphrase" }

    /// The key for the library, which copies it into locked memory.
    var key: DatabaseKey {
        get throws {
            guard isRawKey else { return .passphrase(bytes) }
            switch count {
            case 32, 48: return try Self.rawKey(bytes)
            case 64, 96:
                guard let digits = GivenSecret(hexadecimal: bytes) else { throw Self.malformedKey }
                return try Self.rawKey(digits.bytes)
            default: throw Self.malformedKey
            }
        }
    }

    /// Returns the key, and the salt if it follows.
    private static func rawKey(_ bytes: UnsafeRawBufferPointer) throws -> DatabaseKey {
        try .rawKey(bytes.prefix(32), salt: bytes.count > 32 ? Array(bytes.dropFirst(32)) : nil)
    }

    private static let malformedKey = Failure(
        .other, "the raw key is malformed; nothing was changed",
        remedy: "Its file has 32 bytes or 64 hexadecimal digits, or with its salt 48 bytes or 96 digits")

    /// Creates a secret of the hexadecimal digits of `bytes`.
    convenience init(digitsOf bytes: UnsafeRawBufferPointer) {
        self.init()
        for byte in bytes {
            for nibble in [byte >> 4, byte & 15] {
                storage[count] = hexDigit(nibble)
                count += 1
            }
        }
    }

    private convenience init?(hexadecimal text: UnsafeRawBufferPointer) {
        self.init(isRawKey: true)
        for index in stride(from: 0, to: text.count, by: 2) {
            guard let high = nibble(hexDigit: text[index]), let low = nibble(hexDigit: text[index + 1]) else {
                return nil
            }
            storage[count] = high << 4 | low
            count += 1
        }
    }

    func hasSameBytes(as other: GivenSecret) -> Bool { isRawKey == other.isRawKey && bytes.elementsEqual(other.bytes) }

    /// Copies a text that ends with a zero byte.
    func append(_ text: UnsafePointer<CChar>, named name: String) throws {
        let length = strlen(text)
        guard count + length <= Self.longest else { throw Self.tooLong(name) }
        UnsafeMutableRawBufferPointer(rebasing: storage[count...]).copyMemory(
            from: UnsafeRawBufferPointer(
                start: text,
                count: length))
        count += length
    }

    private static func tooLong(_ name: String) -> Failure {
        Failure(
            .other, keyFile: name, "more than \(longest) bytes: this is not a passphrase; nothing was changed",
            remedy: "Check the name")
    }

    /// Reads available bytes and returns their number; 0 at the end.
    func append(from descriptor: Int32, named name: String) throws -> Int {
        let room = UnsafeMutableRawBufferPointer(rebasing: storage[count...])
        while true {
            let got = read(descriptor, room.baseAddress, room.count)
            if got >= 0 {
                count += got
                guard count <= Self.longest else { throw Self.tooLong(name) }
                return got
            }
            guard errno == EINTR else { throw Failure(errno: errno, ofKeyFile: name) }
        }
    }

    /// True if a person could type the bytes: they are UTF-8 without control characters.
    var isText: Bool {
        var decoder = UTF8(), rest = bytes.makeIterator()
        while true {
            switch decoder.decode(&rest) {
            case .scalarValue(let scalar): if scalar.properties.generalCategory == .control { return false }
            case .emptyInput: return true
            case .error: return false
            }
        }
    }

    /// Removes one newline from the end, LF or CR LF, as `echo` and editors add it.
    func dropTrailingNewline() {
        // A raw key in bytes may end in any of them.
        guard endsInNewline, !(isRawKey && (count == 32 || count == 48)) else { return }
        count -= 1
        if bytes.last == UInt8(ascii: "\r") { count -= 1 }
    }

    /// True if the text begins with a byte order mark, which some editors add.
    var hasByteOrderMark: Bool {
        [[0xEF, 0xBB, 0xBF], [0xFF, 0xFE], [0xFE, 0xFF]].contains { bytes.starts(with: $0) }
    }
}

/// Never inlined: a compiler that sees the memory freed next may leave the zeros out.
@inline(never)
func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
    _ = memset(bytes.baseAddress!, 0, bytes.count)
}
