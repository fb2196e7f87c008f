import Foundation

/// Data goes to standard output, words for people to standard error.
enum Console {
    /// Fails when the data did not get where it should: a full disk, for instance.
    static func output(_ text: String) throws {
        try write(text + "\n", to: STDOUT_FILENO)
    }

    static func message(_ text: String) {
        // Nobody is left to be told that nobody listens.
        try? write(text + "\n", to: STDERR_FILENO)
    }

    static func warning(_ text: String) {
        message("strongroom: warning: \(text)")
    }

    static func write(_ text: String, to descriptor: Int32) throws {
        var text = text
        try text.withUTF8 { try write(UnsafeRawBufferPointer($0), to: descriptor) }
    }

    static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32,
                      named name: String = "standard output") throws {
        var rest = bytes
        while !rest.isEmpty {
            let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
            if count < 0 {
                // Nobody reads any further, as after `head`: there is nothing to say.
                if errno == EPIPE { throw Told(status: .other) }
                guard errno == EINTR else { throw Failure(errno: errno, file: name, doing: "writing") }
                continue
            }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
    }
}
