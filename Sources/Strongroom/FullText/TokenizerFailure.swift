import Foundation

/// Carries the error of a tokenizer past SQLite, which passes on a code only.
enum TokenizerFailure {
    private static let key = "Strongroom.TokenizerFailure"

    /// Keeps the error that was thrown on this thread until it is taken.
    ///
    /// - returns: the code for SQLite.
    static func keep(_ error: any Error) -> CInt {
        var failure = error as? DatabaseError ?? DatabaseError(message: "\(error)")
        // SQLite does not take these for failures.
        let codes: [ResultCode] = [.SQLITE_OK, .SQLITE_ROW, .SQLITE_DONE]
        if codes.contains(failure.resultCode) { failure = DatabaseError(message: failure.message) }
        Thread.current.threadDictionary[key] = failure
        return failure.extendedResultCode.rawValue
    }

    /// Returns the error that was thrown on this thread, if it has this code; otherwise an error with the code.
    static func take(_ code: CInt) -> DatabaseError {
        let dictionary = Thread.current.threadDictionary
        defer { dictionary.removeObject(forKey: key) }
        if let failure = dictionary[key] as? DatabaseError, failure.extendedResultCode.rawValue == code {
            return failure
        }
        return DatabaseError(resultCode: ResultCode(rawValue: code))
    }
}
