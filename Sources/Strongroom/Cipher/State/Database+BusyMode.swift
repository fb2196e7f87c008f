extension Database {
    /// Runs `body` without waiting for locks: a lock of another connection is an error immediately.
    func withoutWaiting<T>(_ body: () throws -> T) throws -> T {
        // A timeout that `PRAGMA busy_timeout` has set overrides the configuration's.
        let timeout = try answer(to: "PRAGMA busy_timeout") ?? "0"
        try busy.remove(from: self)
        let result = Result { try body() }
        if timeout == "0" { try busy.install(on: self) } else { try runCipherPragma("busy_timeout = \(timeout)") }
        return try result.get()
    }
}
