import ArgumentParser
import Foundation
import Strongroom

/// The form of progress reports on standard error.
enum ProgressForm: String, ExpressibleByArgument, CaseIterable {
    /// One line on a terminal; nothing without a terminal.
    case bar
    /// One JSON object a line.
    case json
    case none
}

struct ProgressOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            """
            Show progress on standard error: as a bar, on a terminal only, or as json, one object a line.
            """, valueName: "form"))
    var progress = ProgressForm.bar
}

/// A display of the progress of one or several files, for any thread.
final class ProgressDisplay: Sendable {
    private let form: ProgressForm
    private let bar: Mutex<LiveProgressBar>

    /// - parameter files: the files, and the weight of each.
    init(_ label: String, files: [(path: String, size: Int64)], _ options: ProgressOptions, quiet: Bool) {
        let isTerminal = isatty(STDERR_FILENO) == 1
        form = options.progress == .bar && (quiet || !isTerminal) ? .none : options.progress
        bar = Mutex(LiveProgressBar(label, files: files))
    }

    func show(_ file: String, _ done: EncryptionProgress) {
        guard form != .none, done.totalPageCount > 0 else { return }
        let percentage = min(100, done.completedPageCount * 100 / done.totalPageCount)
        bar.withLock { bar in
            guard bar.advance(file, to: percentage, of: done.phase) else { return }
            if form == .json { report(file, done, percentage) } else { bar.draw() }
        }
    }

    /// Shows the progress of work that has no pages.
    func show(_ file: String, done: Int, of total: Int) {
        guard form == .bar, total > 0 else { return }
        bar.withLock { if $0.advance(file, to: min(100, done * 100 / total), of: .writing) { $0.draw() } }
    }

    /// Prints a message. The bar returns with the next step.
    func say(_ text: String) {
        bar.withLock { bar in
            bar.erase()
            Console.message(text)
        }
    }

    /// Clears the line for the next message.
    func clear() { bar.withLock { $0.erase() } }

    private func report(_ file: String, _ done: EncryptionProgress, _ percentage: Int) {
        Console.message(
            JSON.object([
                ("event", .text("progress")), ("file", .text(file)),
                ("phase", .text(done.phase.rawValue)), ("completed_pages", .count(done.completedPageCount)),
                ("total_pages", .count(done.totalPageCount)), ("percent", .count(percentage)),
            ]).line)
    }
}

/// The progress of all files, and the line that shows it on the terminal.
private struct LiveProgressBar {
    private let label: String
    private let size: Int64
    /// The time at which the phase began.
    private var started = DispatchTime.now().uptimeNanoseconds
    private var phase = EncryptionProgress.Phase.writing
    /// The size of each file, and the percentage that is done.
    private var parts: [String: (size: Int64, percentage: Int)] = [:]
    private var shown = ""

    init(_ label: String, files: [(path: String, size: Int64)]) {
        self.label = label
        for file in files { parts[file.path] = (max(1, file.size), -1) }
        size = parts.values.reduce(0) { $0 + $1.size }
    }

    /// Returns true if there is something new to show. Each phase has its own bar and its own estimate.
    mutating func advance(_ file: String, to percentage: Int, of phase: EncryptionProgress.Phase) -> Bool {
        guard let part = parts[file], part.percentage != percentage || phase != self.phase else { return false }
        if phase != self.phase { (self.phase, started) = (phase, DispatchTime.now().uptimeNanoseconds) }
        parts[file] = (part.size, percentage)
        return true
    }

    mutating func draw() {
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

    mutating func erase() {
        guard !shown.isEmpty else { return }
        try? Console.write("\r\u{1B}[K", to: STDERR_FILENO)
        shown = ""
    }

    private static var columns: Int {
        var size = winsize()
        return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 ? Int(size.ws_col) : 80
    }
}

/// One line: the label, a bar, the percentage, and the estimated rest.
struct ProgressBar: CustomStringConvertible {
    var label: String
    var percentage: Int
    /// The seconds since the phase began.
    var elapsed: Double
    var columns: Int

    var description: String {
        let figures = " \(percentage) %" + rest
        let room = columns - 1 - label.count - figures.count - 3
        guard room >= 10 else { return String((label + figures).prefix(max(0, columns - 1))) }
        let width = min(40, room), filled = width * percentage / 100
        return "\(label) [" + String(repeating: "#", count: filled)
            + String(repeating: "-", count: width - filled) + "]" + figures
    }

    /// The estimated rest; empty while there is no basis for an estimate.
    private var rest: String {
        guard elapsed >= 1, (3...99).contains(percentage) else { return "" }
        return ", about \(duration(elapsed * Double(100 - percentage) / Double(percentage))) left"
    }
}
