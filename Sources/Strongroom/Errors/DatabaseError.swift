import CStrongroom
import Foundation

/// An error of SQLite, SQLCipher or Strongroom: code, message and SQL, and the reason where it is known.
///
/// Statement arguments may be secrets: `description` shows them only when the configuration sets
/// ``Configuration/publicStatementArguments``.
public struct DatabaseError: Error, Sendable {
    /// The primary code, without its extension.
    public var resultCode: ResultCode { extendedResultCode.primaryResultCode }

    /// The code as SQLite gave it, extension included.
    public let extendedResultCode: ResultCode

    /// The message of SQLite, such as `file is not a database`, or of this library where SQLite was not asked.
    ///
    /// It is for people. Programs decide on ``resultCode`` and ``reason``.
    public let message: String?

    /// The reason beyond the code; nil where nothing more is known.
    public var reason: Reason? { details?.reason ?? Reason(of: extendedResultCode) }

    /// The statement that failed, without the values of its arguments.
    public let sql: String?

    /// The arguments of the statement that failed, in the hands of who knows their type.
    let boundArguments: (any BoundArguments)?

    /// The facts beyond code and message. A reference, because errors are handed from function to function where
    /// speed counts.
    var details: Details?

    private let publicStatementArguments: Bool

    init(
        _ resultCode: ResultCode, _ message: String?, _ details: Details?,
        sql: String? = nil, boundArguments: (any BoundArguments)? = nil, publicStatementArguments: Bool = false)
    {
        extendedResultCode = resultCode
        self.message = message ?? resultCode.errorString
        self.details = details
        (self.sql, self.boundArguments) = (sql, boundArguments)
        self.publicStatementArguments = publicStatementArguments
    }

    /// A Boolean value that indicates whether an interruption, a suspension or a rollback forced by either stopped
    /// the database access.
    ///
    /// True for `SQLITE_INTERRUPT` and `SQLITE_ABORT`. The access may succeed when tried again.
    public var isInterruptionError: Bool {
        switch resultCode {
        case .SQLITE_INTERRUPT, .SQLITE_ABORT: true
        default: false
        }
    }
}

/// The arguments of a statement, as its error shows them.
///
/// A class, because errors are handed from function to function where speed counts.
protocol BoundArguments: AnyObject, Sendable, CustomStringConvertible {
    var isEmpty: Bool { get }
}

extension DatabaseError: CustomStringConvertible {
    /// Code, message and SQL, what happened and what to do about it. Arguments only where the configuration made them
    /// public.
    public var description: String {
        words(withArguments: publicStatementArguments)
    }

    /// Code, message, SQL and arguments. May contain secrets.
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
    /// The domain of the errors in Cocoa.
    public static var errorDomain: String { "Strongroom.DatabaseError" }

    /// The extended result code.
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
    /// The error of all uses of a closed connection.
    static let closed = DatabaseError(refusing: "Connection is closed", reason: .closed, isConnectionUsable: false)

    /// The error of a write where only reads are allowed.
    static let readOnly = DatabaseError(.SQLITE_READONLY, "attempt to write a readonly database", nil)

    /// The error of a statement that relies on a transaction which SQLite has rolled back.
    static let aborted = DatabaseError(.SQLITE_ABORT, refusing: "Transaction was aborted", reason: .transactionAborted)
}
