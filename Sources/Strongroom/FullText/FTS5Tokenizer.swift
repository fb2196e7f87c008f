import CSQLCipher

/// Receives one token: the context that goes with the callback, the token's flags, its bytes and their count, and where
/// the text begins and ends that it stands for. Anything but `SQLITE_OK` stops the tokenizer, which returns that code.
public typealias FTS5TokenCallback =
    @convention(c) (
        _ context: UnsafeMutableRawPointer?, _ flags: CInt, _ pToken: UnsafePointer<CChar>?, _ nToken: CInt,
        _ iStart: CInt,
        _ iEnd: CInt
    ) -> CInt

/// A tokenizer, which splits text into tokens.
///
/// See ``Database/makeTokenizer(_:)`` for those that a connection knows, and ``FTS5CustomTokenizer`` for your own.
///
/// Source: <https://www.sqlite.org/fts5.html#custom_tokenizers>.
public protocol FTS5Tokenizer: AnyObject {
    /// Passes the tokens of a text to `tokenCallback`, one after the other.
    ///
    /// - parameters:
    ///   - context: passed on to `tokenCallback`.
    ///   - tokenization: the purpose of the tokenization.
    ///   - pText: the text in UTF-8, which no NUL byte ends.
    ///   - nText: the number of its bytes.
    ///   - tokenCallback: called with each token.
    /// - returns: `SQLITE_OK`, another code that `tokenCallback` returned, or the code of a failure.
    func tokenize(
        context: UnsafeMutableRawPointer?, tokenization: FTS5Tokenization, pText: UnsafePointer<CChar>?, nText: CInt,
        tokenCallback: @escaping FTS5TokenCallback
    ) -> CInt
}

/// The purpose of a tokenization.
public struct FTS5Tokenization: OptionSet, Sendable {
    /// The flags as an integer.
    public let rawValue: CInt

    /// Creates a set of flags from an integer.
    public init(rawValue: CInt) {
        self.rawValue = rawValue
    }

    /// A pattern.
    public static let query = FTS5Tokenization(rawValue: FTS5_TOKENIZE_QUERY)

    /// With ``query``: the last token is a prefix.
    public static let prefix = FTS5Tokenization(rawValue: FTS5_TOKENIZE_PREFIX)

    /// A text is added to the index or removed from it.
    public static let document = FTS5Tokenization(rawValue: FTS5_TOKENIZE_DOCUMENT)

    /// An auxiliary function such as `highlight`.
    public static let aux = FTS5Tokenization(rawValue: FTS5_TOKENIZE_AUX)
}

/// Properties of a token.
public struct FTS5TokenFlags: OptionSet, Sendable {
    /// The flags as an integer.
    public let rawValue: CInt

    /// Creates a set of flags from an integer.
    public init(rawValue: CInt) {
        self.rawValue = rawValue
    }

    /// The token has the position of the token before it: it is a synonym.
    public static let colocated = FTS5TokenFlags(rawValue: FTS5_TOKEN_COLOCATED)
}

extension FTS5Tokenizer {
    /// Returns the tokens of a text, as documents are indexed by them.
    ///
    /// - throws: the errors of the tokenizer, or the ``DatabaseError`` of the code that it returns.
    public func tokenize(document string: String) throws -> [(token: String, flags: FTS5TokenFlags)] {
        try tokens(of: string, for: .document)
    }

    /// Returns the tokens of a text, as queries search for them.
    ///
    /// - throws: the errors of the tokenizer, or the ``DatabaseError`` of the code that it returns.
    public func tokenize(query string: String) throws -> [(token: String, flags: FTS5TokenFlags)] {
        try tokens(of: string, for: .query)
    }

    private func tokens(
        of string: String, for tokenization: FTS5Tokenization
    ) throws -> [(token: String, flags: FTS5TokenFlags)] {
        var text = string
        var tokens: [(token: String, flags: FTS5TokenFlags)] = []
        let code = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                withUnsafeMutablePointer(to: &tokens) {
                    tokenize(
                        context: $0, tokenization: tokenization, pText: characters.baseAddress,
                        nText: CInt(characters.count),
                        tokenCallback: collectToken)
                }
            }
        }
        if code != SQLITE_OK { throw TokenizerFailure.take(code) }
        return tokens
    }
}

private func collectToken(
    _ context: UnsafeMutableRawPointer?, _ flags: CInt, _ pToken: UnsafePointer<CChar>?, _ nToken: CInt, _ iStart: CInt,
    _ iEnd: CInt
) -> CInt {
    let tokens = context!.assumingMemoryBound(to: [(token: String, flags: FTS5TokenFlags)].self)
    tokens.pointee.append((token: String(token: pToken, count: nToken), flags: FTS5TokenFlags(rawValue: flags)))
    return SQLITE_OK
}

extension String {
    /// Creates the text of a token.
    init(token: UnsafePointer<CChar>?, count: CInt) {
        self.init(decoding: UnsafeRawBufferPointer(start: token, count: Int(count)), as: UTF8.self)
    }
}
