import CSQLCipher
import Foundation

extension Database {
    func setUpBusyMode() throws {
        switch configuration.busyMode {
        case .immediateError:
            try check(sqlite3_busy_timeout(openConnection, 0))
        case .timeout(let seconds):
            let milliseconds = (seconds * 1000).rounded(.up)
            try check(sqlite3_busy_timeout(openConnection, CInt(min(max(milliseconds, 0), Double(CInt.max)))))
        case .callback(let callback):
            busyCallback = callback
            try check(sqlite3_busy_handler(openConnection, callBusyCallback, Unmanaged.passUnretained(self).toOpaque()))
        }
    }
}

/// Runs on the thread that has access, while SQLite waits.
private func callBusyCallback(_ context: UnsafeMutableRawPointer?, _ tries: CInt) -> CInt {
    let database = Unmanaged<Database>.fromOpaque(context!).takeUnretainedValue()
    return database.busyCallback?(Int(tries)) == true ? 1 : 0
}
