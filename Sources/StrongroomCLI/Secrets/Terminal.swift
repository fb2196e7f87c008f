import Foundation

/// The controlling terminal of the process, whatever its standard input and output.
struct Terminal: ~Copyable {
    private static let otherSource = "Use --passphrase-file"

    private let descriptor: Int32

    /// Opens the terminal. Nil if there is none, as under cron.
    init?() {
        descriptor = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Prints `prompt` and reads one line without echo. After Ctrl-Z the prompt is printed again when
    /// the program continues.
    func readSecret(_ prompt: String) throws -> GivenSecret {
        try Interruption.deferred { interruption in
            try StopSignal.deferred { stop in
                while true {
                    if let secret = try readSecretOnce(prompt, interruption, stop) { return secret }
                    // The settings of the terminal are restored before the program stops.
                    stop.stopProcess()
                }
            }
        }
    }

    /// Reads one line without echo. Nil when the program is to stop.
    private func readSecretOnce(_ prompt: String, _ interruption: Interruption, _ stop: StopSignal) throws
        -> GivenSecret?
    {
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else {
            throw Failure(errno: errno, "the terminal's settings cannot be read", remedy: Self.otherSource)
        }
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        // Input before the prompt is discarded; it was echoed.
        guard tcsetattr(descriptor, TCSAFLUSH, &silent) == 0 else {
            throw Failure(errno: errno, "the terminal's echo cannot be turned off", remedy: Self.otherSource)
        }
        defer {
            _ = tcsetattr(descriptor, TCSAFLUSH, &settings)
            // The newline was not echoed, either.
            try? Console.write("\n", to: descriptor)
        }
        try Console.write(prompt, to: descriptor)
        return try readLine(interruption, stop)
    }

    /// Asks a question. Returns true if the answer is the word "yes".
    func confirms(_ question: String) throws -> Bool {
        try Interruption.deferred { interruption in
            _ = tcflush(descriptor, TCIFLUSH)
            try Console.write(question + " Type yes: ", to: descriptor)
            let answer = try readLine(interruption, nil)!
            answer.dropTrailingNewline()
            return answer.bytes.elementsEqual("yes".utf8)
        }
    }

    /// Reads one line. Nil when the program is to stop.
    private func readLine(_ interruption: Interruption, _ stop: StopSignal?) throws -> GivenSecret? {
        let line = GivenSecret()
        while true {
            var watched = [
                pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: interruption.descriptor, events: Int16(POLLIN), revents: 0),
                pollfd(fd: stop?.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
            ]
            if poll(&watched, 3, -1) < 0, errno != EINTR {
                throw Failure(errno: errno, "the terminal cannot be read", remedy: Self.otherSource)
            }
            try interruption.check()
            if let stop, stop.isRequested { return nil }
            guard watched[0].revents != 0 else { continue }
            // The terminal delivers whole lines; the end of input ends a line, too.
            if try line.append(from: descriptor, named: "/dev/tty") == 0 || line.endsInNewline { return line }
        }
    }
}
