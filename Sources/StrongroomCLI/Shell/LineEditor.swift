import CStrongroomLine
import Foundation

/// The lines that a person types on the terminal, edited by libedit, with a history of former statements.
final class LineEditor {
    private let line: OpaquePointer
    private let history: ShellHistory?

    /// Nil without memory.
    ///
    /// - parameter history: the file of the history. Nil keeps it for this session only.
    init?(_ interruption: Interruption, history: ShellHistory?) {
        guard let line = strongroom_line_open("strongroom", interruption.descriptor) else { return nil }
        self.line = line
        self.history = history
        for entry in history?.entries() ?? [] { strongroom_line_remember(line, entry) }
    }

    deinit { strongroom_line_close(line) }

    enum Outcome {
        case text(String)
        /// A signal arrived.
        case interrupted
        case end
    }

    func read(_ prompt: String) -> Outcome {
        guard let text = prompt.withCString({ strongroom_line_read(line, $0) }) else {
            return strongroom_line_was_woken(line) ? .interrupted : .end
        }
        let typed = String(cString: text)
        return .text(typed.hasSuffix("\n") ? String(typed.dropLast()) : typed)
    }

    /// Adds a statement or a line to the history, unless it contains a key.
    func remember(_ entry: String) {
        guard !ShellHistory.hasSecret(entry) else { return }
        let single = entry.split(whereSeparator: \.isNewline).joined(separator: " ")
        guard !single.isEmpty else { return }
        strongroom_line_remember(line, single)
        history?.append(single)
    }
}
