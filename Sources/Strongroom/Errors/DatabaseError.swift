import Foundation

/// An error of SQLite, SQLCipher or Strongroom, with its code, message, SQL, and reason where known.
///
/// Statement arguments may be secrets: `description` shows them only when the configuration sets
/// ``Configuration/publicStatementArguments``.
public struct DatabaseError: Error, Sendable {
    /// The primary code, without its extension.
    public var resultCode: ResultCode { extendedResultCode.primaryResultCode }

    /// The code as SQLite returned it, with its extension.
    public let extendedResultCode: ResultCode

    /// SQLite's message, such as `file is not a database`, or this library's where SQLite was not called.
    ///
    /// For people to read. Programs decide on ``resultCode`` and ``reason``.
    public let message: String?

    /// The reason beyond the code. Nil if nothing more is known.
    public var reason: Reason? { details?.reason ?? Reason(of: extendedResultCode) }

    /// The statement that failed, without the values of its arguments.
    public let sql: String?

    /// The arguments of the statement that failed. A layer above knows their type.
    let boundArguments: (any BoundArguments)?

    /// The facts beyond code and message. A reference, which keeps the error small: hot paths return it.
    var details: Details?

    private let publicStatementArguments: Bool

    init(
        _ resultCode: ResultCode, _ message: String?, _ details: Details?,
        sql: String? = nil, boundArguments: (any BoundArguments)? = nil, publicStatementArguments: Bool = false
    ) {
        extendedResultCode = resultCode
        self.message = message ?? resultCode.errorString
        self.details = details
        (self.sql, self.boundArguments) = (sql, boundArguments)
        self.publicStatementArguments = publicStatementArguments
    }

    /// A Boolean value that indicates whether an interruption or a suspension stopped the access, or a rollback that
    /// one of them caused.
    ///
    /// True for `SQLITE_INTERRUPT` and `SQLITE_ABORT`. The access may succeed if it is tried again.
    public var isInterruptionError: Bool {
        switch resultCode {
        case .SQLITE_INTERRUPT, .SQLITE_ABORT: true
        default: false
        }
    }
}

/// The arguments of a statement, as its error shows them.
///
/// A class, which keeps the error small: hot paths return it.
protocol BoundArguments: AnyObject, Sendable, CustomStringConvertible {
    var isEmpty: Bool { get }
}

extension DatabaseError: CustomStringConvertible {
    /// The code, message, SQL, cause and remedy. Includes the arguments only if the configuration makes them public.
    public var description: String {
        words(withArguments: publicStatementArguments)
    }

    /// The code, message, SQL and arguments. May contain secrets.
    public var expandedDescription: String {
        words(withArguments: true)
    }

    private func words(withArguments: Bool) -> String {
        var text = "SQLite error \(resultCode.rawValue)"
        if let message { text += ": \(message)" }
        if let sql { text += " - while executing `\(sql.trimmingSQL())`" }
        if withArguments, let boundArguments, !boundArguments.isEmpty { text += " with arguments \(boundArguments)" }
        if let explanation = details?.explanation { text += " - \(explanation)" }
        if let advice = details?.advice { text += ": \(advice)" }
        return text
    }
}

extension DatabaseError: CustomNSError {
    /// The error domain for Cocoa.
    public static var errorDomain: String { "Strongroom.DatabaseError" }

    /// The extended result code, for Cocoa.
    public var errorCode: Int { Int(extendedResultCode.rawValue) }

    /// The description, for Cocoa.
    public var errorUserInfo: [String: Any] {
        var info = [NSLocalizedDescriptionKey: description]
        info[NSLocalizedFailureReasonErrorKey] = failureReason
        info[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion
        return info
    }
}

extension DatabaseError {
    /// The error of each use of a closed connection.
    static let closed = DatabaseError(refusing: "Connection is closed", reason: .closed, isConnectionUsable: false)

    /// The error of an access to a database that is being closed.
    static let shutDown = DatabaseError(
        refusing: "The database is being shut down", advice: "Nothing was read or written. Open the database again.",
        reason: .closed, isConnectionUsable: false)

    /// The error of each access to a locked database.
    static let locked = DatabaseError(
        .SQLITE_AUTH, refusing: "The database is locked, and its key is wiped",
        advice: "unlock it with its key: unlock(with:)", reason: .locked)

    /// The error of a database whose file is no longer at its path.
    static func fileGone(_ path: String) -> DatabaseError {
        DatabaseError(
            .SQLITE_READONLY_DBMOVED, refusing: "the database file was removed, renamed or replaced: \(path)",
            advice: "close the database, and open it again", reason: .fileGone, isConnectionUsable: false)
    }

    /// The error of a write in a context that only allows reads.
    static let readOnly = DatabaseError(.SQLITE_READONLY, "attempt to write a readonly database", nil)

    /// The error of a statement that relies on a transaction that SQLite has rolled back.
    static let aborted = DatabaseError(.SQLITE_ABORT, refusing: "Transaction was aborted", reason: .transactionAborted)
}
