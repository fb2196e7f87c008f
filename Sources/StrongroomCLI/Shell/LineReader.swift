import Foundation

/// The lines of a file or a pipe, until a signal arrives.
struct LineReader {
    let interruption: Interruption
    private let descriptor: Int32
    private var pending: [UInt8] = []
    private var isAtEnd = false
    /// The number of lines that were read.
    private(set) var count = 0

    init(_ interruption: Interruption, descriptor: Int32 = STDIN_FILENO) {
        (self.interruption, self.descriptor) = (interruption, descriptor)
    }

    /// Nil at the end. The last line may lack its newline.
    mutating func next() throws -> String? {
        while true {
            if let end = pending.firstIndex(of: UInt8(ascii: "\n")) {
                defer { pending.removeFirst(end + 1) }
                count += 1
                return String(decoding: pending[..<end], as: UTF8.self)
            }
            guard !isAtEnd else {
                defer { pending = [] }
                if !pending.isEmpty { count += 1 }
                return pending.isEmpty ? nil : String(decoding: pending, as: UTF8.self)
            }
            try readMore()
        }
    }

    private mutating func readMore() throws {
        var watched = [descriptor, interruption.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        _ = poll(&watched, 2, -1)
        try interruption.check()
        guard watched[0].revents != 0 else { return }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &bytes, bytes.count)
        if count > 0 { pending += bytes[..<count] } else { isAtEnd = true }
    }
}
