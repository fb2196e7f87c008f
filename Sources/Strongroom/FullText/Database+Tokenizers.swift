import CSQLCipher
import Foundation

/// The full-text state of a connection.
final class FullTextState: ConnectionPart {
    init(_ database: Database) {}

    var concerns: PartConcerns { [] }

    /// FTS5's own interface, after its first use.
    fileprivate var api: UnsafeMutablePointer<fts5_api>?

    /// The error of a tokenizer of the connection, until it is thrown as the error of the statement.
    fileprivate var failure: DatabaseError?

    /// Returns the error of a tokenizer, if SQLite reported `code` because of it and without a message of its own.
    func explanation(of code: CInt, in db: Database) -> DatabaseError? {
        guard let failure else { return nil }
        self.failure = nil
        _ = TokenizerFailure.take(code)
        guard failure.extendedResultCode.primaryResultCode.rawValue == code & 0xff else { return nil }
        let message = db.raw.errorMessage
        let saysNothing =
            message == SQLite.text(for: code & 0xff)
            || message.contains("tokenizer constructor")
        return saysNothing ? failure : nil
    }
}

extension Database {
    fileprivate var fullText: FullTextState { part(FullTextState.self) }
}

extension FTS5 {
    /// FTS5's own interface, for what this library does not cover. <https://www.sqlite.org/fts5.html#extending_fts5>
    ///
    /// It is valid until the connection is closed. If SQLite was built without FTS5, this is a fatal error.
    public static func api(_ db: Database) -> UnsafePointer<fts5_api> {
        UnsafePointer(mutableAPI(db))
    }

    fileprivate static func mutableAPI(_ db: Database) -> UnsafeMutablePointer<fts5_api> {
        db.requireAccess()
        guard let connection = db.sqliteConnection else {
            fatalError("The connection is closed, and FTS5 with it: ask for its interface inside of an access.")
        }
        if let known = db.fullText.api { return known }
        let (code, api) = findAPI(of: connection)
        guard code == SQLITE_OK, let api else {
            fatalError(
                """
                FTS5 is not there: \(DatabaseError(code, on: connection)). \
                Link a SQLCipher that was built with SQLITE_ENABLE_FTS5.
                """)
        }
        db.fullText.api = api
        return api
    }

    /// SQLite hands it out through a typed pointer in a statement only. The library's own bookkeeping must not see
    /// that.
    private static func findAPI(of connection: SQLiteConnection) -> (code: CInt, api: UnsafeMutablePointer<fts5_api>?) {
        var api: UnsafeMutablePointer<fts5_api>?
        let code = withUnsafeMutablePointer(to: &api) {
            RawConnection(connection).run("SELECT fts5(?1)", withPointer: $0, ofType: "fts5_api_ptr")
        }
        return (code == SQLITE_ROW ? SQLITE_OK : code, api)
    }
}

extension Database {
    /// Adds a tokenizer. It replaces one with the same name, for tables opened from now on.
    public func add(tokenizer: (some FTS5CustomTokenizer).Type) {
        requireAccess()
        guard sqliteConnection != nil else { return }
        let api = FTS5.mutableAPI(self)
        let registration = TokenizerRegistration(self) { try tokenizer.init(db: $0, arguments: $1) }
        var calls = fts5_tokenizer(xCreate: createTokenizer, xDelete: deleteTokenizer, xTokenize: callTokenizer)
        // FTS5 releases the registration when the connection is closed.
        let context = Unmanaged.passRetained(registration)
        let code = api.pointee.xCreateTokenizer(api, tokenizer.name, context.toOpaque(), &calls, releaseRegistration)
        if code != SQLITE_OK {
            context.release()
            let error = DatabaseError(resultCode: ResultCode(rawValue: code))
            fatalError("The tokenizer \(tokenizer.name) can't be added: \(error).")
        }
    }

    /// Returns a tokenizer: one of SQLite's, or one that was added to the connection.
    ///
    /// - throws: `SQLITE_ERROR` if there is no such tokenizer, or if it refuses the arguments; the errors of its
    ///   initializer.
    public func makeTokenizer(_ descriptor: FTS5TokenizerDescriptor) throws -> any FTS5Tokenizer {
        requireAccess()
        _ = try openConnection
        let api = FTS5.mutableAPI(self)
        var calls = fts5_tokenizer()
        var context: UnsafeMutableRawPointer?
        guard api.pointee.xFindTokenizer(api, descriptor.name, &context, &calls) == SQLITE_OK else {
            throw DatabaseError(message: "no such tokenizer: \(descriptor.name)")
        }
        var tokenizer: OpaquePointer?
        let arguments = descriptor.arguments.map { strdup($0) }
        defer { arguments.forEach { free($0) } }
        var pointers = arguments.map { UnsafePointer<CChar>($0) }
        let code = calls.xCreate(context, &pointers, CInt(pointers.count), &tokenizer)
        guard code == SQLITE_OK, let tokenizer else {
            defer { fullText.failure = nil }
            throw fullText.failure
                ?? DatabaseError(
                    resultCode: ResultCode(rawValue: code),
                    message: "error in tokenizer: \(descriptor.components.joined(separator: " "))")
        }
        return ConnectionTokenizer(self, calls, tokenizer)
    }
}

/// A tokenizer that FTS5 made.
private final class ConnectionTokenizer: FTS5Tokenizer {
    private weak var database: Database?
    private let calls: fts5_tokenizer
    private let tokenizer: OpaquePointer

    init(_ database: Database, _ calls: fts5_tokenizer, _ tokenizer: OpaquePointer) {
        self.database = database
        self.calls = calls
        self.tokenizer = tokenizer
    }

    deinit {
        calls.xDelete(tokenizer)
    }

    func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?, nText: CInt,
        tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt {
        let code = calls.xTokenize(tokenizer, context, tokenization.rawValue, pText, nText, tokenCallback)
        // No statement fails, unless a tokenizer around this one hands the failure on.
        if code != SQLITE_OK { database?.fullText.failure = nil }
        return code
    }
}

/// The functions by which FTS5 creates and uses the tokenizers of a class.
private final class TokenizerRegistration {
    private(set) weak var database: Database?
    let makeTokenizer: (Database, [String]) throws -> any FTS5CustomTokenizer

    init(_ database: Database, _ makeTokenizer: @escaping (Database, [String]) throws -> any FTS5CustomTokenizer) {
        self.database = database
        self.makeTokenizer = makeTokenizer
    }
}

/// A tokenizer that FTS5 owns.
private final class InstalledTokenizer {
    let tokenizer: any FTS5CustomTokenizer
    let registration: TokenizerRegistration

    init(_ tokenizer: any FTS5CustomTokenizer, _ registration: TokenizerRegistration) {
        self.tokenizer = tokenizer
        self.registration = registration
    }
}

// MARK: - Called by FTS5

private func createTokenizer(
    _ context: UnsafeMutableRawPointer?, _ arguments: UnsafeMutablePointer<UnsafePointer<CChar>?>?, _ count: CInt,
    _ tokenizer: UnsafeMutablePointer<OpaquePointer?>?
) -> CInt {
    let registration = Unmanaged<TokenizerRegistration>.fromOpaque(context!).takeUnretainedValue()
    guard let database = registration.database else { return SQLITE_MISUSE }
    let arguments = UnsafeBufferPointer(start: arguments, count: Int(count)).map { String(cString: $0!) }
    do {
        let installed = try InstalledTokenizer(registration.makeTokenizer(database, arguments), registration)
        tokenizer?.pointee = OpaquePointer(Unmanaged.passRetained(installed).toOpaque())
        return SQLITE_OK
    } catch {
        let code = TokenizerFailure.keep(error)
        database.fullText.failure = TokenizerFailure.take(code)
        return code
    }
}

private func deleteTokenizer(_ tokenizer: OpaquePointer?) {
    guard let tokenizer else { return }
    Unmanaged<InstalledTokenizer>.fromOpaque(UnsafeRawPointer(tokenizer)).releaseLater()
}

private func callTokenizer(
    _ tokenizer: OpaquePointer?, _ context: UnsafeMutableRawPointer?, _ flags: CInt, _ pText: UnsafePointer<CChar>?,
    _ nText: CInt, _ callback: FTS5TokenCallback?
) -> CInt {
    let installed = Unmanaged<InstalledTokenizer>.fromOpaque(UnsafeRawPointer(tokenizer!)).takeUnretainedValue()
    let code = installed.tokenizer.tokenize(
        context: context, tokenization: FTS5Tokenization(rawValue: flags), pText: pText, nText: nText,
        tokenCallback: callback!)
    // SQLITE_DONE is FTS5's own word for "enough".
    if code != SQLITE_OK, code != SQLITE_DONE {
        let failure = TokenizerFailure.take(code)
        installed.registration.database?.fullText.failure = failure
        // A direct caller of the tokenizer finds the error where a wrapping tokenizer would.
        _ = TokenizerFailure.keep(failure)
    }
    return code
}

private func releaseRegistration(_ context: UnsafeMutableRawPointer?) {
    Unmanaged<TokenizerRegistration>.fromOpaque(context!).releaseLater()
}
