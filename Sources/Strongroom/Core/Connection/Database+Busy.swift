import CStrongroom
import Foundation

extension Database {
    func setUpBusyMode() throws {
        switch configuration.busyMode {
        case .immediateError:
            _ = try openConnection
            try check(strongroom_connection_busy_timeout(connection, leastBusyTimeout))
        case .timeout(let seconds):
            let milliseconds = (seconds * 1000).rounded(.up)
            _ = try openConnection
            try check(strongroom_connection_busy_timeout(connection, CInt(min(max(milliseconds, 0), Double(CInt.max)))))
        case .callback(let callback):
            busyCallback = callback
            try setBusyHandler(callBusyCallback, context: Unmanaged.passUnretained(self).toOpaque())
        }
    }
}

/// SQLite's busy handler. It runs on the thread that has access.
private func callBusyCallback(_ context: UnsafeMutableRawPointer?, _ tries: CInt) -> CInt {
    let database = Unmanaged<Database>.fromOpaque(context!).takeUnretainedValue()
    if strongroom_connection_stops_wait(database.connection, tries) { return 0 }
    // https://www.sqlite.org/c3ref/busy_handler.html: it must not use the connection.
    return database.barred(in: "the busy callback") { database.busyCallback?(Int(tries)) == true } ? 1 : 0
}
