/// A tokenizer written in Swift.
///
/// ```swift
/// final class MyTokenizer: FTS5CustomTokenizer {
///     static let name = "mine"
///     init(db: Database, arguments: [String]) throws { … }
///     func tokenize(context: …) -> CInt { … }
/// }
///
/// dbPool.add(tokenizer: MyTokenizer.self)
/// try db.create(virtualTable: "document", using: FTS5()) { t in
///     t.tokenizer = MyTokenizer.tokenizerDescriptor()
///     t.column("body")
/// }
/// ```
///
/// Every connection that uses the table needs the tokenizer: add it in `Configuration.prepareDatabase(_:)`, or to the
/// queue or pool. ``FTS5WrapperTokenizer`` is easier where an existing tokenizer does most of the work.
///
/// Source: <https://www.sqlite.org/fts5.html#custom_tokenizers>.
public protocol FTS5CustomTokenizer: FTS5Tokenizer, SendableMetatype {
    /// The tokenizer's name in SQL.
    static var name: String { get }

    /// Creates a tokenizer for one table, or for ``Database/makeTokenizer(_:)``.
    ///
    /// A thrown error becomes the error of the statement that uses the table: a ``DatabaseError`` keeps its code and
    /// message, any other error becomes `SQLITE_ERROR` with its description.
    ///
    /// - parameters:
    ///   - db: the connection.
    ///   - arguments: those of the descriptor, or of the option `tokenize` in SQL.
    init(db: Database, arguments: [String]) throws
}

extension FTS5CustomTokenizer {
    /// Returns the descriptor of the tokenizer, for a table definition or ``Database/makeTokenizer(_:)``.
    public static func tokenizerDescriptor(arguments: [String] = []) -> FTS5TokenizerDescriptor {
        FTS5TokenizerDescriptor(components: [name] + arguments)
    }
}

/// Receives a token to be indexed or searched for.
///
/// It throws when the tokenizer must stop. Rethrow the error.
public typealias FTS5WrapperTokenCallback = (_ token: String, _ flags: FTS5TokenFlags) throws -> Void

/// A tokenizer that changes, drops or adds to the tokens of another one.
///
/// ```swift
/// func accept(
///     token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
///     tokenCallback: FTS5WrapperTokenCallback) throws
/// {
///     if !stopWords.contains(token) { try tokenCallback(token, flags) }
/// }
/// ```
public protocol FTS5WrapperTokenizer: FTS5CustomTokenizer {
    /// The tokenizer that finds the tokens. Make it once, in the initializer, with ``Database/makeTokenizer(_:)``.
    var wrappedTokenizer: any FTS5Tokenizer { get }

    /// Receives a token of the wrapped tokenizer, and passes any number of tokens to `tokenCallback`.
    ///
    /// Give synonyms the flag ``FTS5TokenFlags/colocated``, all but the first. What is thrown is the error of the
    /// statement, as with ``FTS5CustomTokenizer/init(db:arguments:)``.
    func accept(
        token: String, flags: FTS5TokenFlags, for tokenization: FTS5Tokenization,
        tokenCallback: FTS5WrapperTokenCallback) throws
}

extension FTS5WrapperTokenizer {
    /// Passes the tokens of the wrapped tokenizer to `accept`.
    public func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?, nText: CInt,
        tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt {
        var wrapping = Wrapping(
            accept: { token, flags, callback in
                try self.accept(token: token, flags: flags, for: tokenization, tokenCallback: callback)
            },
            context: context, callback: tokenCallback)
        return withUnsafeMutablePointer(to: &wrapping) {
            wrappedTokenizer.tokenize(
                context: $0, tokenization: tokenization, pText: pText, nText: nText, tokenCallback: acceptToken)
        }
    }
}

/// The context of the callback that a wrapped tokenizer calls.
private struct Wrapping {
    let accept: (String, FTS5TokenFlags, FTS5WrapperTokenCallback) throws -> Void
    let context: UnsafeMutableRawPointer?
    let callback: FTS5TokenCallback
}

private func acceptToken(
    _ context: UnsafeMutableRawPointer?, _ flags: CInt, _ pToken: UnsafePointer<CChar>?, _ nToken: CInt, _ iStart: CInt,
    _ iEnd: CInt
) -> CInt {
    let wrapping = context!.assumingMemoryBound(to: Wrapping.self).pointee
    // FTS5's result code is passed on as it is: SQLITE_DONE, for example, is no failure.
    let ok = ResultCode.SQLITE_OK.rawValue
    var answer = ok
    do {
        try wrapping.accept(String(token: pToken, count: nToken), FTS5TokenFlags(rawValue: flags)) { token, flags in
            var token = token
            answer = token.withUTF8 { bytes in
                bytes.withMemoryRebound(to: CChar.self) {
                    wrapping.callback(wrapping.context, flags.rawValue, $0.baseAddress, CInt($0.count), iStart, iEnd)
                }
            }
            if answer != ok { throw DatabaseError(resultCode: ResultCode(rawValue: answer)) }
        }
        return answer
    } catch {
        return answer != ok ? answer : TokenizerFailure.keep(error)
    }
}
