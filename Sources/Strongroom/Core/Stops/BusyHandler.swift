import Foundation

extension Database {
    /// The reaction of a connection to a lock that another one holds.
    public enum BusyMode: Sendable {
        /// Throws `SQLITE_BUSY` immediately. In a pool, the writer waits for a tenth of a second, for locks of its own
        /// readers.
        case immediateError

        /// Throws `SQLITE_BUSY` after a number of seconds. <https://www.sqlite.org/c3ref/busy_timeout.html>
        case timeout(TimeInterval)

        /// Tries again for as long as the function, which gets the number of tries, returns true.
        /// <https://www.sqlite.org/c3ref/busy_handler.html>
        case callback(BusyCallback)
    }

    /// A function that returns true to try again after a number of tries.
    public typealias BusyCallback = @Sendable (_ numberOfTries: Int) -> Bool
}

/// The wait of one connection for the locks of others.
final class BusyHandler {
    /// The milliseconds to wait where the configuration asks for an error immediately.
    var minimumTimeout: CInt = 0

    /// The busy function, which is held for as long as SQLite may call it.
    fileprivate var callback: Database.BusyCallback?

    /// Waits as the configuration says.
    func install(on database: Database) throws {
        let connection = try database.openConnection
        switch database.configuration.busyMode {
        case .immediateError:
            try database.check(database.connection.setBusyTimeout(milliseconds: minimumTimeout))
        case .timeout(let seconds):
            // A number that is none is no time.
            let milliseconds = seconds.isNaN ? 0 : CInt(min(max((seconds * 1000).rounded(.up), 0), Double(CInt.max)))
            try database.check(database.connection.setBusyTimeout(milliseconds: milliseconds))
        case .callback(let callback):
            self.callback = callback
            let context = Unmanaged.passUnretained(database).toOpaque()
            try database.check(RawConnection(connection).setBusyHandler(callBusyCallback, context))
        }
    }

    /// Returns true if the configuration waits longer for a lock, after a number of tries since `start`.
    fileprivate func waitsLonger(_ database: Database, tries: Int, since start: DispatchTime) -> Bool {
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - start.uptimeNanoseconds) / 1e9
        switch database.configuration.busyMode {
        case .immediateError: return seconds * 1000 < Double(minimumTimeout)
        case .timeout(let limit): return seconds < limit
        case .callback(let callback): return database.barred(in: "the busy callback") { callback(tries) }
        }
    }

    /// Makes each lock of another connection an error immediately.
    func remove(from database: Database) throws {
        try database.check(RawConnection(database.openConnection).setBusyHandler(nil, nil))
    }
}

/// SQLite's busy handler. It runs on the thread that has access.
private func callBusyCallback(_ context: UnsafeMutableRawPointer?, _ tries: CInt) -> CInt {
    let database = Unmanaged<Database>.fromOpaque(context!).takeUnretainedValue()
    if database.connection.stopsWait(tries: tries) { return 0 }
    // https://www.sqlite.org/c3ref/busy_handler.html: it must not use the connection.
    return database.barred(in: "the busy callback") { database.busy.callback?(Int(tries)) == true } ? 1 : 0
}

extension Database {
    /// Repeats `body` while it meets a lock of another connection, for as long as the configuration waits. SQLite does
    /// not wait itself where a connection that reads begins to write: two of them would wait for each other.
    func repeatingWhileBusy<T>(_ body: () throws -> T) throws -> T {
        let start = DispatchTime.now()
        var tries = 0
        while true {
            do {
                return try body()
            } catch let error as DatabaseError where error.resultCode == .SQLITE_BUSY {
                guard busy.waitsLonger(self, tries: tries, since: start) else { throw error }
                try stops.check()
                usleep(UInt32(min(1 << min(tries, 6), 50)) * 1000)
                tries += 1
            }
        }
    }
}
