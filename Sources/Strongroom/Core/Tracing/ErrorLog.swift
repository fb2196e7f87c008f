import Foundation
import Logging

extension Database {
    /// A function for SQLite's log, and for the statements that prevent a connection from closing.
    /// <https://www.sqlite.org/errlog.html>
    public typealias LogErrorFunction = @Sendable (_ resultCode: ResultCode, _ message: String) -> Void

    /// The function that is called, on any thread, with the lines of SQLite's log: failures, and notices such as the
    /// recovery of a journal.
    ///
    /// A line about a statement with a key does not contain the SQL. The function must not use a database.
    ///
    /// Default: nil. It is not called if another library has used SQLite before the first database of this one was
    /// opened.
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
            // Releasing the former function may write to the log: not under the lock.
            let former = receiver.withLock { receiver in
                defer { receiver.function = newValue }
                return receiver.function
            }
            withExtendedLifetime(former) {}
        }
    }

    /// True if SQLite accepted the log. It does so only before its first use.
    static let isConnected = SQLiteLog.connect(logLine) == ResultCode.SQLITE_OK.rawValue

    static func connect() {
        _ = isConnected
    }

    /// Logs a line.
    ///
    /// - parameter line: the line, without secrets.
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
