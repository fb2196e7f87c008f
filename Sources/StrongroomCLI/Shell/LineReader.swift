import Foundation

/// The lines of a file or a pipe, until a signal arrives.
struct LineReader {
    let interruption: Interruption
    private let descriptor: Int32
    private var pending: [UInt8] = []
    /// Where the next line begins, and from where no newline is known.
    private var start = 0, searched = 0
    private var isAtEnd = false
    /// The number of lines that were read.
    private(set) var count = 0

    init(_ interruption: Interruption, descriptor: Int32 = STDIN_FILENO) {
        (self.interruption, self.descriptor) = (interruption, descriptor)
    }

    /// Nil at the end. The last line may lack its newline.
    mutating func next() throws -> String? {
        while true {
            if let end = pending[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { (start, searched) = (end + 1, end + 1) }
                return try line(pending[start..<end])
            }
            searched = pending.count
            guard !isAtEnd else {
                defer { (pending, start, searched) = ([], 0, 0) }
                return start == pending.count ? nil : try line(pending[start...])
            }
            try readMore()
        }
    }

    private mutating func line(_ bytes: ArraySlice<UInt8>) throws -> String {
        count += 1
        guard let text = String(validatingUTF8Bytes: bytes) else {
            throw Failure(
                .other, "the input is not UTF-8 in line \(count), which was not run",
                remedy: "Convert the text to UTF-8, for example with iconv")
        }
        return text
    }

    private mutating func readMore() throws {
        pending.removeFirst(start)
        (start, searched) = (0, searched - start)
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = try bytes.withUnsafeMutableBytes { try interruption.read(descriptor, into: $0) }
        if count > 0 { pending += bytes[..<count] } else { isAtEnd = true }
    }
}
