import CSQLCipher
import CStrongroom
import Foundation

extension Database {
    /// The reaction of a connection to a lock that another one holds.
    public enum BusyMode: Sendable {
        /// Throws `SQLITE_BUSY` at once. In a pool, the writer waits for a tenth of a second, for locks of its own
        /// readers.
        case immediateError

        /// Throws `SQLITE_BUSY` after a number of seconds. <https://www.sqlite.org/c3ref/busy_timeout.html>
        case timeout(TimeInterval)

        /// Tries again for as long as the function, which gets the number of tries, returns true.
        /// Sets or removes the busy handler. <https://www.sqlite.org/c3ref/busy_handler.html>
        case callback(BusyCallback)
    }

    /// A function that returns true to try again after a number of tries.
    public typealias BusyCallback = @Sendable (_ numberOfTries: Int) -> Bool
}

/// The wait of one connection for the locks of others.
final class BusyHandler {
    /// The milliseconds to wait where the configuration asks for an error at once.
    var minimumTimeout: CInt = 0

    /// The busy function, which is held for as long as SQLite may call it.
    fileprivate var callback: Database.BusyCallback?

    /// Waits as the configuration says.
    func install(on database: Database) throws {
        let connection = try database.openConnection
        switch database.configuration.busyMode {
        case .immediateError:
            try database.check(strongroom_connection_busy_timeout(database.connection, minimumTimeout))
        case .timeout(let seconds):
            let milliseconds = CInt(min(max((seconds * 1000).rounded(.up), 0), Double(CInt.max)))
            try database.check(strongroom_connection_busy_timeout(database.connection, milliseconds))
        case .callback(let callback):
            self.callback = callback
            let context = Unmanaged.passUnretained(database).toOpaque()
            try database.check(sqlite3_busy_handler(connection, callBusyCallback, context))
        }
    }

    /// Makes each lock of another connection an error at once.
    func remove(from database: Database) throws {
        try database.check(sqlite3_busy_handler(database.openConnection, nil, nil))
    }
}

/// SQLite's busy handler. It runs on the thread that has access.
private func callBusyCallback(_ context: UnsafeMutableRawPointer?, _ tries: CInt) -> CInt {
    let database = Unmanaged<Database>.fromOpaque(context!).takeUnretainedValue()
    if strongroom_connection_stops_wait(database.connection, tries) { return 0 }
    // https://www.sqlite.org/c3ref/busy_handler.html: it must not use the connection.
    return database.barred(in: "the busy callback") { database.busy.callback?(Int(tries)) == true } ? 1 : 0
}
