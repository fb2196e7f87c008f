import ArgumentParser
import Foundation
import Strongroom

/// The form of progress reports on standard error.
enum ProgressForm: String, ExpressibleByArgument, CaseIterable {
    /// One line on a terminal that follows the work; nothing where there is no terminal.
    case bar
    /// An object a line, for programs.
    case json
    case none
}

struct ProgressOptions: ParsableArguments {
    @Option(help: ArgumentHelp("""
        What standard error shows of the progress: bar (on a terminal only), json (one object a line, with the members \
        event, file, phase, completedPages, totalPages and percent) or none.
        """, valueName: "form"))
    var progress = ProgressForm.bar
}

/// Follows the work on one or several files, from any thread.
///
/// Unchecked: `lock` guards every variable.
final class ProgressDisplay: @unchecked Sendable {
    private let label: String
    private let form: ProgressForm
    private let size: Int64
    /// When the phase began.
    private var started = DispatchTime.now().uptimeNanoseconds
    private var phase = EncryptionProgress.Phase.writing
    private let lock = NSLock()
    /// By file: its size, and the part of its pages that is done.
    private var parts: [String: (size: Int64, percentage: Int)] = [:]
    private var shown = ""

    /// - parameter files: what the work is on, and how much each weighs.
    init(_ label: String, files: [(path: String, size: Int64)], _ options: ProgressOptions, quiet: Bool) {
        self.label = label
        let isTerminal = isatty(STDERR_FILENO) == 1
        form = options.progress == .bar && (quiet || !isTerminal) ? .none : options.progress
        for file in files { parts[file.path] = (max(1, file.size), -1) }
        size = parts.values.reduce(0) { $0 + $1.size }
    }

    func show(_ file: String, _ done: EncryptionProgress) {
        guard form != .none, done.totalPageCount > 0 else { return }
        let percentage = min(100, done.completedPageCount * 100 / done.totalPageCount)
        lock.withLock {
            guard let part = parts[file], part.percentage != percentage || phase != done.phase else { return }
            begin(done.phase)
            parts[file] = (part.size, percentage)
            if form == .json { tell(file, done, percentage) } else { draw() }
        }
    }

    /// Each phase has a bar of its own: what is left is reckoned from it alone.
    private func begin(_ new: EncryptionProgress.Phase) {
        guard new != phase else { return }
        phase = new
        started = DispatchTime.now().uptimeNanoseconds
    }

    /// Says something to people; the bar comes back with the next step.
    func say(_ text: String) {
        lock.withLock {
            erase()
            Console.message(text)
        }
    }

    /// Gives the line back to what is said next.
    func clear() { lock.withLock { erase() } }

    private func tell(_ file: String, _ done: EncryptionProgress, _ percentage: Int) {
        Console.message(JSON.object([
            ("event", .text("progress")), ("file", .text(file)), ("phase",
                .text(done.phase.rawValue)), ("completedPages", .count(done.completedPageCount)),
            ("totalPages", .count(done.totalPageCount)), ("percent", .count(percentage)),
        ]).line)
    }

    private func draw() {
        let done = parts.values.reduce(Int64(0)) { $0 + $1.size / 100 * Int64(max(0, $1.percentage)) }
        let percentage = parts.count == 1 ? parts.values.first!.percentage : Int(min(100, done * 100 / size))
        let elapsed = Double(DispatchTime.now().uptimeNanoseconds - started) / 1e9
        let doing = phase == .checking ? "checking" : label
        let bar = ProgressBar(label: doing, percentage: percentage, elapsed: elapsed, columns: Self.columns)
        let line = bar.description
        guard line != shown else { return }
        try? Console.write("\r" + line + "\u{1B}[K", to: STDERR_FILENO)
        shown = line
    }

    private func erase() {
        guard !shown.isEmpty else { return }
        try? Console.write("\r\u{1B}[K", to: STDERR_FILENO)
        shown = ""
    }

    private static var columns: Int {
        var size = winsize()
        return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }
}

/// One line: what is done, a bar, the percentage, and how long it will take yet.
struct ProgressBar: CustomStringConvertible {
    var label: String
    var percentage: Int
    /// Seconds since the beginning.
    var elapsed: Double
    var columns: Int

    var description: String {
        let figures = " \(percentage) %" + rest
        let room = columns - 1 - label.count - figures.count - 3
        guard room >= 10 else { return String((label + figures).prefix(max(0, columns - 1))) }
        let width = min(40, room), filled = width * percentage / 100
        return "\(label) [" + String(repeating: "#", count: filled) + String(repeating: "-",
            count: width - filled) + "]" + figures
    }

    /// Nothing before there is anything to reckon with.
    private var rest: String {
        guard elapsed >= 1, (3...99).contains(percentage) else { return "" }
        return ", about \(duration(elapsed * Double(100 - percentage) / Double(percentage))) left"
    }
}
