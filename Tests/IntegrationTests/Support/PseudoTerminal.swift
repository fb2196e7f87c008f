import Foundation

/// A terminal without glass: a program is started on it as its controlling terminal, and the test types and reads.
final class PseudoTerminal {
    /// Gives a program its controlling terminal; part of util-linux. Without it the tests of prompts cannot run.
    static let isAvailable = (try? Program("setsid")) != nil

    private let primary: Int32
    private let secondary: FileHandle
    private(set) var screen = ""

    init() throws {
        var ends: (primary: Int32, secondary: Int32) = (-1, -1)
        guard openpty(&ends.primary, &ends.secondary, nil, nil, nil) == 0 else {
            throw Unavailable("no pseudo-terminal: \(String(cString: strerror(errno)))")
        }
        primary = ends.primary
        secondary = FileHandle(fileDescriptor: ends.secondary, closeOnDealloc: true)
        for end in [primary, ends.secondary] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    }

    deinit { close(primary) }

    /// True when what is typed shows.
    var echoes: Bool {
        var settings = termios()
        return tcgetattr(primary, &settings) == 0 && settings.c_lflag & tcflag_t(ECHO) != 0
    }

    func start(_ program: Program) throws -> RunningProgram {
        let setsid = try Program("setsid", "--ctty", "--wait")
        return try RunningProgram(
            setsid.executable, setsid.arguments + [program.executable.path] + program.arguments, terminal: secondary)
    }

    func type(_ text: String) {
        var text = text
        let written = text.withUTF8 { write(primary, $0.baseAddress, $0.count) }
        precondition(written == text.utf8.count, "the pseudo-terminal takes short lines whole")
    }

    /// Types to an editor of lines. It shows its prompt before it stops the terminal's own echo.
    func enter(_ text: String) throws {
        try wait { !echoes }
        type(text)
    }

    func wait(_ condition: () -> Bool) throws {
        for _ in 0..<3000 where !condition() { usleep(10_000) }
        guard condition() else { throw Unavailable("the terminal stayed as it was: \(screen)") }
    }

    /// Reads the screen until `text` has appeared after what was awaited before.
    func expect(_ text: String) throws {
        while !readUpTo(text) {
            var watched = pollfd(fd: primary, events: Int16(POLLIN), revents: 0)
            guard poll(&watched, 1, 30_000) > 0 else {
                throw Unavailable("the screen never showed '\(text)': \(screen)")
            }
            drain()
        }
    }

    /// Everything shown up to now.
    func transcript() -> String {
        var watched = pollfd(fd: primary, events: Int16(POLLIN), revents: 0)
        while poll(&watched, 1, 0) > 0, watched.revents & Int16(POLLIN) != 0 { drain() }
        return screen
    }

    private var awaited = 0

    private func readUpTo(_ text: String) -> Bool {
        let rest = screen.dropFirst(awaited)
        guard let found = rest.range(of: text) else { return false }
        awaited = screen.distance(from: screen.startIndex, to: found.upperBound)
        return true
    }

    private func drain() {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(primary, &bytes, bytes.count)
        if count > 0 { screen += String(decoding: bytes[..<count], as: UTF8.self) }
    }
}
