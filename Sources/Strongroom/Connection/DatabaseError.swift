import CStrongroom
import Foundation

/// What SQLite, SQLCipher or Strongroom refused to do: code, message and SQL.
///
/// Statement arguments may be secrets: `description` shows them only when the configuration sets
/// ``Configuration/publicStatementArguments``.
public struct DatabaseError: Error, Sendable {
    /// The primary code, without its extension.
    public var resultCode: ResultCode { extendedResultCode.primaryResultCode }

    /// The code as SQLite gave it, extension included.
    public let extendedResultCode: ResultCode

    /// What happened, in SQLite's words or ours.
    public let message: String?

    /// The statement that failed, without the values of its arguments.
    public let sql: String?

    /// The arguments of the statement that failed. They may be secrets: keep them out of logs.
    public let arguments: StatementArguments?

    private let publicStatementArguments: Bool

    /// What was found out about a file that didn't open; nil where SQLite's code says all there is.
    package var openingFault: OpeningFault?

    /// An error with SQLite's words for `resultCode` when `message` is nil.
    public init(
        resultCode: ResultCode = .SQLITE_ERROR, message: String? = nil,
        sql: String? = nil, arguments: StatementArguments? = nil, publicStatementArguments: Bool = false)
    {
        extendedResultCode = resultCode
        self.message = message ?? resultCode.errorString
        (self.sql, self.arguments) = (sql, arguments)
        self.publicStatementArguments = publicStatementArguments
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
    /// Code, message and SQL; arguments only where the configuration made them public.
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
        return text
    }
}

extension DatabaseError: CustomNSError {
    public static var errorDomain: String { "Strongroom.DatabaseError" }

    public var errorCode: Int { Int(extendedResultCode.rawValue) }

    public var errorUserInfo: [String: Any] {
        var info = [NSLocalizedDescriptionKey: description]
        info[NSLocalizedFailureReasonErrorKey] = message
        return info
    }
}

extension DatabaseError {
    /// What a write gets where only reads are allowed.
    static let readOnly = DatabaseError(resultCode: .SQLITE_READONLY, message: "attempt to write a readonly database")

    /// What a statement gets that counts on a transaction which SQLite has rolled back.
    static let aborted = DatabaseError(resultCode: .SQLITE_ABORT, message: "Transaction was aborted")
}
