import CStrongroom
import Foundation
import Logging

extension Database {
    /// Gets SQLite's own log lines, and the statements that keep a connection from closing.
    /// <https://www.sqlite.org/errlog.html>
    public typealias LogErrorFunction = @Sendable (_ resultCode: ResultCode, _ message: String) -> Void

    /// Called, on any thread, with what SQLite logs: failures, and notices such as the recovery of a journal.
    ///
    /// Lines about statements that carry a key say so, and no more. The function must not use a database.
    ///
    /// Default: nil. Works unless another library has used SQLite before the first database of this one was opened.
    public static var logError: LogErrorFunction? {
        get { ErrorLog.function }
        set {
            ErrorLog.connect()
            ErrorLog.function = newValue
            if newValue != nil, !ErrorLog.isConnected {
                Logger(label: "Strongroom").warning(
                    "Database.logError is never called: SQLite was in use before Strongroom")
            }
        }
    }
}

/// The one log of the SQLite library in this process.
enum ErrorLog {
    private struct Receiver {
        var function: Database.LogErrorFunction?
    }

    private static let receiver = Mutex(Receiver())

    static var function: Database.LogErrorFunction? {
        get { receiver.withLock { $0.function } }
        set {
            // What the former function holds may go with it, and write to the log: not under the lock.
            let former = receiver.withLock { receiver in
                defer { receiver.function = newValue }
                return receiver.function
            }
            withExtendedLifetime(former) {}
        }
    }

    /// True if SQLite accepted the log, which it does only before it is first used.
    static let isConnected = strongroom_config_log(logLine) == ResultCode.SQLITE_OK.rawValue

    static func connect() {
        _ = isConnected
    }

    /// - parameter line: what may be shown.
    static func log(_ resultCode: ResultCode, _ line: @autoclosure () -> String) {
        if let function { function(resultCode, line()) }
    }
}

private func logLine(_ context: UnsafeMutableRawPointer?, _ code: CInt, _ message: UnsafePointer<CChar>?) {
    guard let message else { return }
    let resultCode = ResultCode(rawValue: code)
    let line = String(cString: message)
    let isSecret = SQLText.containsKey(line)
    ErrorLog.log(resultCode, isSecret ? "\(resultCode.errorString ?? "error") in a statement with a key" : line)
}
