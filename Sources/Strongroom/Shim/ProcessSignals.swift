import CStrongroom

/// Signals for a queue: `strongroom_signals.h`.
enum ProcessSignals {
    /// Handles `SIGTSTP`, `SIGCONT` and `SIGTERM` until the end. Returns the end of the pipe to read from, or -1 if
    /// they are handled already or there is no pipe.
    static func begin() -> CInt { strongroom_signals_begin() }

    /// Restores the former handlers.
    static func end() { strongroom_signals_end() }

    /// Returns the next signal. Nil if there is none.
    static func next() -> CInt? {
        let signal = strongroom_signals_next()
        return signal == 0 ? nil : signal
    }

    /// True if a `SIGCONT` came after the most recent `SIGTSTP`.
    static var isContinued: Bool { strongroom_signals_continued() }

    /// Stops the process, unless a `SIGCONT` came after the most recent `SIGTSTP`. Returns false if it did not because
    /// of a lock, which is asked for immediately before.
    static func stop(unless holdsLock: @convention(c) () -> Bool) -> Bool { strongroom_signals_stop(holdsLock) }
}
