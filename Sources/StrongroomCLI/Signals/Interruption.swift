import Foundation

/// Ctrl-C, Ctrl-\ and SIGTERM during work that must clean up: switch the echo back on, remove an incomplete
/// file, or bring a rotation to a point at which exactly one key opens the file.
///
/// The first signal is recorded, and checked between two steps of the work. The second one ends the program
/// immediately.
struct Interruption: Sendable {
    /// A descriptor that becomes readable when a signal arrives.
    let descriptor: Int32

    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// Runs `body` with signals recorded instead of handled immediately. Does not nest.
    static func deferred<T>(_ body: (Interruption) throws -> T) throws -> T {
        let ends = try newPipe()
        noted = ends[1]
        let previous = signals.map { signal($0, note) }
        defer {
            for (number, handler) in zip(signals, previous) { signal(number, handler) }
            noted = -1
            for end in ends { close(end) }
        }
        return try body(Interruption(descriptor: ends[0]))
    }

    /// Runs `body` with signals recorded, unless a caller has done so already.
    static func deferred<T>(unless present: Interruption?, _ body: (Interruption) throws -> T) throws -> T {
        if let present { try body(present) } else { try deferred(body) }
    }

    static func newPipe() throws -> [Int32] {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else {
            throw Failure(errno: errno, "interruptions cannot be handled", remedy: "Close other programs")
        }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        return ends
    }

    /// Unblocks the signals that the parent may have blocked, as Swift's thread pools do for their children.
    static func unblock() {
        var set = sigset_t()
        sigemptyset(&set)
        for number in signals + [SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT] { sigaddset(&set, number) }
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
    }

    var isRequested: Bool { isReadable(descriptor) }

    /// Returns the signals that have arrived, and records the next ones again.
    func take() -> Set<Int32> {
        var taken: Set<Int32> = [], byte: UInt8 = 0
        while Foundation.read(descriptor, &byte, 1) == 1 { taken.insert(Int32(byte)) }
        for number in taken { signal(number, note) }
        return taken
    }

    func check() throws {
        if isRequested { throw Failure.interrupted }
    }

    /// Reads available bytes, and returns their number; zero at the end. A signal stops the wait for them.
    func read(_ input: Int32, into room: UnsafeMutableRawBufferPointer) throws -> Int {
        while true {
            var watched = [input, descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            _ = poll(&watched, nfds_t(watched.count), -1)
            try check()
            guard watched[0].revents != 0 else { continue }
            let count = Foundation.read(input, room.baseAddress, room.count)
            if count >= 0 { return count }
            guard errno == EINTR else {
                let what = input == STDIN_FILENO ? "standard input" : "the file"
                throw Failure(errno: errno, "\(what) cannot be read", remedy: "Check where it comes from")
            }
        }
    }

    /// Reads to the end.
    func readAll(_ input: Int32) throws -> [UInt8] {
        var all: [UInt8] = [], room = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = try room.withUnsafeMutableBytes { try read(input, into: $0) }
            if count == 0 { return all }
            all += room[..<count]
        }
    }
}

/// Ctrl-Z while the echo is off. The echo is restored before the program stops.
struct StopSignal {
    /// A descriptor that becomes readable when the program is to stop.
    let descriptor: Int32

    /// Runs `body` with Ctrl-Z recorded instead of handled immediately. Does not nest.
    static func deferred<T>(_ body: (StopSignal) throws -> T) throws -> T {
        let ends = try Interruption.newPipe()
        stopNoted = ends[1]
        let previous = signal(SIGTSTP, noteStop)
        defer {
            signal(SIGTSTP, previous)
            stopNoted = -1
            for end in ends { close(end) }
        }
        return try body(StopSignal(descriptor: ends[0]))
    }

    var isRequested: Bool { isReadable(descriptor) }

    /// Stops the program until it is continued.
    func stopProcess() {
        var byte: UInt8 = 0
        while Foundation.read(descriptor, &byte, 1) == 1 {}
        signal(SIGTSTP, SIG_DFL)
        raise(SIGTSTP)
        signal(SIGTSTP, noteStop)
    }
}

private func isReadable(_ descriptor: Int32) -> Bool {
    var watched = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&watched, 1, 0) > 0
}

nonisolated(unsafe) private var stopNoted: Int32 = -1

private func noteStop(_ number: Int32) {
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(stopNoted, &byte, 1)
    errno = before
}

extension Failure {
    static let interrupted = Failure(.interrupted, "interrupted; nothing was changed")

    /// Returns the failure of a file that an interruption left untouched.
    static func notBegun(_ file: String) -> Failure {
        Failure(.interrupted, file: file, "interrupted before its turn; nothing was changed")
    }
}

/// The record of a signal handler, which may use nothing but a plain global and system calls.
nonisolated(unsafe) private var noted: Int32 = -1

private func note(_ number: Int32) {
    let before = errno
    var byte = UInt8(truncatingIfNeeded: number)
    _ = write(noted, &byte, 1)
    signal(number, SIG_DFL)
    errno = before
}
