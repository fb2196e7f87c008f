import Foundation

/// Data goes to standard output, words for people to standard error.
enum Console {
    static func output(_ text: String) {
        write(text + "\n", to: STDOUT_FILENO)
    }

    static func message(_ text: String) {
        write(text + "\n", to: STDERR_FILENO)
    }

    static func warning(_ text: String) {
        message("strongroom: warning: \(text)")
    }

    static func write(_ text: String, to descriptor: Int32) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while !rest.isEmpty {
                let count = Foundation.write(descriptor, rest.baseAddress, rest.count)
                if count < 0 {
                    // Nobody is left to be told that nobody listens.
                    guard errno == EINTR else { return }
                    continue
                }
                rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
            }
        }
    }
}

/// One line on a terminal's standard error that follows the work; silent when standard error goes elsewhere.
struct ProgressLine {
    private let label: String
    private let shown: Bool
    private var percentage = -1

    init(_ label: String, quiet: Bool = false) {
        self.label = label
        shown = !quiet && isatty(STDERR_FILENO) == 1
    }

    mutating func show(completed: Int, of total: Int) {
        guard shown, total > 0 else { return }
        let now = min(100, completed * 100 / total)
        guard now != percentage else { return }
        percentage = now
        Console.write("\r\(label) \(now) %", to: STDERR_FILENO)
    }

    /// Gives the line back to what is said next.
    mutating func clear() {
        guard percentage >= 0 else { return }
        percentage = -1
        Console.write("\r\u{1B}[K", to: STDERR_FILENO)
    }
}
