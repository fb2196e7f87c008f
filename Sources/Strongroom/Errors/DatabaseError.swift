import CStrongroom
import Foundation

/// What SQLite, SQLCipher or Strongroom refused to do: code, message and SQL, and the reason where it is known.
///
/// Statement arguments may be secrets: `description` shows them only when the configuration sets
/// ``Configuration/publicStatementArguments``.
public struct DatabaseError: Error, Sendable {
    /// The primary code, without its extension.
    public var resultCode: ResultCode { extendedResultCode.primaryResultCode }

    /// The code as SQLite gave it, extension included.
    public let extendedResultCode: ResultCode

    /// What SQLite says, such as `file is not a database`; in our words where SQLite was not asked.
    ///
    /// It is for people. Programs decide on ``resultCode`` and ``reason``.
    public let message: String?

    /// What happened beyond the code; nil where nothing more is known.
    public var reason: Reason? { details?.reason ?? Reason(of: extendedResultCode) }

    /// The statement that failed, without the values of its arguments.
    public let sql: String?

    /// The arguments of the statement that failed. They may be secrets: keep them out of logs.
    public let arguments: StatementArguments?

    /// What is known beyond code and message. A reference, because errors are handed from function to function where
    /// speed counts.
    var details: Details?

    private let publicStatementArguments: Bool

    /// An error with SQLite's words for `resultCode` when `message` is nil.
    public init(
        resultCode: ResultCode = .SQLITE_ERROR, message: String? = nil,
        sql: String? = nil, arguments: StatementArguments? = nil, publicStatementArguments: Bool = false)
    {
        self.init(
            resultCode, message, nil, sql: sql, arguments: arguments, publicStatementArguments: publicStatementArguments)
    }

    init(
        _ resultCode: ResultCode, _ message: String?, _ details: Details?,
        sql: String? = nil, arguments: StatementArguments? = nil, publicStatementArguments: Bool = false)
    {
        extendedResultCode = resultCode
        self.message = message ?? resultCode.errorString
        self.details = details
        (self.sql, self.arguments) = (sql, arguments)
        self.publicStatementArguments = publicStatementArguments
    }

    /// The same error, as that of a statement.
    func executing(
        _ sql: String?, arguments: StatementArguments? = nil, publicStatementArguments: Bool = false,
        hidesMessage: Bool = false) -> DatabaseError
    {
        DatabaseError(
            extendedResultCode, hidesMessage ? nil : message, details, sql: sql, arguments: arguments,
            publicStatementArguments: publicStatementArguments)
    }

    /// Whether an interruption, a suspension or a rollback forced by either stopped the database access.
    ///
    /// True for `SQLITE_INTERRUPT` and `SQLITE_ABORT`. The access may succeed when tried again.
    public var isInterruptionError: Bool {
        switch resultCode {
        case .SQLITE_INTERRUPT, .SQLITE_ABORT: true
        default: false
        }
    }
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
        if withArguments, let arguments, !arguments.isEmpty { text += " with arguments \(arguments)" }
        if let explanation = details?.explanation { text += " - \(explanation)" }
        if let advice = details?.advice { text += ": \(advice)" }
        return text
    }
}

extension DatabaseError: CustomNSError {
    public static var errorDomain: String { "Strongroom.DatabaseError" }

    public var errorCode: Int { Int(extendedResultCode.rawValue) }

    public var errorUserInfo: [String: Any] {
        var info = [NSLocalizedDescriptionKey: description]
        info[NSLocalizedFailureReasonErrorKey] = failureReason
        info[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion
        return info
    }
}

extension DatabaseError {
    /// What everybody gets from a connection that is closed.
    static let closed = DatabaseError(refusing: "Connection is closed", reason: .closed, isConnectionUsable: false)

    /// What a write gets where only reads are allowed.
    static let readOnly = DatabaseError(resultCode: .SQLITE_READONLY, message: "attempt to write a readonly database")

    /// What a statement gets that counts on a transaction which SQLite has rolled back.
    static let aborted = DatabaseError(.SQLITE_ABORT, refusing: "Transaction was aborted", reason: .transactionAborted)
}
