/// A result code of SQLite, primary (`SQLITE_CONSTRAINT`) or extended (`SQLITE_CONSTRAINT_UNIQUE`).
///
/// Source: <https://www.sqlite.org/rescode.html>.
public struct ResultCode: RawRepresentable, Equatable, Sendable {
    /// The number of the code. <https://www.sqlite.org/rescode.html>
    public let rawValue: CInt

    /// Creates a code, which may be unknown to SQLite.
    public init(rawValue: CInt) {
        self.rawValue = rawValue
    }

    /// The code without its extension: `SQLITE_CONSTRAINT` for `SQLITE_CONSTRAINT_UNIQUE`.
    public var primaryResultCode: ResultCode {
        ResultCode(rawValue: rawValue & 0xFF)
    }

    var isPrimary: Bool { self == primaryResultCode }

    /// Returns true if `code` is `pattern`, or if `pattern` is the primary code that `code` extends.
    public static func ~= (pattern: ResultCode, code: ResultCode) -> Bool {
        pattern.isPrimary ? pattern == code.primaryResultCode : pattern == code
    }

    /// Matches a code and an error, so that `catch ResultCode.SQLITE_BUSY` catches a ``DatabaseError``.
    public static func ~= (pattern: ResultCode, error: any Error) -> Bool {
        guard let error = error as? DatabaseError else { return false }
        return pattern ~= error.extendedResultCode
    }
}

extension ResultCode: CustomStringConvertible {
    /// The number of the code and SQLite's text for it.
    public var description: String {
        "\(rawValue) (\(errorString ?? "unknown result code"))"
    }
}

extension ResultCode {
    /// SQLite's text for the code. <https://www.sqlite.org/c3ref/errcode.html>
    var errorString: String? {
        SQLite.text(for: rawValue)
    }
}
